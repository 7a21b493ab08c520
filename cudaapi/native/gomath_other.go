//go:build !(linux && amd64 && !race)

package native

// mathCaller is 0: C++ cannot call functions of Go.
func mathCaller() uintptr { return 0 }
