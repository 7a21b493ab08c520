package driver

// Launch is one kernel launch. The implementation does not keep it or what it
// points to after the call returns.
type Launch struct {
	Function    Function
	Grid, Block Dim3
	SharedBytes uint32 // dynamic shared memory per block
	Stream      Stream
	Cooperative bool
	// Attributes are what the launch asks for beyond that; nil for nothing.
	Attributes *LaunchAttributes
	// Params holds the arguments at the offsets that FunctionParams gives.
	Params []byte
	// Pointers are the offsets into Params of arguments that are addresses,
	// and whether the kernel only reads through them: for recorders, and for
	// a simulator's checks.
	Pointers []PointerParam
	// Objects are the arguments that are texture or surface objects, for recorders.
	Objects []ObjectParam
	// Name is the kernel's name in its source, for errors and records.
	Name string
	// Origin is what the kernel was made of; nil where that is not known.
	Origin *Origin
	// Observe, if not nil, is called once for each time that the kernel has run,
	// with all the memory of devices and pinned memory that it touched, by a driver
	// that is an [Observer]. It must not call the driver.
	Observe func([]Access)
	// Races, if not nil, is called with what was found each time that the kernel has run,
	// by a driver that looks for races between threads where there is an Observe.
	Races func([]Race)
	// Scratch is for the implementation's use during the call.
	Scratch [6]uintptr
}

// Origin is what a kernel was made of, for recorders. There is one for each kernel and
// device.
type Origin struct {
	Source *Source // nil for an image
	Image  []byte  // that was loaded, if there is no source
	Module Module
	Symbol string // the kernel's
	// Polls says that the source speaks of words by which kernels, or a kernel and the
	// host, tell each other things while they run.
	Polls bool
}

// PTXLoader is a [Driver] that loads PTX, and compiles to it where the option -arch
// names a virtual architecture.
type PTXLoader interface {
	LoadsPTX() bool
}

// Preloader is a [Driver] that loads more than a program's own kernels, at their first
// launches or before. As loading may wait for all that is queued, before is better.
type Preloader interface {
	// Preloads reports whether it does, as it is set up.
	Preloads() bool
	// Preload is called when a kernel was loaded, and may take as long as that.
	Preload(c Context, from *Origin)
}

// Observer is a [Driver] that can tell what memory kernels touch.
type Observer interface {
	// ObservesKernels reports whether it can, as it is set up.
	ObservesKernels() bool
}

// Delayer is a [Driver] that chooses the order of what nothing orders.
type Delayer interface {
	// Delay has what call queues run as late as the order allows: when nothing else can
	// run, and the host waits.
	Delay(call func() error) error
}

// Access is a range of addresses, from Lo to before Hi, that a kernel touched.
type Access struct {
	Lo, Hi Ptr
	Mode   AccessMode
}

// AccessMode is how memory was touched.
type AccessMode uint8

const (
	AccessRead   AccessMode = 1
	AccessWrite  AccessMode = 2
	AccessAtomic AccessMode = 3 // by atomic operations alone
)

// PointerParam marks a kernel argument that is an address.
type PointerParam struct {
	Offset   uint32
	ReadOnly bool // declared as a pointer to const
	Name     string
	Elem     uint32 // bytes of an element; 0 where that is not known
}

// LaunchAttributes are CUlaunchAttributes. The zero value asks for none.
type LaunchAttributes struct {
	// Cluster is how many blocks run together on neighbouring multiprocessors,
	// in x, y and z, and can reach each other's shared memory
	// (CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION). The grid must be a multiple of
	// it. Zero for none.
	Cluster Dim3
	// Programmatic lets the kernel start while the one before it in the stream
	// still runs; it waits for it by cudaGridDependencySynchronize
	// (CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION).
	Programmatic bool
	// Priority replaces the stream's, if SetPriority
	// (CU_LAUNCH_ATTRIBUTE_PRIORITY).
	Priority    int32
	SetPriority bool
	// RemoteDomain puts the kernel's memory operations into the remote domain,
	// so that its fences need not wait for traffic of the default one
	// (CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN).
	RemoteDomain bool
}
