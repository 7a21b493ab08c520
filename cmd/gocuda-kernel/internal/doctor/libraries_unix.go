//go:build linux || darwin

package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// probeMPI asks a libmpi for its version, which MPI allows before MPI_Init. Not
// so whether it is CUDA-aware: MPICH ends the process. A rank tells that.
func probeMPI() (f finding) {
	lib, path, err := load(besideCommand("mpirun", mpiNames()))
	if err != nil {
		f.Missing = err.Error()
		return f
	}
	f.Where = path
	version, err := purego.Dlsym(lib, "MPI_Get_library_version")
	if err != nil {
		f.Broken = err.Error()
		return f
	}
	text := make([]byte, 8192+1) // MPI_MAX_LIBRARY_VERSION_STRING is 8192 at most
	length := new(int32)
	if code, _, _ := purego.SyscallN(version, uintptr(unsafe.Pointer(&text[0])), uintptr(unsafe.Pointer(length))); int32(code) != 0 {
		f.Broken = fmt.Sprintf("MPI_Get_library_version returned %d", int32(code))
		return f
	}
	text, _, _ = bytes.Cut(text, []byte{0})
	f.Version = mpiVersion(string(text))
	return f
}

// probeNCCL asks NCCL for its version.
func probeNCCL() (f finding) {
	names := []string{"libnccl.so.2", "libnccl.so"}
	for _, env := range pythonLibraries() {
		names = append(names, filepath.Join(env, "nvidia", "nccl", "lib", "libnccl.so.2"))
	}
	lib, path, err := load(names)
	if err != nil {
		f.Missing = err.Error()
		return f
	}
	f.Where = path
	get, err := purego.Dlsym(lib, "ncclGetVersion")
	if err != nil {
		f.Broken = err.Error()
		return f
	}
	v := new(int32)
	if code, _, _ := purego.SyscallN(get, uintptr(unsafe.Pointer(v))); int32(code) != 0 {
		f.Broken = fmt.Sprintf("ncclGetVersion returned %d", int32(code))
		return f
	}
	f.Version = ncclVersion(int(*v))
	return f
}

func mpiNames() []string {
	if runtime.GOOS == "darwin" {
		return []string{"libmpi.dylib", "libmpi.40.dylib", "libmpi.12.dylib",
			"/opt/homebrew/lib/libmpi.dylib", "/usr/local/lib/libmpi.dylib"}
	}
	// Open MPI 4 and 5, MPICH and Intel MPI, MPICH as Debian names it, the
	// standard ABI of MPI 5, and what a development package links to.
	return []string{"libmpi.so.40", "libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.0", "libmpi.so"}
}

// besideCommand adds, in front, where the names would be if they were
// installed with a command that is on PATH.
func besideCommand(command string, names []string) []string {
	path, err := exec.LookPath(command)
	if err != nil {
		return names
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	prefix := filepath.Dir(filepath.Dir(path))
	if prefix == "/usr" || prefix == "/" {
		return names // the loader knows it, and Debian's alternatives choose
	}
	var all []string
	for _, name := range names {
		if filepath.IsAbs(name) {
			continue
		}
		for _, lib := range []string{"lib", "lib64"} {
			if file := filepath.Join(prefix, lib, name); exists(file) {
				all = append(all, file)
			}
		}
	}
	return append(all, names...)
}

// load opens the first of the libraries that can be opened, and tells the file
// that it came from.
func load(names []string) (lib uintptr, path string, err error) {
	// dlerror, which Dlopen reads after a failure, is of the thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var failed []string
	for _, name := range names {
		lib, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			return lib, loadedFrom(name), nil
		}
		if exists(name) { // there, and not loadable: say why
			failed = append(failed, err.Error())
		}
	}
	text := "searched " + strings.Join(names, ", ")
	if len(failed) > 0 {
		text += " (" + strings.Join(failed, "; ") + ")"
	}
	return 0, "", errors.New(text)
}
