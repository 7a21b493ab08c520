package cuda

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/interrupt"
)

// system is a driver in use and its devices.
type system struct {
	drv      driver.Driver // without a decorator: for waits that no program asked for
	devices  []*Device
	current  atomic.Int32
	info     BackendInfo
	math     primitives
	combine  combiners
	modules  modules
	captures captures
}

// registered is a back end that may be opened.
type registered struct {
	name string
	open func() (driver.Driver, error)
}

var (
	setup    sync.Mutex
	backends []registered
	active   atomic.Pointer[system]
)

// Register makes a back end known under a name for GOCUDA_BACKEND. "auto" tries
// them in the order in which they were registered. open is called at first use
// of a device; its error says why the back end cannot be used.
func Register(name string, open func() (driver.Driver, error)) {
	setup.Lock()
	defer setup.Unlock()
	backends = append(backends, registered{name, open})
}

// Registered reports whether any back end was registered: whether the program
// could use devices, if there are some.
func Registered() bool {
	setup.Lock()
	defer setup.Unlock()
	return len(backends) > 0 || active.Load() != nil
}

// Use makes d the driver of this process from now on. Objects made before keep
// the driver that made them.
func Use(d driver.Driver) error {
	setup.Lock()
	defer setup.Unlock()
	s, err := newSystem(d)
	if err == nil {
		active.Store(s)
	}
	return err
}

// UseUntil is [Use] until restore is called, which gives the process the devices
// back that it had, with all that was made on them.
func UseUntil(d driver.Driver) (restore func(), err error) {
	before, err := open()
	if err != nil {
		return nil, err
	}
	if err := Use(d); err != nil {
		return nil, err
	}
	return func() { active.Store(before) }, nil
}

// BackendInfo says which back end is in use, and why the others are not.
type BackendInfo struct {
	Name    string // "nvidia" or "sim"; "" if none could be opened
	Version string // of CUDA, as the driver reports it: "13.0"
	Devices int
	Skipped []Skipped
}

// Skipped is a back end that was tried and not taken.
type Skipped struct{ Name, Reason string }

func (b BackendInfo) String() string {
	s := fmt.Sprintf("%s, CUDA %s, %d devices", b.Name, b.Version, b.Devices)
	if b.Name == "" {
		s = "no back end"
	}
	for _, k := range b.Skipped {
		s += fmt.Sprintf("\nnot %s: %s", k.Name, k.Reason)
	}
	return s
}

// Backend reports the back end in use, opening it if need be. Where none can be
// opened, the error says so, and the info holds the reasons.
func Backend() (BackendInfo, error) {
	s, err := open()
	if err != nil {
		var none *noBackend
		if errors.As(err, &none) {
			return BackendInfo{Skipped: none.skipped}, err
		}
		return BackendInfo{}, err
	}
	return s.info, nil
}

type noBackend struct {
	want    string
	skipped []Skipped
}

func (e *noBackend) Error() string {
	if len(e.skipped) == 0 {
		return fmt.Sprintf("GOCUDA_BACKEND=%s: no such back end is registered (import gocuda/cudaapi/backend)", e.want)
	}
	var reasons []string
	for _, s := range e.skipped {
		reasons = append(reasons, s.Name+": "+s.Reason)
	}
	return "no CUDA device can be used: " + strings.Join(reasons, "; ")
}

// open gives the system in use, choosing the back end at the first call.
func open() (*system, error) {
	if s := active.Load(); s != nil {
		return s, nil
	}
	setup.Lock()
	defer setup.Unlock()
	if s := active.Load(); s != nil {
		return s, nil
	}
	want := os.Getenv("GOCUDA_BACKEND")
	if want == "" {
		want = "auto"
	}
	none := &noBackend{want: want}
	for _, b := range backends {
		if want != "auto" && want != b.name {
			continue
		}
		d, err := b.open()
		var s *system
		if err == nil {
			s, err = newSystem(d)
		}
		if err == nil && len(s.devices) == 0 {
			err = errors.New("it has no devices")
		}
		if err != nil {
			none.skipped = append(none.skipped, Skipped{b.name, err.Error()})
			continue
		}
		s.info.Skipped = none.skipped
		active.Store(s)
		return s, nil
	}
	return nil, none
}

func newSystem(d driver.Driver) (*system, error) {
	n, err := d.DeviceCount()
	if err != nil {
		return nil, err
	}
	v, err := d.Version()
	if err != nil {
		return nil, err
	}
	s := &system{drv: d, info: BackendInfo{Name: d.Name(), Version: fmt.Sprintf("%d.%d", v/1000, v%1000/10), Devices: n}}
	s.captures.gate = make(chan struct{}, 1)
	for i := range n {
		s.devices = append(s.devices, &Device{sys: s, id: driver.Device(i)})
	}
	s.decorate()
	return s, nil
}

// Decorator puts a driver around another, to record or to change what it is
// given. The contexts are those in use already.
type Decorator func(d driver.Driver, inUse map[driver.Context]driver.Device) driver.Driver

var decorator Decorator // guarded by setup

// Decorate has all devices use a decorator around their driver from now on, also
// those of a back end that is opened later; nil takes it away. It waits for all
// work that is queued, or until what SetInterrupt was given stops it.
func Decorate(f Decorator) error {
	if err := Synchronize(); err != nil {
		return err
	}
	setup.Lock()
	defer setup.Unlock()
	decorator = f
	if s := active.Load(); s != nil {
		s.decorate()
		s.preload() // now nothing is queued
	}
	return nil
}

// Underlying is the driver in use without a decorator; nil if none was opened yet.
func Underlying() driver.Driver {
	if s := active.Load(); s != nil {
		return s.drv
	}
	return nil
}

// decorate has the devices use the decorator. setup is locked.
func (s *system) decorate() {
	d := s.drv
	if decorator != nil {
		inUse := map[driver.Context]driver.Device{}
		for _, dev := range s.devices {
			if c := dev.ctx.Load(); c != 0 {
				inUse[driver.Context(c)] = dev.id
			}
		}
		d = decorator(d, inUse)
	}
	for _, dev := range s.devices {
		dev.via.Store(&d)
	}
}

// SetInterrupt makes every wait for a device, from now on, end with
// [driver.ErrInterrupted] when stop closes, and package mpi's waits as well. What
// was waited for goes on. A nil channel lets waits run to their end.
func SetInterrupt(stop <-chan struct{}) { interrupt.Set(stop) }

// SetInterrupts has f tell, for each wait, the channel whose end ends those of the
// calling goroutine; nil: SetInterrupt's. It is for evaluators.
func SetInterrupts(f func() <-chan struct{}) { interrupt.Lookup(f) }

// stop is the channel that interrupts waits.
func stop() <-chan struct{} { return interrupt.Channel() }
