//go:build linux && (amd64 || arm64)

package libmpi

import (
	"os"
	"strings"

	"gocuda/cudaapi/internal/clib"
)

// cudaAware asks whether device pointers may be given, and tells how that is
// known. Libraries answer for how they were built and for how they were started:
// MPICH, for one, must also be told by its environment.
func (t *Transport) cudaAware() (bool, string) {
	says := func(f function, yes bool) (bool, string) {
		why := []string{f.String() + " of " + t.info.Version + " says no", f.String() + " of " + t.info.Version + " says yes"}[b2i(yes)]
		for _, v := range []string{"MPIR_CVAR_ENABLE_GPU", "MPICH_GPU_SUPPORT_ENABLED", "I_MPI_OFFLOAD", "MV2_USE_CUDA", "OMPI_MCA_opal_cuda_support"} {
			if x, set := os.LookupEnv(v); set {
				why += ", with " + v + "=" + x
			}
		}
		return yes, why
	}
	if t.has(mpixQueryCUDA) {
		return says(mpixQueryCUDA, t.call(mpixQueryCUDA) != 0)
	}
	if t.has(mpixGPUQuery) {
		const cuda = 0 // MPIX_GPU_SUPPORT_CUDA
		yes := new(int32)
		if t.call(mpixGPUQuery, cuda, clib.Pin(yes)) == 0 {
			return says(mpixGPUQuery, *yes != 0)
		}
	}
	return false, strings.TrimSpace(t.info.Version) + " has no function that tells, such as MPIX_Query_cuda_support"
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
