//go:build !linux

package sim

import (
	"fmt"
	"runtime"
)

var errNoMap = fmt.Errorf("simulated devices need Linux (this is %s): run gocuda there, in a container or a virtual machine", runtime.GOOS)

func reserve(n uintptr) (uintptr, error)                          { return 0, errNoMap }
func forbid(addr, n uintptr)                                      {}
func mapShared(addr, n uintptr) (int, error)                      { return -1, errNoMap }
func mapFile(fd int, off int64, addr, n uintptr) (uintptr, error) { return 0, errNoMap }
func sharedFile(n uintptr) (int, error)                           { return -1, errNoMap }
func openShared(pid, fd int) (int, error)                         { return -1, errNoMap }
func writeFile(fd int, b []byte) error                            { return errNoMap }
func readFile(fd int, b []byte) error                             { return errNoMap }
func closeFile(fd int)                                            {}
func alive(pid int) bool                                          { return false }
func mapPrivate(addr, n uintptr) (uintptr, error)                 { return 0, errNoMap }
func unmap(addr, n uintptr)                                       {}
func discard(fd int, off, addr, n uintptr)                        {}
func release(addr, n uintptr) error                               { return errNoMap }
