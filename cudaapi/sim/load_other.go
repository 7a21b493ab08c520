//go:build !linux

package sim

type library struct{ handle uintptr }

func dlopen(image []byte) (library, error)          { return library{}, errNoMap }
func (library) close()                              {}
func dlsym(h uintptr, name string) (uintptr, error) { return 0, errNoMap }
func call(f uintptr, args ...uintptr) uintptr       { return 0 }
func flushOutput()                                  {}
