package sim_test

import (
	"fmt"
	"testing"
	"time"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// BenchmarkFirstLaunch compiles a kernel that nobody compiled before, checked and unchecked.
func BenchmarkFirstLaunch(b *testing.B) {
	for _, unchecked := range []bool{false, true} {
		b.Run(map[bool]string{false: "checked", true: "unchecked"}[unchecked], func(b *testing.B) {
			x := newBox(b, throughPTX(b, sim.Options{Devices: 1, NoCheck: unchecked}))
			for b.Loop() {
				code := fmt.Sprintf("__global__ void k(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += %d * x[i]; }", time.Now().UnixNano()>>10&0xffffff) // a float holds it
				if _, err := x.d.Compile(0, &driver.Source{Name: "first.cu", Code: code}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
