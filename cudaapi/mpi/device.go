package mpi

import "gocuda/cudaapi/cuda"

// resolveDevice tells what memory of a device is.
func resolveDevice(call string, b *cuda.Buffer) (memory, *Error) {
	return memory{}, misuse(ErrBuffer, call, "this build takes no device memory").hint("download it first")
}
