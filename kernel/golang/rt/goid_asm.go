//go:build amd64 || arm64

package rt

import "unsafe"

// getg returns the runtime's record of the calling goroutine.
func getg() unsafe.Pointer
