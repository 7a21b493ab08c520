//go:build !unix

package golang

import "os"

// duplicate is f itself: a cell that closes it closes it for good.
func duplicate(f *os.File) (*os.File, error) { return f, nil }
