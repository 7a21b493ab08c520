package mpi

import "unsafe"

// pointer is an address of a device as the transport's Memory holds it.
func pointer(at *uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(at)) }
