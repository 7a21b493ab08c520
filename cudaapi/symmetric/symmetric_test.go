package symmetric_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/ipctest"
	"gocuda/cudaapi/nvidia"
	"gocuda/cudaapi/sim"
	"gocuda/cudaapi/symmetric"
)

func ok(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// devices are simulated ones, or GPUs where GOCUDA_BACKEND says so.
func devices(t *testing.T, n int) []*cuda.Device {
	t.Helper()
	if os.Getenv("GOCUDA_BACKEND") == "nvidia" {
		gpus.Do(func() {
			d, err := nvidia.Open()
			ok(t, err)
			ok(t, cuda.Use(d))
		})
		all, err := cuda.Devices()
		ok(t, err)
		if len(all) < n {
			t.Skipf("%d GPUs are needed", n)
		}
		return all[:n]
	}
	if _, err := sim.Compiler(); err != nil {
		t.Skip(err)
	}
	_, all := ipctest.New(t, sim.Options{Devices: n, Memory: 1 << 30})
	return all
}

var gpus sync.Once

// within fails the test if f does not end.
func within(t *testing.T, d time.Duration, f func() error) {
	t.Helper()
	over := make(chan error, 1)
	go func() { over <- f() }()
	select {
	case err := <-over:
		ok(t, err)
	case <-time.After(d):
		t.Fatal("it waits for ever")
	}
}

const inCUDA = `
#include <gocuda/symmetric.h>
extern "C" __global__ void sum(gocuda::symmetric<float> w, float *out, int n) {
    w.barrier();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float total = 0;
        for (int p = 0; p < w.size(); p++) total += w.peer(p)[i];
        out[i] = total;
    }
    w.barrier();
}
extern "C" __global__ void ring(gocuda::symmetric<float> w, const float *in, float *out, int n) {
    w.put_signal((w.rank() + 1) % w.size(), 0, in, n, 7);
    w.wait(7);
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = w.local()[i];
}
extern "C" __global__ void lonely(gocuda::symmetric<float> w, int *got) {
    *got = w.wait_until(3, 1);
}
`

const inGo = `
func sum(w gpu.Symmetric[float32], out []float32) {
	w.Barrier()
	for i := gpu.GridRank(); i < len(out); i += gpu.GridSize() {
		total := float32(0)
		for p := range w.Size() {
			total += w.Peer(p)[i]
		}
		out[i] = total
	}
	w.Barrier()
}

func ring(w gpu.Symmetric[float32], in, out []float32) {
	w.PutSignal((w.Rank()+1)%w.Size(), 0, in, 7)
	w.Wait(7, 1)
	for i := gpu.ThreadIdx.X; i < len(out); i += gpu.BlockDim.X {
		out[i] = w.Local()[i]
	}
}

func lonely(w gpu.Symmetric[float32], got []bool) { got[0] = w.WaitUntil(3, 1) }
`

// TestKernels: an all-reduce and a ring written by a user, in both languages, again and
// again.
func TestKernels(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		for _, lang := range []string{"CUDA C++", "Go"} {
			t.Run(fmt.Sprint(lang, ", ", n, " devices"), func(t *testing.T) {
				devs := devices(t, n)
				var mod *cuda.Module
				var err error
				if lang == "Go" {
					mod, err = cuda.CompileGo(inGo)
				} else {
					mod, err = cuda.Compile(inCUDA)
				}
				ok(t, err)
				sum, err := mod.Kernel("sum")
				ok(t, err)
				ring, err := mod.Kernel("ring")
				ok(t, err)
				const length, rounds = 1000, 5
				all, err := symmetric.NewLocal(devs, length, cuda.Float32)
				ok(t, err)
				outs := make([]*cuda.Buffer, n)
				ins := make([]*cuda.Buffer, n)
				for r, d := range devs {
					outs[r], err = d.Alloc(length, cuda.Float32)
					ok(t, err)
					ins[r], err = d.Alloc(length, cuda.Float32)
					ok(t, err, ins[r].Fill(float32(10*r), nil))
				}
				within(t, time.Minute, func() error {
					for round := range rounds {
						for r := range devs {
							args := []any{all[r], outs[r]}
							if lang != "Go" {
								args = append(args, length)
							}
							if err := errors.Join(all[r].Local().Fill(float32(r+round), nil), sum.Launch(cuda.Grid(3), cuda.Block(64), devs[r].DefaultStream(), args...)); err != nil {
								return err
							}
						}
						for r := range devs {
							got, err := outs[r].Float32s()
							want := float32(n*round + n*(n-1)/2)
							if err != nil || got[0] != want || got[length-1] != want {
								return fmt.Errorf("round %d, rank %d: %v %v, not %v: %v", round, r, got[0], got[length-1], want, err)
							}
						}
						for r := range devs {
							args := []any{all[r], ins[r], outs[r]}
							if lang != "Go" {
								args = append(args, length)
							}
							if err := errors.Join(all[r].Barrier(nil), ring.Launch(cuda.Grid(1), cuda.Block(96), devs[r].DefaultStream(), args...), all[r].Barrier(nil)); err != nil {
								return err
							}
						}
						for r := range devs {
							got, err := outs[r].Float32s()
							want := float32(10 * ((r + n - 1) % n))
							if err != nil || got[0] != want || got[length-1] != want {
								return fmt.Errorf("round %d, rank %d has %v %v, not %v: %v", round, r, got[0], got[length-1], want, err)
							}
						}
					}
					return nil
				})
				for _, m := range all {
					ok(t, m.Close())
				}
			})
		}
	}
}

// TestStop: a kernel that waits for a signal which never comes ends when the memory is
// stopped, and the wait for the device says why, once.
func TestStop(t *testing.T) {
	for _, lang := range []string{"CUDA C++", "Go"} {
		t.Run(lang, func(t *testing.T) {
			d := devices(t, 1)[0]
			var mod *cuda.Module
			var err error
			typ := cuda.Int32
			if lang == "Go" {
				mod, err = cuda.CompileGo(inGo)
				typ = cuda.Uint8
			} else {
				mod, err = cuda.Compile(inCUDA)
			}
			ok(t, err)
			k, err := mod.Kernel("lonely")
			ok(t, err)
			all, err := symmetric.NewLocal([]*cuda.Device{d}, 1, cuda.Float32)
			ok(t, err)
			got, err := d.Alloc(1, typ)
			ok(t, err)
			ok(t, got.Memset(1), k.Launch(cuda.Grid(1), cuda.Block(1), d.DefaultStream(), all[0], got))
			within(t, 20*time.Second, func() error {
				stop := make(chan struct{})
				cuda.SetInterrupt(stop)
				time.AfterFunc(50*time.Millisecond, func() { close(stop) })
				err := d.Synchronize()
				cuda.SetInterrupt(nil)
				if !errors.Is(err, cuda.ErrInterrupted) {
					return fmt.Errorf("the interrupted wait: %v", err)
				}
				if err := d.Synchronize(); err == nil || !strings.Contains(err.Error(), "symmetric memory was stopped") {
					return fmt.Errorf("the next wait: %v", err)
				}
				return d.Synchronize()
			})
			if err := k.Launch(cuda.Grid(1), cuda.Block(1), d.DefaultStream(), all[0], got); err == nil || !strings.Contains(err.Error(), "stopped") {
				t.Errorf("a launch with memory that was stopped: %v", err)
			}
			ok(t, all[0].Close(), got.Free())
		})
	}
}
