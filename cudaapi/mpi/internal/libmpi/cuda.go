//go:build linux && (amd64 || arm64)

package libmpi

import (
	"fmt"
	"os"
	"strings"
	"unsafe"

	"gocuda/cudaapi/internal/clib"
	"gocuda/cudaapi/mpi/internal/transport"
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
		yes, why := says(mpixQueryCUDA, t.call(mpixQueryCUDA) != 0)
		// Open MPI 4 says how it was built. Whether it found
		// libcuda, and is not told to do without, it keeps in a variable.
		if on := t.lib.Lookup("opal_cuda_support"); yes && on != 0 && !**(**bool)(unsafe.Pointer(&on)) {
			return false, why + ", but it has not found libcuda, or opal_cuda_support is off"
		}
		return yes, why
	}
	if t.has(mpixGPUQuery) {
		const cuda = 0 // MPIX_GPU_SUPPORT_CUDA
		yes := new(int32)
		if t.call(mpixGPUQuery, cuda, clib.Pin(yes)) == 0 {
			return says(mpixGPUQuery, *yes != 0)
		}
	}
	return false, strings.TrimSpace(t.info.Version) + " has no function that reports it, such as MPIX_Query_cuda_support"
}

// makeRoom lets Open MPI 4 have thousands of copies of device memory under way.
// By itself it has room for 400, and stops for good when a program wants more.
func (t *Transport) makeRoom() {
	const name = "OMPI_MCA_mpi_common_cuda_event_max"
	if _, set := os.LookupEnv(name); !set && t.lib.Lookup("opal_cuda_support") != 0 {
		os.Setenv(name, "4096") //nolint:errcheck // fails only for bad names
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A CUDA-aware library copies in the context that is current on the thread which
// calls it: also in a call for another message, which moves that one on. So, from
// the first memory of a device on, all calls are made with that memory's context
// current. Go's threads would have any, or none.

// libcuda's functions that this asks for.
const (
	cuPointerGetAttribute = iota
	cuCtxGetCurrent
	cuCtxSetCurrent
)

// device takes the context of the first memory of a device.
func (t *Transport) device(memories ...transport.Memory) error {
	for _, m := range memories {
		if m.Device != nil && m.N > 0 && t.context.Load() == 0 {
			return t.takeContext(address(m.P))
		}
	}
	return nil
}

func (t *Transport) takeContext(of uintptr) error {
	t.contextOnce.Lock()
	defer t.contextOnce.Unlock()
	if t.context.Load() != 0 {
		return nil
	}
	lib, err := clib.Open("libcuda", []string{"libcuda.so.1"}, []string{"cuPointerGetAttribute", "cuCtxGetCurrent", "cuCtxSetCurrent"})
	if err != nil {
		return err
	}
	const attributeContext = 1 // CU_POINTER_ATTRIBUTE_CONTEXT
	got := new(uintptr)
	if code := clib.Code(lib.Addr(cuPointerGetAttribute), clib.Pin(got), attributeContext, of); code != 0 {
		return fmt.Errorf("libcuda does not know the address %#x as a device's: cuPointerGetAttribute, code %d", of, code)
	}
	t.current = clib.Current{Get: lib.Addr(cuCtxGetCurrent), Set: lib.Addr(cuCtxSetCurrent)}
	t.context.Store(*got)
	return nil
}
