//go:build linux && (amd64 || arm64)

package clib

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// TestCodeWith calls Go functions as if they were C's.
func TestCodeWith(t *testing.T) {
	var called []string
	var threads []int
	now, getFails, setFails := uintptr(0), uintptr(0), uintptr(0)
	note := func(format string, args ...any) {
		called = append(called, fmt.Sprintf(format, args...))
		threads = append(threads, syscall.Gettid())
	}
	current := Current{
		Get: purego.NewCallback(func(p *uintptr) uintptr {
			note("get")
			*p = now
			return getFails
		}),
		Set: purego.NewCallback(func(v uintptr) uintptr {
			note("set %d", v)
			if setFails == 0 {
				now = v
			}
			return setFails
		}),
	}
	sum := purego.NewCallback(func(a, b, c, d, e, f, g, h, i, j, k uintptr) uintptr {
		note("call with %d", now)
		return a + 2*b + 3*c + 4*d + 5*e + 6*f + 7*g + 8*h + 9*i + 10*j + 11*k
	})
	args := []uintptr{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	const want, total = 42, 506
	for _, c := range []struct {
		name          string
		now, getFails uintptr
		setFails      uintptr
		calls         []string
		result        int32
		entered       bool
	}{
		{"current already", want, 0, 0, []string{"get", "call with 42"}, total, true},
		{"another is current", 7, 0, 0, []string{"get", "set 42", "call with 42"}, total, true},
		{"get fails", want, 3, 0, []string{"get", "set 42", "call with 42"}, total, true},
		{"set fails", 7, 0, 201, []string{"get", "set 42"}, 201, false},
	} {
		for how, call := range map[string]func(Current, uintptr, uintptr, ...uintptr) (int32, bool){"one call": CodeWith, "three": codeWith} {
			called, threads = nil, nil
			now, getFails, setFails = c.now, c.getFails, c.setFails
			result, entered := call(current, want, sum, args...)
			if !slices.Equal(called, c.calls) || result != c.result || entered != c.entered {
				t.Errorf("%s, %s: %v, result %d, entered %v; want %v, %d, %v", c.name, how, called, result, entered, c.calls, c.result, c.entered)
			}
			if len(slices.Compact(threads)) != 1 {
				t.Errorf("%s, %s: threads %v", c.name, how, threads)
			}
		}
	}
	if r := Call(sum, args...); r != total {
		t.Errorf("Call: %d", r)
	}
	if r := Code(sum, args...); r != total {
		t.Errorf("Code: %d", r)
	}
}

// TestCallbacksMoveTheStack grows the goroutine's stack in the midst of a call,
// where its arguments may be.
func TestCallbacksMoveTheStack(t *testing.T) {
	grow := purego.NewCallback(func(a, b uintptr) uintptr {
		deep(500)
		return 10*a + b
	})
	done := make(chan error)
	for range 4 {
		go func() {
			var here uintptr
			before := uintptr(unsafe.Pointer(&here))
			call, code := Call(grow, 4, 2), Code(grow, 4, 2)
			with, entered := CodeWith(Current{Get: grow, Set: grow}, 0, grow, 4, 2)
			var err error
			if call != 42 || code != 42 || entered || with == 0 {
				err = fmt.Errorf("%d, %d, %d, %v", call, code, with, entered)
			}
			if before == uintptr(unsafe.Pointer(&here)) {
				err = errors.Join(err, errors.New("the stack did not move"))
			}
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

//go:noinline
func deep(n int) byte {
	var pad [256]byte
	if n > 0 {
		pad[n%256] = deep(n - 1)
	}
	return pad[n%128]
}

// TestCallsAllocateNothing calls functions of the C library.
func TestCallsAllocateNothing(t *testing.T) {
	lib, err := Open("the C library", []string{"libc.so.6"}, []string{"getpid", "labs", "time"})
	if err != nil {
		t.Skip(err)
	}
	current := Current{Get: lib.Addr(1), Set: lib.Addr(1)} // labs(0) is 0; of an address it is not
	var r, code int32
	var now uintptr
	if n := testing.AllocsPerRun(100, func() {
		r, _ = CodeWith(current, 0, lib.Addr(0), uintptr(r), 2, 3)
		r = Code(lib.Addr(0), uintptr(r))
		frame := Frame{Fn: lib.Addr(2)}
		code, now = frame.Out()
	}); n > 0 {
		t.Errorf("%g allocations", n)
	}
	if int(r) != syscall.Getpid() {
		t.Errorf("%d, want %d", r, syscall.Getpid())
	}
	if now == 0 || code != int32(now) { // time(&now) gives it twice
		t.Errorf("Out: %d and %d", code, now)
	}
}

// TestPin grows the stack of a goroutine that has the address of a variable.
func TestPin(t *testing.T) {
	done := make(chan bool)
	go func() {
		var x [4]uint64
		at := Pin(&x[1])
		grow(1000)
		x[1] = 7
		done <- at == Pin(&x[1]) && x[1] == 7
	}()
	if !<-done {
		t.Error("a pinned variable moved")
	}
}

//go:noinline
func grow(n int) int {
	var room [64]int
	if n == 0 {
		return room[3]
	}
	room[n%64] = grow(n - 1)
	return room[(n+1)%64] + 1
}
