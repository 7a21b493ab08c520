package cuda_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/nvidia"
	"gocuda/cudaapi/sim"
)

// textured compiles CUDA C++ with textures: simulated devices need NVRTC for it.
func textured(t *testing.T, d *cuda.Device, code, name string) *cuda.Kernel {
	t.Helper()
	m, err := cuda.Compile(code)
	if err != nil && strings.Contains(err.Error(), "need NVRTC") {
		t.Skip("no NVRTC")
	}
	ok(t, err)
	return kernel(t, m, name)
}

// withTextures runs a test on both schedules, through NVRTC where GOCUDA_NVRTC names one, or on a GPU.
func withTextures(t *testing.T, f func(t *testing.T, d *cuda.Device)) {
	devices(t, 1)
	if info, err := cuda.Backend(); err != nil || info.Name != "sim" || os.Getenv("GOCUDA_NVRTC") == "" {
		schedules(t, f)
		return
	}
	for name, adversarial := range map[string]bool{"usual": false, "adversarial": true} {
		t.Run(name, func(t *testing.T) {
			restore, err := cuda.UseUntil(must[*sim.Driver](t)(sim.New(sim.Options{Devices: 2, Memory: 1 << 26, Seed: 7, Adversarial: adversarial, CUDA: "ptx", PTX: nvidia.PTX})))
			ok(t, err)
			defer restore()
			f(t, devices(t, 1)[0])
		})
	}
}

func numbers(n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(i)
	}
	return s
}

func TestArrays(t *testing.T) {
	schedules(t, func(t *testing.T, d *cuda.Device) {
		a := must[*cuda.Array](t)(d.NewArray(cuda.ArrayDesc{Width: 4, Height: 3, Depth: 2, Type: cuda.Float32}))
		ok(t, a.Upload(numbers(24)))
		got := make([]float32, 24)
		ok(t, a.Download(got))
		if !slices.Equal(got, numbers(24)) {
			t.Error(got)
		}
		part := make([]float32, 4)
		ok(t, cuda.Memcpy3D(cuda.Region{Of: part}, cuda.Region{Of: a, X: 1, Y: 1}, 2, 1, 2))
		if !slices.Equal(part, []float32{5, 6, 17, 18}) {
			t.Error(part)
		}
		b, pitch, err := d.AllocPitch(3, 2, cuda.Float32)
		ok(t, err)
		ok(t, b.Memset(0))
		s := d.DefaultStream()
		ok(t, cuda.Memcpy3DAsync(cuda.Region{Of: b, Pitch: pitch}, cuda.Region{Of: a, Z: 1}, 3, 2, 1, s))
		row := must[[]float32](t)(b.Slice(pitch, pitch+4).Float32s())
		if !slices.Equal(row, []float32{16, 17, 18, 0}) {
			t.Error(row)
		}
		ok(t, a.UploadAsync(make([]float32, 24), s))
		ok(t, a.DownloadAsync(got, s))
		ok(t, s.Synchronize())
		if slices.Max(got) != 0 {
			t.Error(got)
		}
		pixels := must[*cuda.Array](t)(d.NewArray(cuda.ArrayDesc{Width: 2, Type: cuda.Uint8, Channels: 4}))
		ok(t, pixels.Upload([][4]byte{{1, 2, 3, 4}, {5, 6, 7, 8}}))
		raw := make([]byte, 8)
		ok(t, pixels.Download(raw))
		if !slices.Equal(raw, []byte{1, 2, 3, 4, 5, 6, 7, 8}) {
			t.Error(raw)
		}
		if s := pixels.String(); s != "array of Uint8 (2, 4 channels) on device 0" {
			t.Error(s)
		}
		ok(t, a.Free())
		refused(t, a.Free(), driver.ErrInvalidValue, "the array was freed before")
		refused(t, a.Upload(got), driver.ErrInvalidValue, "the array was freed before")
	})
}

