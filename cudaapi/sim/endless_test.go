//go:build linux

package sim_test

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// A reset ends kernels that would never end, however they go on.
func TestResetEndsEndlessKernels(t *testing.T) {
	for _, c := range []struct{ name, body string }{
		{"memory", "for (;;) x[0]++;"},
		{"volatile memory", "for (;;) *(volatile int *)x = 1;"},
		{"a flag", "while (*(volatile int *)x == 7);"},
		{"barriers", "for (;;) __syncthreads();"},
		{"nothing", "for (;;);"},
		{"a register", `for (unsigned n = 1;;) asm volatile("imul $3, %0" : "+r"(n));`},
		{"the mathematical library", `for (volatile double y = 1;;) y = sin(y) + pow(y, 1.5);`},
		{"printing", `for (;;) printf("%s", "");`},
		{"memory of the heap", `for (;;) { void *p = malloc(100); asm volatile("" :: "r"(p)); free(p); }`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOARCH != "amd64" {
				t.Skip("no signal ends kernels here")
			}
			b := newBox(t, sim.Options{Devices: 1})
			d := b.d
			before, _, err := d.MemInfo(b.c)
			b.ok(err)
			x := upload(b, []int32{7, 7})
			k := b.kernel(`__global__ void endless(int *x) { ` + c.body + ` }`)
			b.ok(b.launch(k, dim(2), dim(32), 0, x))
			stop := make(chan struct{})
			time.AfterFunc(50*time.Millisecond, func() { close(stop) })
			if err := b.d.CtxSynchronize(b.c, stop); !errors.Is(err, driver.ErrInterrupted) {
				t.Fatal(err)
			}
			soon(t, "the reset", func() error { return d.PrimaryReset(0) })
			// And the device works again, with all its memory.
			b.c = retain(t, d, 0)
			if after, _, err := d.MemInfo(b.c); err != nil || after != before {
				t.Errorf("%d bytes of memory are free, before %d (%v)", after, before, err)
			}
			y := upload(b, []int32{1})
			b.ok(d.Memset(b.c, y, 3, 4, 1))
			b.ok(b.sync())
			if got := download[int32](b, y, 1)[0]; got != 3 {
				t.Errorf("%d", got)
			}
		})
	}
}
