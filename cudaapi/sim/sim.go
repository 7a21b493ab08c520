// Package sim carries out CUDA on simulated devices.
//
// It is a [driver.Driver] like the one on libcuda, for machines without a GPU,
// and it keeps CUDA's rules rather than being kind: work of different streams
// runs in any order that CUDA allows, nothing waits that CUDA does not make
// wait, fresh memory holds garbage, peers must be enabled, and an illegal
// access in a kernel poisons its context. So a program that is right here for
// every seed is right about ordering, and one that lacks a wait shows it.
//
// Memory is real memory of this process, at addresses that host code and
// device code share. Kernels are CUDA C++ compiled by the host's C++ compiler
// and run on the CPU. Time is not real: it comes from a model of the device
// (see [Profile]), so that event times are the same on every run.
//
// What differs from a GPU:
//
//   - Order is chosen operation by operation: a copy or a kernel does not run
//     half before and half after another of a different stream. Only operations
//     that take long (spinning kernels, waiting host functions) run beside others.
//   - Priorities of streams are kept but change nothing; CUDA calls them hints.
//   - The per-thread default stream is one for each device, since goroutines
//     have no threads of their own.
//   - Kernels run without inline PTX, textures and half precision; a thread has
//     192 KiB of stack; a block's threads take turns, so a thread that spins on
//     shared memory needs the checking mode, an atomic or __nanosleep to let
//     others run. All memory accesses are checked, but for GOCUDA_SIM_CHECK=0.
//   - An access past an allocation that lands in another one is not seen, as on
//     a GPU. One that reaches no memory of the devices is, always.
//   - A sticky error poisons all devices, as on a GPU, but PrimaryReset cures one.
package sim

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"gocuda/cudaapi/driver"
)

// Options say what to simulate. The zero value of a field takes its default.
type Options struct {
	Devices     int    // how many devices; default 4
	Memory      uint64 // bytes of each device, committed as touched; default 16 GiB
	Seed        uint64 // chooses among the orders that CUDA allows; default 1
	Adversarial bool   // delay whatever is not ordered, so that missing waits show
	NoCheck     bool   // do not check kernels' accesses to memory: faster
	Profile     *Profile
}

const maxDevices = 16

// FromEnv reads GOCUDA_SIM_DEVICES, GOCUDA_SIM_MEMORY (bytes, or with the
// suffix K, M, G or T), GOCUDA_SIM_SEED, GOCUDA_SIM_SCHEDULE (random or
// adversarial), GOCUDA_SIM_CHECK (0 or 1) and GOCUDA_SIM_PROFILE (h100, h200).
func FromEnv() (Options, error) {
	var o Options
	var err error
	if v := os.Getenv("GOCUDA_SIM_DEVICES"); v != "" {
		if o.Devices, err = strconv.Atoi(v); err != nil || o.Devices < 1 || o.Devices > maxDevices {
			return o, fmt.Errorf("GOCUDA_SIM_DEVICES=%q: want a number from 1 to %d", v, maxDevices)
		}
	}
	if v := os.Getenv("GOCUDA_SIM_MEMORY"); v != "" {
		if o.Memory, err = parseBytes(v); err != nil {
			return o, fmt.Errorf("GOCUDA_SIM_MEMORY=%q: want a size such as 512M or 16G", v)
		}
	}
	if v := os.Getenv("GOCUDA_SIM_SEED"); v != "" {
		if o.Seed, err = strconv.ParseUint(v, 0, 64); err != nil {
			return o, fmt.Errorf("GOCUDA_SIM_SEED=%q: want a whole number", v)
		}
	}
	switch v := os.Getenv("GOCUDA_SIM_SCHEDULE"); v {
	case "", "random":
	case "adversarial":
		o.Adversarial = true
	default:
		return o, fmt.Errorf("GOCUDA_SIM_SCHEDULE=%q: want random or adversarial", v)
	}
	switch v := os.Getenv("GOCUDA_SIM_CHECK"); v {
	case "", "1":
	case "0":
		o.NoCheck = true
	default:
		return o, fmt.Errorf("GOCUDA_SIM_CHECK=%q: want 0 or 1", v)
	}
	if v := os.Getenv("GOCUDA_SIM_PROFILE"); v != "" {
		p, ok := profiles[strings.ToLower(v)]
		if !ok {
			return o, fmt.Errorf("GOCUDA_SIM_PROFILE=%q: want h100 or h200", v)
		}
		o.Profile = p
	}
	return o, nil
}