func TestArraysThatAreNone(t *testing.T) {
	d := devices(t, 1)[0]
	for want, desc := range map[string]cuda.ArrayDesc{
		"elements of Float64":           {Width: 1, Type: cuda.Float64},
		"3 channels":                    {Width: 1, Type: cuda.Float32, Channels: 3},
		"the width is at least 1":       {Type: cuda.Float32},
		"a depth without a height":      {Width: 1, Depth: 2, Type: cuda.Float32},
		"has no layers and no faces":    {Width: 1, Height: 1, Depth: 2, Layers: 2, Type: cuda.Float32},
		"as high as wide, not 2 by 1":   {Width: 2, Height: 1, Cube: true, Type: cuda.Float32},
		"arrays of two dimensions":      {Width: 2, Gather: true, Type: cuda.Float32},
		"larger than the device allows": {Width: 1 << 29, Type: cuda.Float32},
	} {
		_, err := d.NewArray(desc)
		refused(t, err, driver.ErrInvalidValue, want)
	}
	a := must[*cuda.Array](t)(d.NewArray(cuda.ArrayDesc{Width: 4, Height: 3, Type: cuda.Float32}))
	refused(t, a.Upload(make([]float32, 11)), driver.ErrInvalidValue, "the memory has 44 bytes, the array of Float32 (4x3) has 48")
	refused(t, a.Upload(make([]int32, 12)), driver.ErrInvalidValue, "the destination holds Float32, the source Int32")
	refused(t, cuda.Memcpy3D(cuda.Region{Of: a, X: 3}, cuda.Region{Of: numbers(4)}, 2, 2, 1), driver.ErrInvalidValue, "from (3, 0, 0) on go past the destination, an array of Float32 (4x3)")
	refused(t, cuda.Memcpy3D(cuda.Region{Of: a}, cuda.Region{Of: numbers(4)}, 2, 3, 1), driver.ErrInvalidValue, "past the source, which has 4 elements")
	refused(t, cuda.Memcpy3D(cuda.Region{Of: a}, cuda.Region{Of: numbers(4), Pitch: 1}, 2, 2, 1), driver.ErrInvalidValue, "whose rows are 1 elements")
	refused(t, cuda.Memcpy3D(cuda.Region{Of: a}, cuda.Region{Of: numbers(4)}, -2, 2, 1), driver.ErrInvalidValue, "1 slices of 2 rows of -2 elements")
}

func TestTexturesThatAreNone(t *testing.T) {
	d := devices(t, 1)[0]
	a := must[*cuda.Array](t)(d.NewArray(cuda.ArrayDesc{Width: 4, Height: 3, Type: cuda.Float32}))
	whole := must[*cuda.Array](t)(d.NewArray(cuda.ArrayDesc{Width: 4, Height: 3, Type: cuda.Uint8}))
	b := must[*cuda.Buffer](t)(d.Alloc(1024, cuda.Float32))
	wide := must[*cuda.Buffer](t)(d.Alloc(1024, cuda.Float64))
	for _, c := range []struct {
		of   any
		desc cuda.TextureDesc
		want string
	}{
		{[]float32{1}, cuda.TextureDesc{}, "a texture of []float32: give a *cuda.Array"},
		{a, cuda.TextureDesc{Address: cuda.AddressWrap}, "need NormalizedCoords"},
		{a, cuda.TextureDesc{Address: 9}, "9 is no address mode"},
		{a, cuda.TextureDesc{ReadNormalized: true}, "ReadNormalized is for integers of 8 and 16 bits, and the elements are Float32"},
		{whole, cuda.TextureDesc{Linear: true}, "the elements are read as Uint8: ask for ReadNormalized"},
		{whole, cuda.TextureDesc{Border: [4]float32{1}}, "the border of a texture of integers is 0"},
		{b, cuda.TextureDesc{Linear: true}, "tex1Dfetch"},
		{wide, cuda.TextureDesc{}, "a buffer of Float64"},
		{b.Slice(1, 9), cuda.TextureDesc{}, "the view begins 4 bytes into its memory"},
		{cuda.Texels{Buffer: b, Channels: 3}, cuda.TextureDesc{}, "3 channels"},
		{cuda.Texels{Buffer: b, Width: 7, Height: 3, Pitch: 7}, cuda.TextureDesc{}, "Device.AllocPitch gives such a pitch"},
		{cuda.Texels{Buffer: b, Width: 64, Height: 17, Pitch: 64}, cuda.TextureDesc{}, "go past the buffer's 1024 elements"},
	} {
		_, err := cuda.NewTexture(c.of, c.desc)
		refused(t, err, driver.ErrInvalidValue, c.want)
	}
	_, err := cuda.NewSurface(a)
	refused(t, err, driver.ErrInvalidValue, "made without ArrayDesc.Surface")
}

