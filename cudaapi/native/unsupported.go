//go:build !(linux && (amd64 || arm64))

package native

import "unsafe"

const supported = false

func callWord(fn, word uintptr, p unsafe.Pointer) {}

func tellRuntime(fn uintptr) {}

func call(fn uintptr, a, b unsafe.Pointer) {}
