// Package ipctest lets one process play several in a test: a driver by which a
// process opens its own memory and events, and ranks that are goroutines.
package ipctest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// Loopback opens what CUDA opens in other processes only, in the process that made
// the handle: as the memory or the event itself.
type Loopback struct {
	driver.Driver

	mu      sync.Mutex
	memory  map[driver.IPCMemHandle]driver.Ptr
	events  map[driver.IPCEventHandle]driver.Event
	open    map[driver.Ptr]int
	opened  map[driver.Event]int
	refused error
	alone   bool
	owners  map[driver.Context]driver.Device
	fails   map[driver.Device]error
}

// New is a driver of simulated devices, which package cuda uses until the test ends.
// Each device can reach the others' memory.
func New(t testing.TB, o sim.Options) (*Loopback, []*cuda.Device) {
	t.Helper()
	d, err := sim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return Over(t, d)
}

// Over is such a driver of other devices.
func Over(t testing.TB, d driver.Driver) (*Loopback, []*cuda.Device) {
	t.Helper()
	l := &Loopback{Driver: d, memory: map[driver.IPCMemHandle]driver.Ptr{}, events: map[driver.IPCEventHandle]driver.Event{},
		open: map[driver.Ptr]int{}, opened: map[driver.Event]int{}, owners: map[driver.Context]driver.Device{}, fails: map[driver.Device]error{}}
	if err := cuda.Use(l); err != nil {
		t.Fatal(err)
	}
	devices, err := cuda.Devices()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range devices {
		for _, peer := range devices {
			if d != peer {
				err = errors.Join(err, d.EnablePeerAccess(peer))
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return l, devices
}

// Refuse makes memory that cannot be opened from now on; with nil it can be.
func (l *Loopback) Refuse(why error) {
	l.mu.Lock()
	l.refused = why
	l.mu.Unlock()
}

// Alone has no memory opened from now on while other memory is open, as CUDA does at times
// where the one lies in the place of the other.
func (l *Loopback) Alone() {
	l.mu.Lock()
	l.alone = true
	l.mu.Unlock()
}

// FailLaunches makes each launch of a kernel on a device fail from now on; with nil
// none does.
func (l *Loopback) FailLaunches(d *cuda.Device, why error) {
	l.mu.Lock()
	l.fails[driver.Device(d.Ordinal())] = why
	l.mu.Unlock()
}

// PrimaryRetain remembers whose context it gives.
func (l *Loopback) PrimaryRetain(d driver.Device) (driver.Context, error) {
	c, err := l.Driver.PrimaryRetain(d)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owners[c] = d
	return c, err
}

// Launch fails if it is to.
func (l *Loopback) Launch(c driver.Context, x *driver.Launch) error {
	l.mu.Lock()
	why := l.fails[l.owners[c]]
	l.mu.Unlock()
	if why != nil {
		return &driver.Error{Code: driver.ErrLaunchFailed, Call: "cuLaunchKernel", Detail: why.Error()}
	}
	return l.Driver.Launch(c, x)
}

// Open is how many allocations and events are open.
func (l *Loopback) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open) + len(l.opened)
}

// IPCGetMemHandle remembers whose handle it gives.
func (l *Loopback) IPCGetMemHandle(c driver.Context, p driver.Ptr) (driver.IPCMemHandle, error) {
	h, err := l.Driver.IPCGetMemHandle(c, p)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.memory[h] = p
	return h, err
}

// IPCOpenMemHandle gives the memory itself.
func (l *Loopback) IPCOpenMemHandle(_ driver.Context, h driver.IPCMemHandle) (driver.Ptr, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, ok := l.memory[h]
	if l.refused != nil || !ok {
		return 0, &driver.Error{Code: driver.ErrInvalidContext, Call: "cuIpcOpenMemHandle", Detail: fmt.Sprint(l.refused)}
	}
	if l.alone && len(l.open) > 0 {
		return 0, &driver.Error{Code: driver.ErrAlreadyMapped, Call: "cuIpcOpenMemHandle"}
	}
	l.open[p]++
	return p, nil
}

// IPCCloseMemHandle leaves it to its owner. It waits for the device, as CUDA does.
func (l *Loopback) IPCCloseMemHandle(c driver.Context, p driver.Ptr) error {
	if err := l.Driver.CtxSynchronize(c, nil); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[p]--; l.open[p] == 0 {
		delete(l.open, p)
	}
	return nil
}

// IPCGetEventHandle remembers whose handle it gives.
func (l *Loopback) IPCGetEventHandle(c driver.Context, e driver.Event) (driver.IPCEventHandle, error) {
	h, err := l.Driver.IPCGetEventHandle(c, e)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events[h] = e
	return h, err
}

// IPCOpenEventHandle gives the event itself.
func (l *Loopback) IPCOpenEventHandle(_ driver.Context, h driver.IPCEventHandle) (driver.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.events[h]
	if !ok {
		return 0, &driver.Error{Code: driver.ErrInvalidHandle, Call: "cuIpcOpenEventHandle"}
	}
	l.opened[e]++
	return e, nil
}

// EventDestroy closes the event first where it was opened.
func (l *Loopback) EventDestroy(c driver.Context, e driver.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened[e] > 0 {
		if l.opened[e]--; l.opened[e] == 0 {
			delete(l.opened, e)
		}
		return nil
	}
	return l.Driver.EventDestroy(c, e)
}

// Ranks are goroutines of a test that talk by [handshake.Ranks].
type Ranks struct {
	rank  int
	boxes *boxes
	lost  chan struct{}
}

// boxes are where messages wait.
type boxes struct {
	mu   sync.Mutex
	size int
	all  map[box]chan []byte
}

type box struct{ to, from, tag int }

func (b *boxes) of(x box) chan []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all[x] == nil {
		b.all[x] = make(chan []byte, 1000)
	}
	return b.all[x]
}

// NewRanks makes n of them.
func NewRanks(n int) []*Ranks {
	boxes, lost := &boxes{size: n, all: map[box]chan []byte{}}, make(chan struct{})
	all := make([]*Ranks, n)
	for i := range all {
		all[i] = &Ranks{i, boxes, lost}
	}
	return all
}

// ErrLost is what calls end with when a rank is lost.
var ErrLost = errors.New("a rank is lost")

// Lose loses a rank, for all of them.
func (r *Ranks) Lose() { close(r.lost) }

// Lost is closed when one is lost.
func (r *Ranks) Lost() <-chan struct{} { return r.lost }

// Loss says so.
func (r *Ranks) Loss() error { return ErrLost }

// Rank is the goroutine's number.
func (r *Ranks) Rank() int { return r.rank }

// Size is how many there are.
func (r *Ranks) Size() int { return r.boxes.size }

// Send does not wait for the receiver.
func (r *Ranks) Send(data []byte, to, tag int) error {
	r.boxes.of(box{to, r.rank, tag}) <- append([]byte(nil), data...)
	return nil
}

// Recv waits for the message.
func (r *Ranks) Recv(data []byte, from, tag int) error {
	select {
	case b := <-r.boxes.of(box{r.rank, from, tag}):
		if len(b) != len(data) {
			return errors.New("the message has another length")
		}
		copy(data, b)
		return nil
	case <-r.lost:
		return ErrLost
	}
}

// Each calls f for every rank at once, waits for all, and gives their errors.
func Each(n int, f func(rank int) error) []error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = f(i) })
	}
	all.Wait()
	return errs
}
