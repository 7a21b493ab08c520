//go:build unix

package sessiontest

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

// CFunction is the address of a function of the C library.
func CFunction(name string) uintptr {
	address, err := purego.Dlsym(purego.RTLD_DEFAULT, name)
	if err != nil {
		panic(err)
	}
	return address
}

// CString returns a C string. It leaks: C may keep it.
func CString(s string) uintptr {
	b := append([]byte(s), 0)
	kept = append(kept, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

var kept [][]byte
