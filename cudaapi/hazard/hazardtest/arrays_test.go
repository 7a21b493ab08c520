package hazardtest

import (
	"os"
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/nvidia"
	"gocuda/cudaapi/sim"
)

const textureCode = `
__device__ float seen;
__global__ void sample(cudaTextureObject_t t) { if (tex2D<float>(t, threadIdx.x + 0.5f, 0.5f) == 7) seen = 1; }
__global__ void store(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, 4 * threadIdx.x, 0); }
__global__ void fetch(cudaTextureObject_t t) { if (tex1Dfetch<float>(t, threadIdx.x) == 7) seen = 1; }
`

// array is one of 32 rows of 32 numbers, as large as a buffer.
func (e *env) array() *cuda.Array {
	a, err := e.d0.NewArray(cuda.ArrayDesc{Width: 32, Height: 32, Type: cuda.Float32, Surface: true})
	e.check(err)
	return a
}

// objects compiles the kernels that have textures, and launches one, so that it is loaded.
func (e *env) objects(name string, object any) *cuda.Kernel {
	m, err := cuda.Compile(textureCode)
	if err != nil && strings.Contains(err.Error(), "need NVRTC") {
		e.t.Skip("no NVRTC")
	}
	e.check(err)
	k, err := m.Kernel(name)
	e.check(err)
	e.check(k.Launch(cuda.Grid(1), cuda.Block(32), e.def, object))
	e.check(e.d0.Synchronize())
	return k
}

var arrayPrograms = []program{
	{name: "a stream waits for another's copy to an array", run: func(e *env) {
		a := e.array()
		e.first(a.UploadAsync(e.x, e.a))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(a.DownloadAsync(e.y, e.b))
	}},
	{name: "copies to two halves of an array", right: true, run: func(e *env) {
		a := e.array()
		e.check(cuda.Memcpy3DAsync(cuda.Region{Of: a}, cuda.Region{Of: e.x}, 32, 16, 1, e.a))
		e.check(cuda.Memcpy3DAsync(cuda.Region{Of: a, Y: 16}, cuda.Region{Of: e.y}, 32, 16, 1, e.b))
	}},
	{name: "copies to two parts of an array that meet", run: func(e *env) {
		a := e.array()
		e.first(cuda.Memcpy3DAsync(cuda.Region{Of: a}, cuda.Region{Of: e.x}, 17, 17, 1, e.a))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(cuda.Memcpy3DAsync(cuda.Region{Of: a, X: 16, Y: 16}, cuda.Region{Of: e.y}, 16, 16, 1, e.b))
	}},
	{name: "the host waits for a copy from an array", run: func(e *env) {
		a := e.array()
		host, err := e.h.Float32s()
		e.check(err)
		e.first(a.DownloadAsync(e.h, e.a))
		e.needed(e.a.Synchronize)
		e.second(cuda.Memcpy(e.x, host))
	}},
	{name: "a kernel reads a texture of an array that another stream fills", run: func(e *env) {
		a := e.array()
		t, err := cuda.NewTexture(a, cuda.TextureDesc{})
		e.check(err)
		k := e.objects("sample", t)
		e.first(a.UploadAsync(e.x, e.a))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(k.Launch(cuda.Grid(1), cuda.Block(32), e.b, t))
	}},
	{name: "two kernels read textures of one array", right: true, run: func(e *env) {
		t, err := cuda.NewTexture(e.array(), cuda.TextureDesc{})
		e.check(err)
		k := e.objects("sample", t)
		e.check(k.Launch(cuda.Grid(1), cuda.Block(32), e.a, t))
		e.check(k.Launch(cuda.Grid(1), cuda.Block(32), e.b, t))
	}},
	{name: "a kernel writes a surface that another stream copies", run: func(e *env) {
		a := e.array()
		s, err := cuda.NewSurface(a)
		e.check(err)
		k := e.objects("store", s)
		e.first(k.Launch(cuda.Grid(1), cuda.Block(32), e.a, s))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(a.DownloadAsync(e.y, e.b))
	}},
	{name: "a kernel reads a texture of a buffer that another stream fills", run: func(e *env) {
		t, err := cuda.NewTexture(e.x, cuda.TextureDesc{})
		e.check(err)
		k := e.objects("fetch", t)
		e.first(e.fill(e.a, e.x))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(k.Launch(cuda.Grid(1), cuda.Block(32), e.b, t))
	}},
	{name: "a graph's kernel reads a texture of an array that another stream fills", run: func(e *env) {
		a := e.array()
		t, err := cuda.NewTexture(a, cuda.TextureDesc{})
		e.check(err)
		k := e.objects("sample", t)
		x := e.capture(e.b, func() { e.second(k.Launch(cuda.Grid(1), cuda.Block(32), e.b, t)) })
		e.first(a.UploadAsync(e.x, e.a))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.check(x.Launch(e.b))
	}},
}

// The check knows which arrays copies touch, and which textures and surfaces kernels have.
func TestArraysOnSimulatedDevices(t *testing.T) {
	if _, err := sim.Compiler(); err != nil {
		t.Skip(err)
	}
	o := sim.Options{Devices: 1, Memory: 1 << 28}
	if os.Getenv("GOCUDA_NVRTC") != "" {
		o.CUDA, o.PTX = "ptx", nvidia.PTX
	}
	arraysOn(t, func() (driver.Driver, error) { return sim.New(o) })
}

func TestArraysOnGPUs(t *testing.T) {
	if err := nvidia.Available(); err != nil {
		t.Skip(err)
	}
	arraysOn(t, func() (driver.Driver, error) { return nvidia.Open() })
}

func arraysOn(t *testing.T, open func() (driver.Driver, error)) {
	for _, p := range arrayPrograms {
		for _, all := range []bool{true, false} {
			if p.right && !all {
				continue
			}
			t.Run(p.name, func(t *testing.T) {
				d, err := open()
				if err != nil {
					t.Fatal(err)
				}
				use(t, d)
				try(t, p, all)
			})
		}
	}
}
