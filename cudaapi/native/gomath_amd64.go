//go:build linux && !race

package native

// gocudaMathABI0 is the address of the function in gomath_amd64.s.
var gocudaMathABI0 uintptr

func mathCaller() uintptr { return gocudaMathABI0 }
