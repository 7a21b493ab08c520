package cuda

import "gocuda/cudaapi/driver"

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
	made := &Kernel{code: k.code, shared: k.shared, cooperative: k.cooperative}
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

// Clusters has blocks run in groups of that many, in x, y and z, on
// neighbouring multiprocessors, where they can reach each other's shared memory
// (cudaLaunchAttributeClusterDimension; compute capability 9.0 and later). The
// grid must be a multiple of it in each direction; 8 blocks in all are the most
// that every such device takes. On simulated devices the blocks run, but do not
// reach each other.
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
