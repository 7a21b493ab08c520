//go:build linux && amd64

package sim_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// A kernel that goes wrong in a way that only the processor sees is an error of
// CUDA, not the end of the process.
func TestSignalsInKernels(t *testing.T) {
	for _, c := range []struct {
		name, before, body string
		want               driver.Code // of several, the one with checks
		text               string
	}{
		{"trap", "", "__builtin_trap();", driver.ErrIllegalInstruction, "thread (5,0,0)"},
		{"int3", "", `asm volatile("int3");`, driver.ErrIllegalInstruction, "thread (5,0,0)"},
		{"assembly writes nowhere", "", `asm volatile("movl $1, 0x10");`, driver.ErrIllegalAddress, "write at 0x10, which is not memory that devices can reach (a nil pointer?)"},
		{"assembly reads nowhere", "", `asm volatile("movl 0x18, %%eax" ::: "eax");`, driver.ErrIllegalAddress, "read at 0x18"},
		{"no such address", "", `asm volatile("movl $1, (%0)" :: "r"(1ul << 63));`, driver.ErrIllegalAddress, "an address that cannot exist"},
		{"a nil function", "", "typedef void (*f)(); volatile f g = nullptr; g();", driver.ErrIllegalAddress, "jump at 0x0"},
		{"code as data", "", "typedef void (*f)(); f g = (f)x; g();", driver.ErrIllegalAddress, "jump at"},
		{"a constant is written", "__constant__ const int c[4] = {1, 2, 3, 4};", "*(volatile int *)(c + (x[0] & 3)) = 1;", driver.ErrIllegalAddress, "write at"},
		{"a string is written", "", `char *s = (char *)"abc"; *(volatile char *)(s + (x[0] & 1)) = 1;`, driver.ErrIllegalAddress, "write at"},
		{"its own code is written", "__global__ void wrong(int *x);", "*(volatile char *)((char *)&wrong + (x[0] & 1)) = 1;", driver.ErrIllegalAddress, "write at"},
		{"printf of no string", "", `printf("%s\n", (char *)(5 + (x[0] & 1)));`, driver.ErrIllegalAddress, ""},
		{"memcpy far away", "", "memcpy(x, (void *)((1ul << 46) + (unsigned long)x[0] * 8), 4000 + (x[0] & 7));", driver.ErrIllegalAddress, "read"},
		{"memset far away", "", "memset((void *)((1ul << 46) + (unsigned long)x[0] * 8), 1, 4000 + (x[0] & 7));", driver.ErrIllegalAddress, "write"},
		{"sincos far away", "", "sincosf(x[0], (float *)(8 + 4 * (unsigned long)(x[0] & 1)), (float *)x);", driver.ErrIllegalAddress, "write"},
		{"a vector not aligned", "", `asm volatile("movaps (%0), %%xmm0" :: "r"((char *)x + 8) : "xmm0");`, driver.ErrMisalignedAddress, "not aligned"},
		{"128 bits by zero", "", "unsigned __int128 a = x[0]; a /= (unsigned __int128)(x[1] - 7); x[2] = (int)a;", driver.ErrLaunchFailed, "division by zero"},
		{"the stack overwritten", "", "int a[8]; for (int i = 0; i < 100000; i++) *(volatile int *)(a + (x[1] & 1) + i) = -1;", 0, ""},
		{"the stack overwritten downwards", "", "int a[8]; for (int i = 0; i < 100000; i++) *(volatile int *)(a + (x[1] & 1) - i) = -1;", 0, ""},
		{"recursion", "__device__ int down(int n) { volatile int a[64]; a[n & 63] = n; return n == 0 ? 0 : down(n + 1) + a[n & 63]; }", "x[0] = down(x[1]);", driver.ErrHardwareStack, "thread (5,0,0)"},
		{"a large array", "", "volatile char a[400000]; a[x[0] * 1000] = 1; x[0] = a[x[1]];", driver.ErrHardwareStack, ""},
		{"alloca", "", "volatile char *a = (volatile char *)__builtin_alloca(300000 * (x[1] & 7)); a[0] = a[100000] = 1; x[0] = a[x[1]];", driver.ErrHardwareStack, ""},
	} {
		for _, unchecked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/unchecked=%v", c.name, unchecked), func(t *testing.T) {
				b := newBox(t, sim.Options{Devices: 1, NoCheck: unchecked})
				code := "#include <cstdio>\n" + c.before + "\n__global__ void wrong(int *x) { if (threadIdx.x == 5 && blockIdx.x == 0) { " + c.body + " } }"
				for range 2 { // and again, on the old stacks
					x := upload(b, []int32{7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7})
					b.ok(b.launch(b.kernel(code), dim(3), dim(64), 0, x))
					err := b.sync()
					var e *driver.Error
					switch {
					case !errors.As(err, &e):
						t.Fatalf("%v", err)
					case c.want == 0 || unchecked && e.Code.Sticky():
						t.Log(err)
					case e.Code != c.want || !strings.Contains(err.Error(), c.text):
						t.Errorf("%v", err)
					}
					b.ok(b.d.PrimaryReset(0))
					b.c = retain(t, b.d, 0)
				}
			})
		}
	}
}

// A kernel that prints what is no string leaves the output to others.
func TestPrintAfterASignal(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1})
	for i := range 3 {
		x := upload(b, []int32{5})
		b.ok(b.launch(b.kernel(`__global__ void wrong(int *x) { printf("%s", (char *)(long)x[0]); }`), dim(1), dim(1), 0, x))
		if err := b.sync(); !errors.Is(err, driver.ErrIllegalAddress) {
			t.Fatal(err)
		}
		b.ok(b.d.PrimaryReset(0))
		b.c = retain(t, b.d, 0)
		x = upload(b, []int32{int32(i)})
		b.ok(b.launch(b.kernel(`__global__ void right(int *x) { printf("%d%s", x[0], "\n"); }`), dim(1), dim(1), 0, x))
		soon(t, "the output", b.sync)
	}
}

// Many workers at once: some fail, some do not, some are ended.
func TestSignalsOnManyWorkers(t *testing.T) {
	const machines, rounds = 4, 6
	var wait sync.WaitGroup
	for range machines {
		b := newBox(t, sim.Options{Devices: 1})
		wait.Go(func() {
			for n := range rounds {
				x := upload(b, make([]int32, 4096))
				add := b.kernel(`__global__ void add(int *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += i; __syncthreads(); }`)
				for range 20 {
					b.ok(b.launch(add, dim(16), dim(256), 0, x, 4096))
				}
				b.ok(b.sync())
				for i, v := range download[int32](b, x, 4096) {
					if int(v) != 20*i {
						t.Fatalf("%d at %d", v, i)
					}
				}
				wrong := b.kernel(`__global__ void wrong(int at) { __syncthreads(); if (blockIdx.x == at) asm volatile("movl $1, 0x10"); for (;;); }`)
				b.ok(b.launch(wrong, dim(4), dim(512), 0, n%4))
				if err := b.sync(); !errors.Is(err, driver.ErrIllegalAddress) || !strings.Contains(err.Error(), fmt.Sprintf("block (%d,0,0)", n%4)) {
					t.Errorf("%v", err)
				}
				b.ok(b.d.PrimaryReset(0))
				b.c = retain(t, b.d, 0)
			}
		})
	}
	wait.Wait()
}
