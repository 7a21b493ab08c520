// Package cuda is CUDA for Go: devices, memory, streams, events, kernels and
// peer copies, on NVIDIA GPUs or on simulated devices, without cgo.
//
// The names are CUDA's, the shape is Go's: methods on objects that know their
// device, errors as values. Every call may be made from any goroutine.
//
//	gpus, err := cuda.Devices()
//	x, err := gpus[0].Alloc(1024, cuda.Float32)
//	err = x.Upload(make([]float32, 1024))
//
// Work that is given a [Stream] is asynchronous: the call returns when the work
// is queued, and the stream carries it out in order. A nil stream is the
// device's legacy default stream. What waits for a device says so; such waits
// end early with [driver.ErrInterrupted] once [SetInterrupt]'s channel closes.
//
// Package backend registers the drivers; import it for its side effect:
//
//	import _ "gocuda/cudaapi/backend"
//
// GOCUDA_BACKEND picks one: nvidia, sim, or auto (the default), which takes
// real GPUs where there are any.
package cuda
