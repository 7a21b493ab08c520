package named

import (
	"encoding/binary"
	"unsafe"
)

const (
	stubCount = 32768 // as many as stubs_amd64.s has
	stubSize  = 13    // bytes
)

// contexts are the closures that the stubs call.
var contexts [stubCount]unsafe.Pointer

func stubsAt() unsafe.Pointer

// stub is the code of a stub, or nil if it is not where it is looked for: it
// begins with the load of its own context.
func stub(i int) unsafe.Pointer {
	code := unsafe.Add(stubsAt(), i*stubSize)
	text := unsafe.Slice((*byte)(code), stubSize)
	const load = "\x48\x8b\x15" // MOVQ offset(IP), DX
	loaded := uintptr(code) + 7 + uintptr(int32(binary.LittleEndian.Uint32(text[3:])))
	if string(text[:3]) != load || loaded != uintptr(unsafe.Pointer(&contexts[i])) {
		return nil
	}
	return code
}
