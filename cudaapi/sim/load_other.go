//go:build !linux

package sim

func dlopen(image []byte) (uintptr, error)          { return 0, errNoMap }
func dlsym(h uintptr, name string) (uintptr, error) { return 0, errNoMap }
func dlclose(h uintptr)                             {}
func call(f uintptr, args ...uintptr) uintptr       { return 0 }
func flushOutput()                                  {}
