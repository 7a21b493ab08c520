//go:build !linux || !(amd64 || arm64)

package nccl

import "errors"

// Open says that there is no NCCL here.
func Open() (Library, error) { return nil, errors.New("NCCL is used on Linux only") }
