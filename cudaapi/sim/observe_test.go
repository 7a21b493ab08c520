package sim_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// compiles gives a device whose kernels a compiler makes.
func compiles(t *testing.T) (*sim.Driver, driver.Context) {
	t.Helper()
	if _, err := sim.Compiler(); err != nil {
		t.Skip(err)
	}
	m, err := sim.New(sim.Options{Devices: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	c, err := m.PrimaryRetain(0)
	if err != nil {
		t.Fatal(err)
	}
	return m, c
}

// A kernel that is observed tells the bytes that it read, wrote and changed by
// atomic operations, and no others.
func TestObserve(t *testing.T) {
	m, c := compiles(t)
	code, err := m.Compile(0, &driver.Source{Name: "k.cu", Names: []string{"k"}, Code: `
__device__ int counter[3];
struct Point { float x, y, z; };
__global__ void k(float *x, const unsigned char *y, unsigned *z, int n, Point *p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    x[i * 4] = y[i] + 1;    // one float in four
    atomicAdd(z, 1u);
    if (i == 7) z[1] = 2;
    if (i == 8) { counter[n - 4997] = counter[n - 4999]; atomicAdd(&counter[1], 1); } // an index that is a constant is not seen
    x[i * 4 + 1] += y[i];             // the compiler checks the load alone
    float v = x[i * 4 + 2];
    if (v > -1) x[i * 4 + 2] = v * 2; // here too
    p[2 * i] = p[2 * i + 1];          // of an odd size
}`})
	if err != nil {
		t.Fatal(err)
	}
	mod, err := m.ModuleLoad(c, code.Image)
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.ModuleFunction(c, mod, code.Lowered["k"])
	if err != nil {
		t.Fatal(err)
	}
	const n = 5000
	alloc := func(bytes uint64) driver.Ptr {
		p, err := m.MemAlloc(c, bytes)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Memset(c, p, 0, 1, bytes); err != nil {
			t.Fatal(err)
		}
		return p
	}
	x, y, z, points := alloc(16*n), alloc(n), alloc(8), alloc(24*n)
	params := make([]byte, 40)
	for i, p := range []driver.Ptr{x, y + 1, z} { // y from an odd address on
		binary.LittleEndian.PutUint64(params[8*i:], uint64(p))
	}
	binary.LittleEndian.PutUint32(params[24:], n-1)
	binary.LittleEndian.PutUint64(params[32:], uint64(points))
	var got []driver.Access
	for range 2 { // the second launch finds no marks of the first
		got = nil
		err := m.Launch(c, &driver.Launch{Function: f, Grid: driver.Dim3{X: n / 100, Y: 1, Z: 1}, Block: driver.Dim3{X: 100, Y: 1, Z: 1}, Params: params,
			Observe: func(list []driver.Access) { got = append(got, list...) }})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.CtxSynchronize(c, nil); err != nil {
			t.Fatal(err)
		}
	}
	var want []driver.Access
	for i := range driver.Ptr(n - 1) {
		want = append(want, driver.Access{Lo: x + 16*i + 4, Hi: x + 16*i + 12, Mode: driver.AccessRead})
	}
	want = append(want, driver.Access{Lo: y + 1, Hi: y + n, Mode: driver.AccessRead})
	for i := range driver.Ptr(n - 1) {
		want = append(want, driver.Access{Lo: points + 24*i + 12, Hi: points + 24*i + 24, Mode: driver.AccessRead})
	}
	for i := range driver.Ptr(n - 1) {
		want = append(want, driver.Access{Lo: x + 16*i, Hi: x + 16*i + 12, Mode: driver.AccessWrite})
	}
	writes := len(want)
	for i := range driver.Ptr(n - 1) {
		want = append(want, driver.Access{Lo: points + 24*i, Hi: points + 24*i + 12, Mode: driver.AccessWrite})
	}
	want = slices.Insert(want, writes, driver.Access{Lo: z + 4, Hi: z + 8, Mode: driver.AccessWrite})
	want = append(want, driver.Access{Lo: z, Hi: z + 4, Mode: driver.AccessAtomic})
	counter, _, err := m.ModuleGlobal(c, mod, "counter")
	if err != nil {
		t.Fatal(err)
	}
	for i, mode := range []driver.AccessMode{driver.AccessRead, driver.AccessWrite, driver.AccessAtomic} {
		p := counter + driver.Ptr([]int{0, 8, 4}[i])
		want = append(want, driver.Access{Lo: p, Hi: p + 4, Mode: mode})
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d ranges instead of %d; the last: %v, not %v", len(got), len(want), got[max(0, len(got)-4):], want[len(want)-4:])
	}
}

// In loops the compiler moves the pointer between the check of a load and the store to
// its place, for which the check stands too.
func TestObserveLoops(t *testing.T) {
	m, c := compiles(t)
	const n, bytes = 100, 64 // bodies, and what one takes
	for name, k := range map[string]struct {
		body   string
		writes [][2]uint64 // in a body
	}{
		"scaled":       {`for (int k = 0; k < 3; k++) b[i].at[k] = b[i].at[k] + by * b[i].speed[k];`, [][2]uint64{{0, 12}}},
		"back":         {`for (int k = 2; k >= 0; k--) b[i].speed[k] *= by + b[i].at[k];`, [][2]uint64{{12, 24}}},
		"far":          {`for (int k = 0; k < 4; k++) b[i].more[k] += by * b[i].at[k % 3] + b[i].mass;`, [][2]uint64{{32, 64}}},
		"pointers":     {`const float *v = b[i].speed; for (float *p = b[i].at; p < b[i].at + 3; p++, v++) *p = *p * *v + by;`, [][2]uint64{{0, 12}}},
		"if":           {`for (int k = 0; k < 3; k++) if (b[i].at[k] < by) b[i].at[k] = by * b[i].speed[k];`, [][2]uint64{{0, 12}}},
		"swapped":      {`for (int k = 0; k < 3; k++) { float v = b[i].at[k]; b[i].at[k] = b[i].speed[k]; b[i].speed[k] = v * by; }`, [][2]uint64{{0, 24}}},
		"not read":     {`for (int k = 0; k < 3; k++) b[i].at[k] = by * b[i].speed[k];`, [][2]uint64{{0, 12}}},
		"read alone":   {`float s = 0; for (int k = 0; k < 3; k++) s += by * b[i].at[k] * b[i].speed[k]; b[i].mass = s;`, [][2]uint64{{24, 28}}},
		"larger":       {`b[i].mass = b[i].mass > by ? b[i].mass : by;`, [][2]uint64{{24, 28}}},
		"largest":      {`float v = b[i].mass, w = b[i].at[0]; b[i].mass = v != v || w != w ? v + w : v > w ? v : v < w ? w : signbit(v) ? w : v;`, [][2]uint64{{24, 28}}},
		"all larger":   {`for (int k = 0; k < 3; k++) { float v = b[i].at[k], w = b[i].speed[k]; b[i].at[k] = v != v || w != w ? v + w : v > w ? v : v < w ? w : signbit(v) ? w : v; }`, [][2]uint64{{0, 12}}},
		"cases":        {`for (int k = 0; k < 3; k++) { float v = b[i].at[k]; switch (int(v * 16)) { case 0: v = by; break; case 1: v += b[i].mass; break; case 2: v = sinf(v); break; case 7: v *= v; } b[i].at[k] = v; }`, [][2]uint64{{0, 12}}},
		"searched":     {`float v = b[i].mass; int k = 0; while (k < 3 && b[i].at[k] <= by) { v += b[i].at[k]; k++; } b[i].mass = v;`, [][2]uint64{{24, 28}}},
		"shifted":      {`for (int k = 0; k < 2; k++) b[i].at[k] = b[i].at[k + 1] * by;`, [][2]uint64{{0, 8}}},
		"shifted back": {`for (int k = 2; k > 0; k--) b[i].at[k] = b[i].at[k - 1] * by;`, [][2]uint64{{4, 12}}},
	} {
		t.Run(name, func(t *testing.T) {
			code, err := m.Compile(0, &driver.Source{Name: "k.cu", Names: []string{"k"}, Code: `
struct Body { float at[3], speed[3], mass; bool fixed; double more[4]; };
__global__ void k(Body *b, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { ` + k.body + ` }
}`})
			if err != nil {
				t.Fatal(err)
			}
			mod, err := m.ModuleLoad(c, code.Image)
			if err != nil {
				t.Fatal(err)
			}
			f, err := m.ModuleFunction(c, mod, code.Lowered["k"])
			if err != nil {
				t.Fatal(err)
			}
			b, err := m.MemAlloc(c, n*bytes)
			if err == nil {
				err = m.Memset(c, b, 0, 1, n*bytes)
			}
			if err != nil {
				t.Fatal(err)
			}
			params := make([]byte, 16)
			binary.LittleEndian.PutUint64(params, uint64(b))
			binary.LittleEndian.PutUint32(params[8:], 0x40000000) // 2
			binary.LittleEndian.PutUint32(params[12:], n)
			var got, want []driver.Access
			err = m.Launch(c, &driver.Launch{Function: f, Grid: driver.Dim3{X: 2, Y: 1, Z: 1}, Block: driver.Dim3{X: 64, Y: 1, Z: 1}, Params: params,
				Observe: func(list []driver.Access) {
					for _, a := range list {
						if a.Mode == driver.AccessWrite {
							got = append(got, a)
						}
					}
				}})
			if err == nil {
				err = m.CtxSynchronize(c, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range driver.Ptr(n) {
				for _, w := range k.writes {
					want = append(want, driver.Access{Lo: b + i*bytes + driver.Ptr(w[0]), Hi: b + i*bytes + driver.Ptr(w[1]), Mode: driver.AccessWrite})
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d writes instead of %d: %v, not %v", len(got), len(want), got[:min(3, len(got))], want[:3])
			}
		})
	}
}
