//go:build !linux && !darwin

package doctor

import "runtime"

func probeMPI() finding { return unsupported("MPI libraries") }

func probeNCCL() finding { return unsupported("NCCL") }

func unsupported(what string) finding {
	return finding{Missing: what + " cannot be used on " + runtime.GOOS + " yet"}
}