const sampled = `
__global__ void sample(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, 0.5f); }
__global__ void fetch(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }
__global__ void store(cudaSurfaceObject_t s, float v) { surf2Dwrite(v + threadIdx.x, s, 4 * threadIdx.x, 0); }
`

func TestTextures(t *testing.T) {
	withTextures(t, func(t *testing.T, d *cuda.Device) {
		a := must[*cuda.Array](t)(d.NewArray(cuda.ArrayDesc{Width: 8, Height: 2, Type: cuda.Float32, Surface: true}))
		ok(t, a.Upload(numbers(16)))
		tex := must[*cuda.Texture](t)(cuda.NewTexture(a, cuda.TextureDesc{}))
		surf := must[*cuda.Surface](t)(cuda.NewSurface(a))
		out := must[*cuda.Buffer](t)(d.Alloc(8, cuda.Float32))
		sample, s := textured(t, d, sampled, "sample"), d.DefaultStream()
		store := textured(t, d, sampled, "store")
		ok(t, sample.Launch(cuda.Grid(1), cuda.Block(8), s, tex, out))
		if got := must[[]float32](t)(out.Float32s()); !slices.Equal(got, numbers(8)) {
			t.Error(got)
		}
		ok(t, store.Launch(cuda.Grid(1), cuda.Block(8), s, surf, 100))
		p := must[*cuda.Prepared](t)(sample.Prepare(cuda.Grid(1), cuda.Block(8), s, tex, out))
		ok(t, p.Launch())
		if got := must[[]float32](t)(out.Float32s()); got[0] != 100 || got[7] != 107 {
			t.Error(got)
		}
		launch := func(k *cuda.Kernel, args ...any) error { return k.Launch(cuda.Grid(1), cuda.Block(8), s, args...) }
		refused(t, launch(sample, out, out), driver.ErrInvalidValue, "a buffer was given for cudaTextureObject_t: give a *cuda.Texture")
		refused(t, launch(sample, 7, out), driver.ErrInvalidValue, "a number was given for cudaTextureObject_t: give a *cuda.Texture")
		refused(t, launch(sample, nil, out), driver.ErrInvalidValue, "nil was given for cudaTextureObject_t")
		refused(t, launch(sample, surf, out), driver.ErrInvalidValue, "a surface was given for cudaTextureObject_t")
		refused(t, launch(store, tex, 1), driver.ErrInvalidValue, "a texture was given for cudaSurfaceObject_t")
		refused(t, launch(store, 1, 1), driver.ErrInvalidValue, "cuda.NewSurface makes one of an array")
		refused(t, launch(sample, tex, tex), driver.ErrInvalidValue, "a texture was given for float *")
		refused(t, launch(sample, (*cuda.Texture)(nil), out), driver.ErrInvalidValue, "the texture is nil")
		ok(t, a.Free())
		refused(t, launch(sample, tex, out), driver.ErrInvalidValue, "the array that the texture reads was freed before")
		refused(t, p.Launch(), driver.ErrInvalidValue, "the array that the texture reads was freed before")
		ok(t, tex.Free())
		refused(t, tex.Free(), driver.ErrInvalidValue, "the texture was freed before")
		ok(t, surf.Free())
		refused(t, launch(store, surf, 1), driver.ErrInvalidValue, "the surface was freed before")
		a = must[*cuda.Array](t)(d.NewArray(cuda.ArrayDesc{Width: 8, Height: 2, Type: cuda.Float32}))
		tex = must[*cuda.Texture](t)(cuda.NewTexture(a, cuda.TextureDesc{}))
		if info, err := cuda.Backend(); err == nil && info.Name == "sim" {
			ok(t, d.Reset())
			refused(t, tex.Free(), driver.ErrInvalidValue, "device 0 was reset after it was made")
			refused(t, a.Upload(numbers(16)), driver.ErrInvalidValue, "the array is gone: device 0 was reset")
		}
	})
}

