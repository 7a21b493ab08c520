//go:build linux && (amd64 || arm64)

package nvidia

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/clib"
)

// libc opens the C library in libcuda's place: one of its functions stands for every
// symbol in as, so that calls can be tested without a GPU.
func libc(t testing.TB, function string, as ...symbol) *Driver {
	t.Helper()
	names := make([]string, symbolCount)
	for i := range names {
		names[i] = "no_such_function"
	}
	for _, s := range as {
		names[s] = function
	}
	lib, err := clib.Open("the C library", []string{"libc.so.6"}, names)
	if err != nil {
		t.Skip(err)
	}
	return &Driver{lib: lib, version: 13000}
}

func TestCallsAllocateNothing(t *testing.T) {
	d := libc(t, "getpid", cuStreamQuery, cuLaunchKernel)
	var code driver.Code
	for name, f := range map[string]func(){
		"one argument":     func() { code = d.call(cuStreamQuery, uintptr(code)) },
		"eleven arguments": func() { code = d.call(cuLaunchKernel, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, uintptr(code)) },
	} {
		if n := testing.AllocsPerRun(100, f); n > 0 {
			t.Errorf("%s: %g allocations", name, n)
		}
		if int(code) != os.Getpid() {
			t.Errorf("%s: %d, want %d", name, code, os.Getpid())
		}
	}
}

func TestMissingFunctionFailsOnlyItsCall(t *testing.T) {
	d := libc(t, "")
	err := d.plain(cuMemFree, 1)
	if err == nil || !strings.Contains(err.Error(), "CUDA_ERROR_NOT_SUPPORTED") || !strings.Contains(err.Error(), "libc.so.6 of CUDA 13.0 has no such function") {
		t.Errorf("got %v", err)
	}
}

// grow makes the goroutine's stack move.
func grow(n int) int {
	var pad [256]byte
	if n == 0 {
		return int(pad[0])
	}
	return grow(n-1) + int(pad[n%256])
}

// TestPinnedValuesDoNotMove is about what C is to write to: a value that
// escape analysis would leave on the stack.
func TestPinnedValuesDoNotMove(t *testing.T) {
	done := make(chan [2]uintptr)
	go func() {
		v := new(uint64)
		before := pin(v)
		grow(2000)
		done <- [2]uintptr{before, pin(v)}
		runtime.KeepAlive(v)
	}()
	if got := <-done; got[0] != got[1] {
		t.Errorf("at %#x, then at %#x", got[0], got[1])
	}
}

func BenchmarkCall(b *testing.B) {
	d := libc(b, "labs", cuStreamQuery)
	for b.Loop() {
		d.call(cuStreamQuery, 1)
	}
}
