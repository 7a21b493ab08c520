package native_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"gocuda/cudaapi/gokernel"
	"gocuda/cudaapi/native"
)

// memoryPrograms compiles what programs_test.go has.
func memoryPrograms(t *testing.T) map[string]*native.Func {
	t.Helper()
	_, source, _ := strings.Cut(programsSource, "type node struct")
	_, maps, _ := strings.Cut(mapProgramsSource, "type point struct")
	funcs, err := compiled(t, "package main\n\ntype node struct"+source+"\ntype point struct"+maps)
	if err != nil {
		t.Fatal(err)
	}
	return funcs
}

// outcome is what a program writes, and how it panics.
func outcome(run func(out []int64)) (out []int64, panics string) {
	out = make([]int64, 32)
	defer func() {
		if v := recover(); v != nil {
			panics = strings.TrimPrefix(fmt.Sprint(v), "runtime error: ")
		}
	}()
	run(out)
	return out, ""
}

func natively(t *testing.T, f *native.Func) (out []int64, panics string) {
	frame := &struct{ out []int64 }{make([]int64, 32)}
	switch o := f.Call(unsafe.Pointer(frame), nil); {
	case o.State == native.Returned:
	case o.Site.What == gokernel.IndexRange:
		panics = fmt.Sprintf("index out of range [%d]", o.Args[0])
		if o.Args[0] >= 0 {
			panics += fmt.Sprintf(" with length %d", o.Args[1])
		}
	case o.Site.What == gokernel.DivideByZero:
		panics = "integer divide by zero"
	case o.Site.What == gokernel.NilPointer:
		panics = "invalid memory address or nil pointer dereference"
	case o.Site.What == gokernel.NegativeShift:
		panics = "negative shift amount"
	case o.Value != nil:
		panics = fmt.Sprint(o.Value)
	default:
		panics = o.Site.Text
	}
	return frame.out, panics
}

// Functions that need memory do what they do compiled by Go, also while the collector
// runs all the time, others run beside them, and little is kept for them.
func TestMemory(t *testing.T) {
	funcs := memoryPrograms(t)
	defer native.KeepLittle(16)()
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range rounds {
				for _, p := range slices.Concat(programs, mapPrograms) {
					want, wantPanic := outcome(p.run)
					if got, panics := natively(t, funcs[p.name]); !slices.Equal(got, want) || panics != wantPanic {
						t.Errorf("%s: %v %q, compiled by Go %v %q", p.name, got, panics, want, wantPanic)
					}
					runtime.GC()
				}
			}
		})
	}
	wait.Wait()
}
