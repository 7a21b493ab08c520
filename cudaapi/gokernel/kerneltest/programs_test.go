// Package kerneltest compares kernels in Go with the same Go on the CPU.
package kerneltest

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/gokernel/kerneltest/testdata/programs"
)

const elements = 64

// onCPU runs a program as compiled Go, and returns what it panicked with.
func onCPU(run func([]int64, []float64), out []int64, f []float64) (message string) {
	defer func() {
		if p := recover(); p != nil {
			message = strings.TrimPrefix(fmt.Sprint(p), "runtime error: ")
		}
	}()
	run(out, f)
	return ""
}

var modules sync.Map // of the files

func compiled(t *testing.T, file string) *cuda.Module {
	get, _ := modules.LoadOrStore(file, sync.OnceValues(func() (*cuda.Module, error) {
		text, err := programs.Sources.ReadFile(file)
		if err != nil {
			return nil, err
		}
		return cuda.CompileGo(string(text), cuda.SourceName(file), cuda.Flag("--fmad=false"))
	}))
	m, err := get.(func() (*cuda.Module, error))()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// What a program writes, and how it panics, is the same on a device.
func TestPrograms(t *testing.T) {
	d, err := cuda.CurrentDevice()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs.All {
		t.Run(p.Name, func(t *testing.T) {
			k, err := compiled(t, p.File).Kernel(p.Name)
			if err != nil {
				t.Fatal(err)
			}
			out, f := make([]int64, elements), make([]float64, elements)
			message := onCPU(p.Run, out, f)
			same := func(where string, err error, gotOut []int64, gotF []float64) {
				t.Helper()
				if message == "" && err != nil || message != "" && (err == nil || !strings.Contains(err.Error(), short(message)) || !strings.Contains(err.Error(), "kernel "+p.Name)) {
					t.Errorf("%s: %v; on the CPU: %q", where, err, message)
				}
				for i := range out {
					if gotOut[i] != out[i] {
						t.Errorf("%s: out[%d] is %d, on the CPU %d", where, i, gotOut[i], out[i])
					}
					if same := math.Float64bits(gotF[i]) == math.Float64bits(f[i]) || gotF[i] != gotF[i] && f[i] != f[i]; !same {
						t.Errorf("%s: f[%d] is %v, on the CPU %v", where, i, gotF[i], f[i])
					}
				}
			}
			eOut, eF := make([]int64, elements), make([]float64, elements)
			same("emulated", k.Emulate(cuda.Grid(1), cuda.Block(1), eOut, eF), eOut, eF)
			dOut, err := d.Upload(make([]int64, elements))
			if err != nil {
				t.Fatal(err)
			}
			dF, err := d.Upload(make([]float64, elements))
			if err != nil {
				t.Fatal(err)
			}
			if err := k.Launch(cuda.Grid(1), cuda.Block(1), nil, dOut, dF); err != nil {
				t.Fatal(err)
			}
			err = d.Synchronize()
			panicked := err
			gotOut, err := dOut.Int64s()
			if err != nil {
				t.Fatal(err)
			}
			gotF, err := dF.Float64s()
			if err != nil {
				t.Fatal(err)
			}
			same("on the device", panicked, gotOut, gotF)
		})
	}
}

// short is the part of Go's message that a kernel gives, too.
func short(message string) string {
	for _, whole := range []string{"nil pointer dereference", "integer divide by zero", "negative shift amount", "slice bounds out of range"} {
		if strings.Contains(message, whole) {
			return whole
		}
	}
	if before, _, ok := strings.Cut(message, " [-"); ok { // Go leaves out the length there
		return before
	}
	return message
}
