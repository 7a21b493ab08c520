package sim_test

import (
	"encoding/binary"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// A stencil of five accesses a point, as it is and as it tells what it touches.
func BenchmarkObserved(b *testing.B) {
	if _, err := sim.Compiler(); err != nil {
		b.Skip(err)
	}
	m, err := sim.New(sim.Options{Devices: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	c, err := m.PrimaryRetain(0)
	must(err)
	code, err := m.Compile(0, &driver.Source{Name: "k.cu", Names: []string{"step"}, Code: `
__global__ void step(double *next, const double *now, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || x >= n - 1 || y < 1 || y >= n - 1) return;
    int i = y * n + x;
    next[i] = 0.25 * (now[i - 1] + now[i + 1] + now[i - n] + now[i + n]);
}`})
	must(err)
	mod, err := m.ModuleLoad(c, code.Image)
	must(err)
	f, err := m.ModuleFunction(c, mod, code.Lowered["step"])
	must(err)
	const n = 512
	var params []byte
	for range 2 {
		p, err := m.MemAlloc(c, 8*n*n)
		must(err)
		must(m.Memset(c, p, 0, 1, 8*n*n))
		params = binary.NativeEndian.AppendUint64(params, uint64(p))
	}
	params = binary.NativeEndian.AppendUint32(params, n)
	for name, observe := range map[string]func([]driver.Access){"plain": nil, "observed": func([]driver.Access) {}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				must(m.Launch(c, &driver.Launch{Function: f, Grid: driver.Dim3{X: n / 128, Y: n, Z: 1}, Block: driver.Dim3{X: 128, Y: 1, Z: 1}, Params: params, Observe: observe}))
				must(m.CtxSynchronize(c, nil))
			}
		})
	}
}
