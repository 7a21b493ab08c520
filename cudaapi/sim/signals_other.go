//go:build !linux || !amd64

package sim

// Elsewhere signals in kernels end the process.
func watch(stacks, worker uintptr) {}
func unwatch(lo, hi uintptr)       {}
func halt(w *workerABI)            {}
func threadID() uint32             { return 0 }
