package mpi

import (
	"os"

	"gocuda/cudaapi/mpi/internal/libmpi"
	"gocuda/cudaapi/mpi/internal/local"
	"gocuda/cudaapi/mpi/internal/transport"
)

// open opens the transport that GOCUDA_MPI, or the launcher that started the
// process, asks for.
func open() (transport.Transport, error) {
	switch os.Getenv("GOCUDA_MPI") {
	case "", "auto":
		if local.Present() || libmpi.Launched() == nil {
			return local.Open()
		}
	case "local":
		return local.Open()
	}
	return libmpi.Open()
}