func parseBytes(s string) (uint64, error) {
	shift := 0
	if i := strings.IndexByte("KMGT", s[len(s)-1]&^0x20); i >= 0 {
		shift, s = 10*(i+1), s[:len(s)-1]
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n == 0 || n > 1<<44>>shift {
		return 0, fmt.Errorf("not a size of memory")
	}
	return n << shift, nil
}

// Driver is a machine with simulated devices. Make one with [New].
type Driver struct {
	opt     Options
	profile *Profile

	mu      sync.Mutex // guards all below, and every object of the machine
	space   *space
	devices []*device
	streams map[driver.Stream]*stream
	events  map[driver.Event]*event
	pools   map[driver.MemPool]*pool
	modules map[driver.Module]*module
	funcs   map[driver.Function]*function
	graphs  map[driver.Graph]*graph
	execs   map[driver.GraphExec]*graph
	handles uintptr

	eventPage *eventPage               // interprocess events of this process
	foreign   map[[2]uint32]*eventPage // and of others, by process and descriptor

	sched scheduler
	model model
	crew  crew
}

var (
	_ driver.Driver = (*Driver)(nil)
	_ driver.Graphs = (*Driver)(nil)
)

// New makes a machine. It reserves address space and takes no memory until
// devices are used.
func New(o Options) (*Driver, error) {
	if o.Devices == 0 {
		o.Devices = 4
	}
	if o.Memory == 0 {
		o.Memory = 16 << 30
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.Profile == nil {
		o.Profile = profiles["h200"]
	}
	if o.Devices < 0 || o.Devices > maxDevices {
		return nil, fmt.Errorf("sim: %d devices: want 1 to %d", o.Devices, maxDevices)
	}
	sp, err := newSpace(o.Devices, o.Memory, o.Seed)
	if err != nil {
		return nil, err
	}
	m := &Driver{
		opt: o, profile: o.Profile, space: sp, handles: 0x1000,
		streams: map[driver.Stream]*stream{}, events: map[driver.Event]*event{},
		pools: map[driver.MemPool]*pool{}, modules: map[driver.Module]*module{},
		funcs:  map[driver.Function]*function{},
		graphs: map[driver.Graph]*graph{}, execs: map[driver.GraphExec]*graph{},
		foreign: map[[2]uint32]*eventPage{},
	}
	m.sched.init(m)
	m.model.init(m)
	for i := range o.Devices {
		m.devices = append(m.devices, newDevice(m, driver.Device(i)))
	}
	return m, nil
}

// Close waits for all work and gives the machine's memory back. Programs need
// not call it: the memory goes with the process. Nothing of the machine may be
// used afterwards.
func (m *Driver) Close() error {
	for _, d := range m.devices {
		m.end(d)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.crew.dismiss()
	if m.eventPage != nil {
		closeFile(m.eventPage.fd)
	}
	return m.space.close()
}

// Name is "sim".
func (m *Driver) Name() string { return "sim" }

// Version is the version of CUDA whose rules are followed.
func (m *Driver) Version() (int, error) { return 12080, nil }

func (m *Driver) handle() uintptr { m.handles += 16; return m.handles }

func fail(call string, c driver.Code, detail string, args ...any) error {
	if len(args) > 0 {
		detail = fmt.Sprintf(detail, args...)
	}
	return &driver.Error{Code: c, Call: call, Detail: detail}
}
