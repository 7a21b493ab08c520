//go:build linux

package nvidia

import "github.com/ebitengine/purego"

// callC calls a C function with integers and addresses.
func callC(fn uintptr, args []uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, onStack(args)...)
	return r
}