// A texture keeps what it reads, and a launch its texture; what nobody has is given back.
func TestTexturesKeepTheirMemory(t *testing.T) {
	withTextures(t, func(t *testing.T, d *cuda.Device) {
		sample, fetch := textured(t, d, sampled, "sample"), textured(t, d, sampled, "fetch")
		out := must[*cuda.Buffer](t)(d.Alloc(8, cuda.Float32))
		array := func() *cuda.Texture {
			a := must[*cuda.Array](t)(d.NewArray(cuda.ArrayDesc{Width: 500, Height: 10, Type: cuda.Float32}))
			ok(t, a.Upload(numbers(5000)))
			return must[*cuda.Texture](t)(cuda.NewTexture(a, cuda.TextureDesc{}))
		}
		buffer := func() *cuda.Texture {
			b := must[*cuda.Buffer](t)(d.Alloc(5000, cuda.Float32))
			ok(t, b.Upload(numbers(5000)))
			return must[*cuda.Texture](t)(cuda.NewTexture(b, cuda.TextureDesc{}))
		}
		s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
		for name, f := range map[string]func(){
			"a texture of an array": func() {
				tex := array()
				overwrite(t, d, 20000)
				ok(t, sample.Launch(cuda.Grid(1), cuda.Block(8), s, tex, out))
			},
			"a texture of a buffer": func() {
				tex := buffer()
				overwrite(t, d, 20000)
				ok(t, fetch.Launch(cuda.Grid(1), cuda.Block(8), s, tex, out))
			},
			"a launch behind a host function": func() {
				open := make(chan struct{})
				ok(t, s.LaunchHostFunc(func() { <-open }))
				ok(t, sample.Launch(cuda.Grid(1), cuda.Block(8), s, array(), out))
				collect()
				keep := must[*cuda.Buffer](t)(d.Alloc(5000, cuda.Float32)) // it frees what may be freed
				close(open)
				ok(t, s.Synchronize())
				ok(t, keep.Free())
			},
			"a graph": func() {
				g := must[*cuda.Graph](t)(s.Capture(func() error { return sample.Launch(cuda.Grid(1), cuda.Block(8), s, array(), out) }))
				x := must[*cuda.GraphExec](t)(g.Instantiate())
				overwrite(t, d, 20000)
				ok(t, x.Launch(s))
				ok(t, s.Synchronize())
			},
			"a prepared launch": func() {
				p := must[*cuda.Prepared](t)(fetch.Prepare(cuda.Grid(1), cuda.Block(8), s, buffer(), out))
				overwrite(t, d, 20000)
				ok(t, p.Launch())
			},
		} {
			t.Run(name, func(t *testing.T) {
				ok(t, out.Memset(0))
				ok(t, d.Synchronize())
				f()
				ok(t, s.Synchronize())
				if got := must[[]float32](t)(out.Float32s()); !slices.Equal(got, numbers(8)) {
					t.Error(got)
				}
			})
		}
	})
}

func TestArraysAreReclaimed(t *testing.T) {
	schedules(t, func(t *testing.T, d *cuda.Device) {
		func() {
			a := must[*cuda.Array](t)(d.NewArray(cuda.ArrayDesc{Width: 5001, Type: cuda.Float32}))
			must[*cuda.Texture](t)(cuda.NewTexture(a, cuda.TextureDesc{}))
			if !leaked("array", 20004) {
				t.Error(cuda.Leaks())
			}
		}()
		collect()
		ok(t, must[*cuda.Buffer](t)(d.Alloc(1, cuda.Uint8)).Free())
		if leaked("array", 20004) {
			t.Error("an array that nobody has stays")
		}
		for range 30 { // more than there is memory for
			a := must[*cuda.Array](t)(d.NewArray(cuda.ArrayDesc{Width: 1024, Height: 4096, Type: cuda.Float32}))
			must[*cuda.Texture](t)(cuda.NewTexture(a, cuda.TextureDesc{}))
		}
	})
}

// A graph whose texture was freed is not launched.
func TestGraphsWhoseTexturesAreGone(t *testing.T) {
	withTextures(t, func(t *testing.T, d *cuda.Device) {
		sample := textured(t, d, sampled, "sample")
		out := must[*cuda.Buffer](t)(d.Alloc(8, cuda.Float32))
		a := must[*cuda.Array](t)(d.NewArray(cuda.ArrayDesc{Width: 8, Height: 2, Type: cuda.Float32}))
		tex := must[*cuda.Texture](t)(cuda.NewTexture(a, cuda.TextureDesc{}))
		s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
		g := must[*cuda.Graph](t)(s.Capture(func() error { return sample.Launch(cuda.Grid(1), cuda.Block(8), s, tex, out) }))
		x := must[*cuda.GraphExec](t)(g.Instantiate())
		ok(t, tex.Free())
		refused(t, x.Launch(s), driver.ErrInvalidValue, "after the capture")
	})
}
