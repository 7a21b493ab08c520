package cuda

import (
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/gokernel/emulate"
)

// LaunchOption changes how a kernel is launched; see [Kernel.With].
type LaunchOption func(*Kernel)

// SharedMemory gives each block n bytes of dynamic shared memory
// (extern __shared__). More than 48 KiB is asked for as CUDA requires.
func SharedMemory(n int) LaunchOption { return func(k *Kernel) { k.shared = n } }

// Cooperative lets all blocks of the launch synchronize with each other
// (cudaLaunchCooperativeKernel); the grid must fit on the device at once.
func Cooperative() LaunchOption { return func(k *Kernel) { k.cooperative = true } }

// With is the same kernel with other launch options: what <<<>>> has beyond
// grid, block and stream.
func (k *Kernel) With(options ...LaunchOption) *Kernel {
	made := &Kernel{code: k.code, shared: k.shared, cooperative: k.cooperative, races: k.races, counts: k.counts}
	if k.attributes != nil {
		made.attributes = new(driver.LaunchAttributes)
		*made.attributes = *k.attributes
	}
	for _, o := range options {
		o(made)
	}
	return made
}

// ask changes the attributes of a kernel that has none yet.
func (k *Kernel) ask() *driver.LaunchAttributes {
	if k.attributes == nil {
		k.attributes = new(driver.LaunchAttributes)
	}
	return k.attributes
}

// FindRaces has [Kernel.Emulate] look for races: two threads that touch the same memory,
// one of them writing, with no barrier between, nor by atomic operations both, nor with
// a fence after what comes first. The first is the error, with both places. It counts
// for emulated launches only.
func FindRaces() LaunchOption { return func(k *Kernel) { k.races = true } }

// KernelCounts is what the threads of an emulated launch did: accesses to the memory of
// each argument and to shared memory, in elements; how many threads made any, and what
// the busiest made; how often blocks met at a barrier, and lanes at an operation of
// their warp. Threads' own variables do not count.
type KernelCounts = emulate.Counts

// Count has [Kernel.Emulate] count what the threads do: c has it when Emulate returns.
// It counts for emulated launches only.
func Count(c *KernelCounts) LaunchOption { return func(k *Kernel) { k.counts = c } }

// Clusters has blocks run in groups of that many, in x, y and z, on
// neighbouring multiprocessors, where they can reach each other's shared memory
// (cudaLaunchAttributeClusterDimension; compute capability 9.0 and later). The
// grid must be a multiple of it in each direction; 8 blocks in all are the most
// that every such device takes.
func Clusters(x int, yz ...int) LaunchOption {
	g := Grid(x, yz...)
	return func(k *Kernel) {
		k.ask().Cluster = driver.Dim3{X: uint32(g.X), Y: uint32(g.Y), Z: uint32(g.Z)}
	}
}

// Programmatic lets a launch start while the kernel before it in the stream
// still runs (cudaLaunchAttributeProgrammaticStreamSerialization): what the
// kernel does before it calls cudaGridDependencySynchronize overlaps.
func Programmatic() LaunchOption { return func(k *Kernel) { k.ask().Programmatic = true } }

// LaunchPriority replaces the stream's priority for the launch
// (cudaLaunchAttributePriority); see Device.StreamPriorityRange.
func LaunchPriority(priority int) LaunchOption {
	return func(k *Kernel) { a := k.ask(); a.Priority, a.SetPriority = int32(priority), true }
}

// RemoteDomain puts the kernel's memory operations into a domain of their own,
// so that fences of other kernels need not wait for them
// (cudaLaunchAttributeMemSyncDomain, remote): of use to kernels that write to
// peers beside kernels that compute.
func RemoteDomain() LaunchOption { return func(k *Kernel) { k.ask().RemoteDomain = true } }

// Prepared is a launch whose arguments are checked and packed already.
type Prepared struct {
	kernel *Kernel
	stream *Stream
	grid   GridDim
	block  BlockDim
	on     *function
	packed call
	args   []any // those that are memory
}

// Prepare readies a launch, to be queued many times with the same arguments:
// what Launch does with them is done once. The buffers stay allocated as long as
// it is in use, unless they are freed, which makes later launches an error.
func (k *Kernel) Prepare(grid GridDim, block BlockDim, s *Stream, args ...any) (*Prepared, error) {
	s, c, f, err := k.target("Kernel.Prepare", s)
	if err != nil {
		return nil, err
	}
	p := &Prepared{kernel: k, stream: s, grid: grid, block: block, on: f}
	if err := k.pack(&p.packed, f, c, grid, block, s, args); err != nil {
		return nil, err
	}
	for _, a := range args {
		switch b := a.(type) {
		case *Buffer:
			if b != nil {
				p.args = append(p.args, b)
			}
		case *HostBuffer:
			if b != nil {
				p.args = append(p.args, b)
			}
		case *Texture, *Surface:
			p.args = append(p.args, b)
		}
	}
	return p, nil
}

// Launch queues the kernel once more, on the stream that it was prepared for;
// see Kernel.Launch.
func (p *Prepared) Launch() error {
	const name = "Prepared.Launch"
	if p == nil || p.kernel == nil {
		return misuse(driver.ErrInvalidValue, name, nil, "the launch is nil; Kernel.Prepare makes one")
	}
	c, err := p.stream.use(name)
	if err != nil {
		return err
	}
	d := p.stream.dev
	if p.kernel.code.on[d.id].Load() != p.on {
		return misuse(driver.ErrInvalidHandle, name, d, "the module of %s was unloaded: prepare the launch again", p.kernel.code.name)
	}
	for _, a := range p.args {
		freed, bytes := false, 0
		switch b := a.(type) {
		case *Buffer:
			freed, bytes = b.own.freed(b.generation), b.Bytes()
		case *HostBuffer:
			freed, bytes = b.own.freed(0), b.Bytes()
		case interface{ lost() string }: // a texture or surface
			if lost := b.lost(); lost != "" {
				return misuse(driver.ErrInvalidValue, name, d, "an argument of %s: %s", p.kernel.signature(), lost)
			}
		}
		if freed {
			return misuse(driver.ErrInvalidValue, name, d, "an argument of %s, %s of memory, was freed before", p.kernel.signature(), byteCount(uint64(bytes)))
		}
	}
	// The driver notes things in the launch that it is given, and others may
	// queue this one at the same time.
	cl := calls.Get().(*call)
	cl.launch = p.packed.launch
	err = p.kernel.queue(cl, c, p.on, p.stream, p.grid, p.block, p.args)
	calls.Put(cl)
	return err
}
