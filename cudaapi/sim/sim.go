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
//     So are a launch's priority and memory domain. A programmatic launch does
//     not overlap the one before it, and the blocks of a cluster do not reach
//     each other's shared memory.
//   - The per-thread default stream is one for each device, since goroutines
//     have no threads of their own.
//   - Kernels run without inline PTX and textures; a thread has 176 KiB of stack.
//     All memory accesses are checked, but for GOCUDA_SIM_CHECK=0.
//   - Threads that wait in a loop for what others write make progress as on a GPU:
//     those of a block, blocks of a grid as far as the device has room for them,
//     kernels of several devices and processes. A grid that waits for blocks there
//     is no room for hangs; an interrupted wait says so, and a reset of the device
//     ends it. The time that a kernel waits so is not in the model's times.
//   - Threads that change one place without an atomic operation lose each other's
//     changes where the kernel's source shows it (*count += 1, bins[b]++), and
//     elsewhere only now and then.
//   - An access past an allocation that lands in another one is not seen, as on
//     a GPU. One that reaches no memory of the devices is, always.
//   - A sticky error poisons all devices, as on a GPU, but PrimaryReset cures one.
package sim

import (
	"fmt"
	"sync"
	"sync/atomic"

	"gocuda/cudaapi/driver"
)

// Driver is a machine with simulated devices. Make one with [New].
type Driver struct {
	opt     Options
	profile *Profile
	retired atomic.Bool

	withoutNVRTC atomic.Bool // CUDA C++ was compiled without one

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
	arrays  map[driver.Array]*array
	objects objects

	eventPage *eventPage               // interprocess events of this process
	foreign   map[[2]uint32]*eventPage // and of others, by process and descriptor

	delaying atomic.Int32 // calls whose operations run late

	sched scheduler
	model model
	crew  crew

	tracers tracers
	orders  orders
	counter atomic.Pointer[func(*driver.Counts)] // nil: nobody counts
}

var (
	_ driver.Driver   = (*Driver)(nil)
	_ driver.Graphs   = (*Driver)(nil)
	_ driver.Observer = (*Driver)(nil)
)

// New makes a machine. It reserves address space and takes no memory until
// devices are used.
func New(o Options) (*Driver, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	sp, err := newSpace(o.Devices, o.Memory, o.Seed)
	if err != nil {
		return nil, err
	}
	o.Memory = sp.memory
	m := &Driver{
		opt: o, profile: o.Profile, space: sp, handles: 0x1000,
		streams: map[driver.Stream]*stream{}, events: map[driver.Event]*event{},
		pools: map[driver.MemPool]*pool{}, modules: map[driver.Module]*module{},
		funcs:  map[driver.Function]*function{},
		graphs: map[driver.Graph]*graph{}, execs: map[driver.GraphExec]*graph{},
		foreign: map[[2]uint32]*eventPage{}, arrays: map[driver.Array]*array{}, objects: objects{live: map[uint64]*object{}},
	}
	m.sched.init(m)
	m.model.init(m)
	m.crew.init(o.Profile)
	for i := range o.Devices {
		m.devices = append(m.devices, newDevice(m, driver.Device(i)))
	}
	return m, nil
}

// Close waits for all work and gives the machine's memory back. Programs need
// not call it: the memory goes with the process. Nothing of the machine may be
// used afterwards. If something runs that does not end, the memory stays, for it
// may be in use, and Close is an error.
func (m *Driver) Close() error {
	for _, d := range m.devices {
		m.end(d)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.sched.running; n > 0 {
		return fmt.Errorf("sim: %d kernels or host functions do not end: the memory of the simulated devices stays in use until this process ends", n)
	}
	m.crew.dismiss()
	m.tracers.drop()
	m.orders.drop()
	m.objects.drop()
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
