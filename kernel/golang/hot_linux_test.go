package golang

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var (
	hotCells  = flag.Int("hot", 300, "how many cells TestHotCells runs")
	hotRounds = flag.Int("rounds", 1000, "how many rounds the loops of TestHotCells have")
)

// A cell with a function and two loops costs little memory for ever, whether it declares a
// new function or replaces the last one.
func TestHotCells(t *testing.T) {
	const most, first = 20 << 10, 150 // bytes; the interpreter has the functions of the last 100 cells
	for _, test := range []struct {
		name  string
		again bool
	}{{"new functions", false}, {"the same function", true}} {
		t.Run(test.name, func(t *testing.T) {
			ev, err := New(Options{Stdout: io.Discard, Stderr: io.Discard})
			if err != nil {
				t.Fatal(err)
			}
			run := func(i int) {
				name := i
				if test.again {
					name = 0
				}
				code := fmt.Sprintf("func work%[1]d(n int) (sum int) {\n\tfor i := 0; i < n; i++ {\n\t\tif i%%3 == 0 {\n\t\t\tsum += i * %[2]d\n\t\t} else {\n\t\t\tsum ^= i\n\t\t}\n\t}\n\treturn sum\n}\nr%[1]d := 0\nfor i := range %[3]d {\n\tr%[1]d += i\n}\nr%[1]d + work%[1]d(%[3]d)", name, i, *hotRounds)
				if r := ev.Eval(fmt.Sprintf("In[%d]", i), code, false); r.Err != nil {
					t.Fatal(r.Err)
				}
			}
			for i := range first {
				run(i)
			}
			heap, processor, begun := heapInUse(), processorTime(t), time.Now()
			for i := range *hotCells {
				run(first + i)
			}
			took, wall := processorTime(t)-processor, time.Since(begun)
			each := (int(heapInUse()) - int(heap)) / *hotCells
			t.Logf("%d cells: %d bytes each, %v of processor time, %v", *hotCells, each, took/time.Duration(*hotCells), wall/time.Duration(*hotCells))
			if each > most {
				t.Errorf("a cell costs %d bytes, at most %d are expected", each, most)
			}
			runtime.KeepAlive(ev)
		})
	}
}

func heapInUse() uint64 {
	for range 3 { // what one collection finds dead, the next one frees
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func processorTime(t *testing.T) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A cell that waits for the compiler ends when it is interrupted, not when the compiler does.
func TestInterruptWhileCompiling(t *testing.T) {
	needsCompiler(t)
	cache := t.TempDir()
	t.Setenv("GOCUDA_CACHE", cache)
	locks := filepath.Join(cache, "cells", "locks")
	if err := os.MkdirAll(locks, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 256 { // another process compiles whatever this one is to compile
		f, err := os.Create(filepath.Join(locks, fmt.Sprintf("%02x", i)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
			t.Fatal(err)
		}
	}
	s := newSession(t)
	warm := func() bool {
		for _, l := range s.ev.loops.numbers.all() {
			s.ev.loops.mu.Lock()
			state := l.state
			s.ev.loops.mu.Unlock()
			if state == loopWarm && l.loop.Call { // Call was set before
				return true
			}
		}
		return false
	}
	go func() {
		for !warm() {
			time.Sleep(time.Millisecond)
		}
		s.ev.Interrupt()
	}()
	res := s.ev.Eval("In[1]", "xs := make([]int, 3000)\n\nsort.Slice(xs, func(i, j int) bool { return xs[i] < xs[j] })", false)
	if res.Err == nil || !strings.HasPrefix(res.Err.Name, "Interrupted") || !strings.Contains(res.Err.Plain(), "In[1]:3") {
		t.Error(res.Err)
	}
	for end := time.Now().Add(20 * time.Second); len(s.ev.rt.Live()) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the cell goes on")
		}
	}
	if !warm() {
		t.Error("nothing is being compiled")
	}
}
