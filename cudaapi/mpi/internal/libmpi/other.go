//go:build !linux || !(amd64 || arm64)

package libmpi

import (
	"errors"

	"gocuda/cudaapi/mpi/internal/transport"
)

var errElsewhere = errors.New("MPI libraries are used on Linux, amd64 and arm64, only")

// Open gives an error.
func Open() (transport.Transport, error) { return nil, errElsewhere }
