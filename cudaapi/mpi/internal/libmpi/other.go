//go:build !linux || !(amd64 || arm64)

package libmpi

import (
	"errors"

	"gocuda/cudaapi/mpi/internal/transport"
)

var errElsewhere = errors.New("MPI libraries can be used on Linux only, on amd64 and arm64")

// Open gives an error.
func Open() (transport.Transport, error) { return nil, errElsewhere }
