//go:build !linux

package hostcxx

import "errors"

var errSystem = errors.New("compiled code is loaded on Linux only")

// Library is code that was loaded: there is none on this system.
type Library struct{}

// Load fails on this system.
func Load(image []byte) (Library, error) { return Library{}, errSystem }

// Close does nothing.
func (Library) Close() {}

// Symbol fails on this system.
func (Library) Symbol(name string) (uintptr, error) { return 0, errSystem }

// InProcess fails on this system.
func InProcess(name string) (uintptr, error) { return 0, errSystem }
