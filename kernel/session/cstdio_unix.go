//go:build linux || darwin

package session

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// What C code prints goes through C's own buffer, which is only written out
// when it is full: C takes a pipe for a file. The evaluator asks for line
// buffering, and writes out the rest at the end of each cell.

const lineBuffered = 1 // _IOLBF, in glibc, musl and macOS

// cStdout finds the C library's stdout and fflush; zeros where there is none.
var cStdout = sync.OnceValues(func() (stdout, fflush uintptr) {
	name := "stdout"
	if runtime.GOOS == "darwin" {
		name = "__stdoutp"
	}
	variable, err := purego.Dlsym(purego.RTLD_DEFAULT, name)
	if err != nil || variable == 0 {
		return 0, 0
	}
	fflush, err = purego.Dlsym(purego.RTLD_DEFAULT, "fflush")
	if err != nil {
		return 0, 0
	}
	return **(**uintptr)(unsafe.Pointer(&variable)), fflush
})

// unbufferC makes C's standard output appear line by line.
func unbufferC() {
	stdout, _ := cStdout()
	setvbuf, err := purego.Dlsym(purego.RTLD_DEFAULT, "setvbuf")
	if stdout == 0 || err != nil {
		return
	}
	purego.SyscallN(setvbuf, stdout, 0, lineBuffered, 0)
}

// flushC writes out what C code has printed. It leaves other files of C's
// alone: one may be locked by a thread that waits for its input.
func flushC() {
	if stdout, fflush := cStdout(); fflush != 0 {
		purego.SyscallN(fflush, stdout)
	}
}
