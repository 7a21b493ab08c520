// Package headers has what CUDA C++ for devices may include, and may not, alike for NVRTC and
// for simulated devices.
package headers

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

// Files are headers that both give, in the folder include.
//
//go:embed include
var Files embed.FS

// StdMath is the one with the functions of <cmath>, Symmetric <gocuda/symmetric.h>.
var (
	StdMath   = text("include/sim/std_math.h")
	Symmetric = text("include/gocuda/symmetric.h")
)

func text(name string) string {
	b, _ := Files.ReadFile(name) // which is embedded
	return string(b)
}

// forHost are headers whose functions and types device code cannot use, though nvcc lets a
// file that has code for the host, too, include them.
var forHost = strings.Fields(`
	any barrier cerrno cfenv charconv chrono cinttypes clocale codecvt condition_variable coroutine csetjmp csignal
	cwchar cwctype deque execution exception expected filesystem format forward_list fstream future iomanip ios iosfwd
	istream list locale map memory memory_resource mutex ostream queue random ranges ratio regex scoped_allocator
	semaphore set shared_mutex sstream stack stdexcept stop_token streambuf string string_view strstream syncstream
	system_error thread typeindex unordered_map unordered_set valarray vector
	dirent.h dlfcn.h errno.h fcntl.h fenv.h getopt.h inttypes.h mpi.h nccl.h omp.h pthread.h sched.h semaphore.h
	signal.h sys/mman.h sys/resource.h sys/stat.h sys/time.h sys/wait.h unistd.h
	cublas_v2.h cublas.h cufft.h cusparse.h cusolverDn.h curand.h cudnn.h`)

// Refusal is what a compiler says of an include of a header that is not for device code;
// "" for others.
func Refusal(name string) string {
	if !slices.Contains(forHost, name) {
		return ""
	}
	return fmt.Sprintf("<%s> is a header for code of the host, and this is code for devices: remove the line, and what needs it", name)
}
