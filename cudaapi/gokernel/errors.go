package gokernel

import (
	"fmt"
	"go/token"
	"strings"
)

// Error is something in the source that cannot be a kernel, or is not Go.
type Error struct {
	Pos     token.Position
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Pos, e.Message) }

// Errors are all that was found, in the order of the source.
type Errors []*Error

// NoKernel is the error of a source that is right and has no kernel: nothing, or types,
// constants and functions that others may call.
type NoKernel struct{ Errors }

func (e NoKernel) Unwrap() error { return e.Errors }

func (list Errors) Error() string {
	lines := make([]string, len(list))
	for i, e := range list {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}
