// Package nvidia carries out CUDA on NVIDIA GPUs: [driver.Driver] on
// libcuda.so.1, with NVRTC for CUDA C++. Both libraries are loaded at run time
// through purego, so that a program needs neither cgo nor a toolkit to build,
// and a machine without them gets a clear error at first use.
//
// Context rules. CUDA's calls act on the context that is current on the calling
// OS thread, and goroutines move between threads. Calls that depend on it pin
// the goroutine to its thread and make the context current if it is not. Calls
// whose handles name their context (a launch on an explicit stream, an event
// record) go straight to the driver; should a driver refuse one for want of a
// current context, it is repeated with the context current, and that call does
// so from then on.
//
// Memory rules. C only ever sees Go memory that lives on the heap, which does
// not move, and only for the length of one call.
package nvidia
