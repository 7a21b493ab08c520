package drivertest

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"gocuda/cudaapi/driver"
)

// texture makes a texture that is destroyed with the case.
func (e *env) texture(r driver.Resource, d driver.TextureDesc) driver.TexObject {
	e.Helper()
	t, err := e.d.TexObjectCreate(e.ctx[0], &r, &d)
	e.ok(err)
	e.Cleanup(func() { _ = e.d.TexObjectDestroy(e.ctx[0], t) })
	return t
}

func (e *env) surface(a driver.Array) driver.SurfObject {
	e.Helper()
	s, err := e.d.SurfObjectCreate(e.ctx[0], a)
	e.ok(err)
	e.Cleanup(func() { _ = e.d.SurfObjectDestroy(e.ctx[0], s) })
	return s
}

// floats are numbers as memory has them, and back.
func floats(v ...float32) (b []byte) {
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

func floatsOf(b []byte) (v []float32) {
	for ; len(b) > 0; b = b[4:] {
		v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return v
}

// fetches runs a kernel whose threads take x, y and z from at, three for each, and put what
// expr gives, of type T, into memory. It skips the case where simulated devices have no NVRTC.
func (e *env) fetches(object uint64, surface bool, T, expr string, at ...float32) []byte {
	e.Helper()
	code := fmt.Sprintf(`extern "C" __global__ void k(unsigned long long t, const float *at, %[1]s *out, unsigned n) {
	unsigned i = threadIdx.x;
	if (i >= n) return;
	float x = at[3 * i], y = at[3 * i + 1], z = at[3 * i + 2];
	out[i] = %[2]s;
}`, T, expr)
	size := map[string]uint64{"float": 4, "float2": 8, "float4": 16, "int": 4, "int4": 16, "unsigned": 4, "uchar4": 4}[T]
	n := uint64(len(at) / 3)
	in, out := e.alloc(0, uint64(4*len(at)), 0), e.alloc(0, size*n, 0xee)
	e.write(0, in, floats(at...))
	a := args(object, in, out, uint32(n))
	e.ok(e.run(code, surface, a, uint32(n)))
	e.ok(e.d.CtxSynchronize(e.ctx[0], nil))
	return e.read(0, out, size*n)
}

// run launches the kernel k, whose first argument is a texture or surface object.
func (e *env) run(code string, surface bool, a packed, threads uint32) error {
	e.Helper()
	if _, err := e.d.Compile(0, &driver.Source{Name: "case.cu", Code: code}); err != nil && strings.Contains(err.Error(), "need NVRTC") {
		e.Skip("CUDA C++ without NVRTC has no textures")
	}
	return e.d.Launch(e.ctx[0], &driver.Launch{Function: e.kernel(0, code, "k"), Grid: driver.Dim3{X: 1, Y: 1, Z: 1}, Block: driver.Dim3{X: threads, Y: 1, Z: 1},
		Params: a.bytes, Pointers: a.pointers, Objects: []driver.ObjectParam{{Surface: surface}}, Name: "k"})
}

// reads checks what threads fetch.
func (e *env) reads(t driver.TexObject, expr string, at []float32, want ...float32) {
	e.Helper()
	T := "float"
	if len(want) == 4*len(at)/3 {
		T = "float4"
	}
	got := floatsOf(e.fetches(uint64(t), false, T, expr, at...))
	for i := range want {
		if got[i] != want[i] {
			e.Errorf("%s, number %d at (%g, %g, %g): got %g, want %g", expr, i, at[i*len(at)/len(want)/3*3], at[i*len(at)/len(want)/3*3+1], at[i*len(at)/len(want)/3*3+2], got[i], want[i])
		}
	}
}

// integers checks the same of integers.
func (e *env) integers(t driver.TexObject, expr string, at []float32, want ...int32) {
	e.Helper()
	got := e.fetches(uint64(t), false, "int", expr, at...)
	for i := range want {
		if v := int32(binary.LittleEndian.Uint32(got[4*i:])); v != want[i] {
			e.Errorf("%s at (%g, %g, %g): got %d, want %d", expr, at[3*i], at[3*i+1], at[3*i+2], v, want[i])
		}
	}
}

// along are points on the first axis.
func along(x ...float32) (at []float32) {
	for _, v := range x {
		at = append(at, v, 0, 0)
	}
	return at
}

const allWrap, allClamp, allMirror, allBorder = driver.AddressWrap, driver.AddressClamp, driver.AddressMirror, driver.AddressBorder

func modes(m driver.AddressMode) [3]driver.AddressMode { return [3]driver.AddressMode{m, m, m} }

var line4 = driver.ArrayDesc{Width: 4, Format: driver.FormatFloat, Channels: 1}

var textureTests = []test{
	{name: "an object tells what it was made of", run: func(e *env) {
		a := e.array(driver.ArrayDesc{Width: 8, Height: 8, Format: driver.FormatFloat, Channels: 1, Flags: driver.ArraySurface})
		p := e.alloc(0, 4096, 0)
		for _, r := range []driver.Resource{{Array: a}, {Ptr: p, Format: driver.FormatFloat, Channels: 2, Bytes: 800},
			{Ptr: p, Format: driver.FormatUint8, Channels: 4, Width: 5, Height: 7, Pitch: 64}} {
			got, err := e.d.TexObjectResource(e.ctx[0], e.texture(r, driver.TextureDesc{}))
			e.ok(err)
			if got != r {
				e.Errorf("got %+v, want %+v", got, r)
			}
		}
		got, err := e.d.SurfObjectResource(e.ctx[0], e.surface(a))
		e.ok(err)
		if got != a {
			e.Errorf("got array %#x, want %#x", got, a)
		}
	}},
	{name: "a surface may be of an array that was not made for one", run: func(e *env) { // the manual forbids it, driver 580 takes it
		e.surface(e.array(driver.ArrayDesc{Width: 8, Height: 8, Format: driver.FormatFloat, Channels: 1}))
	}},
	{name: "memory of no array's elements is an invalid value", run: func(e *env) {
		p := e.alloc(0, 4096, 0)
		for _, r := range []driver.Resource{{Ptr: p, Format: driver.FormatFloat, Channels: 3, Bytes: 96}, {Ptr: p, Format: 0x77, Channels: 1, Bytes: 64},
			{Ptr: p, Format: driver.FormatFloat, Channels: 1, Width: 5, Height: 7, Pitch: 20}} {
			t, err := e.d.TexObjectCreate(e.ctx[0], &r, &driver.TextureDesc{})
			if e.code(err, driver.ErrInvalidValue); err == nil {
				_ = e.d.TexObjectDestroy(e.ctx[0], t)
				e.Errorf("%+v", r)
			}
		}
	}},
	{name: "tex1Dfetch reads linear memory, and 0 beside it", run: func(e *env) {
		p := e.alloc(0, 512, 0x3f)
		e.write(0, p, floats(10, 20, 30, 40))
		t := e.texture(driver.Resource{Ptr: p, Format: driver.FormatFloat, Channels: 1, Bytes: 16}, driver.TextureDesc{})
		e.reads(t, "tex1Dfetch<float>(t, (int)x)", along(0, 1, 2, 3, 4, -1, 100), 10, 20, 30, 40, 0, 0, 0)
	}},
	{name: "the nearest element, with coordinates beside the texture clamped", run: func(e *env) {
		t := e.texture(driver.Resource{Array: e.filled(line4, floats(10, 20, 30, 40))}, driver.TextureDesc{Address: modes(allClamp)})
		e.reads(t, "tex1D<float>(t, x)", along(0, 0.5, 0.99, 1, 3.99, 4, 100, -0.01, -100), 10, 10, 10, 20, 40, 40, 40, 10, 10)
	}},
	{name: "the border's value", run: func(e *env) {
		t := e.texture(driver.Resource{Array: e.filled(line4, floats(10, 20, 30, 40))}, driver.TextureDesc{Address: modes(allBorder), Border: [4]float32{-1, -2, -3, -4}})
		e.reads(t, "tex1D<float>(t, x)", along(0, 3.99, 4, 100, -0.01, -100), 10, 40, -1, -1, -1, -1)
	}},
	{name: "without normalized coordinates wrap and mirror clamp", run: func(e *env) {
		a := e.filled(line4, floats(10, 20, 30, 40))
		for _, m := range []driver.AddressMode{allWrap, allMirror} {
			t := e.texture(driver.Resource{Array: a}, driver.TextureDesc{Address: modes(m)})
			e.reads(t, "tex1D<float>(t, x)", along(0.5, 4.5, 6.5, -0.5), 10, 40, 40, 10)
		}
	}},
	{name: "normalized coordinates, wrapped, mirrored and clamped", run: func(e *env) {
		a := e.filled(line4, floats(10, 20, 30, 40))
		at := along(0.125, 0.375, 0.875, 1.125, 1.375, 2.125, -0.125, -0.375, -1.125)
		for m, want := range map[driver.AddressMode][]float32{
			allWrap:   {10, 20, 40, 10, 20, 10, 40, 30, 40},
			allMirror: {10, 20, 40, 40, 30, 10, 10, 20, 40},
			allClamp:  {10, 20, 40, 40, 40, 40, 10, 10, 10},
			allBorder: {10, 20, 40, 0, 0, 0, 0, 0, 0},
		} {
			t := e.texture(driver.Resource{Array: a}, driver.TextureDesc{Address: modes(m), Flags: driver.TextureNormalized})
			e.reads(t, "tex1D<float>(t, x)", at, want...)
		}
	}},
	{name: "linear filtering has weights of 8 bits", run: func(e *env) {
		t := e.texture(driver.Resource{Array: e.filled(line4, floats(0, 256, 512, 0))}, driver.TextureDesc{Address: modes(allClamp), Filter: driver.FilterLinear})
		e.reads(t, "tex1D<float>(t, x)", along(0.5, 1.5, 1, 0.5+1.0/256, 0.5+3.0/256, 0.5+1.0/1024, 0.5+5.0/1024, 2.75, 0, 4), 0, 256, 128, 1, 3, 0, 1, 384, 0, 0)
	}},
	{name: "linear filtering at the edges, wrapped, mirrored and to the border", run: func(e *env) {
		a := e.filled(line4, floats(0, 256, 512, 1024))
		for m, want := range map[driver.AddressMode][]float32{allWrap: {512, 512, 256}, allMirror: {0, 1024, 0}, allClamp: {0, 1024, 0}, allBorder: {50, 562, 25}} {
			t := e.texture(driver.Resource{Array: a}, driver.TextureDesc{Address: [3]driver.AddressMode{m, allClamp, allClamp}, Filter: driver.FilterLinear, Flags: driver.TextureNormalized, Border: [4]float32{100}})
			e.reads(t, "tex1D<float>(t, x)", along(0, 1, 0.0625), want...)
		}
		// A GPU has a single row there, and reads between it and the next: half is the border.
		t := e.texture(driver.Resource{Array: a}, driver.TextureDesc{Address: modes(allBorder), Filter: driver.FilterLinear, Flags: driver.TextureNormalized, Border: [4]float32{100}})
		e.reads(t, "tex1D<float>(t, x)", along(0, 1, 0.0625), 75, 331, 62.5)
	}},
	{name: "linear filtering in two and three dimensions", run: func(e *env) {
		flat := driver.ArrayDesc{Width: 2, Height: 2, Format: driver.FormatFloat, Channels: 1}
		t := e.texture(driver.Resource{Array: e.filled(flat, floats(0, 64, 128, 256))}, driver.TextureDesc{Address: modes(allClamp), Filter: driver.FilterLinear})
		e.reads(t, "tex2D<float>(t, x, y)", []float32{0.5, 0.5, 0, 1.5, 0.5, 0, 1, 1, 0, 0.75, 1, 0, 1, 0.75, 0}, 0, 64, 112, 88, 72)
		box := driver.ArrayDesc{Width: 2, Height: 2, Depth: 2, Format: driver.FormatFloat, Channels: 1}
		t = e.texture(driver.Resource{Array: e.filled(box, floats(0, 8, 16, 24, 32, 40, 48, 64))}, driver.TextureDesc{Address: modes(allClamp), Filter: driver.FilterLinear})
		e.reads(t, "tex3D<float>(t, x, y, z)", []float32{1, 1, 1, 0.5, 0.5, 1, 1.5, 1.5, 0.5, 1.5, 1.5, 1}, 29, 16, 24, 44)
	}},
	{name: "elements of 8 and 16 bits as numbers up to 1", run: func(e *env) {
		for _, c := range []struct {
			format driver.ArrayFormat
			data   []byte
			want   []float32
		}{
			{driver.FormatUint8, []byte{0, 255, 51, 204}, []float32{0, 1, 0.2, 0.8}},
			{driver.FormatInt8, []byte{0, 127, 0x80, 0x81}, []float32{0, 1, -1, -1}},
			{driver.FormatUint16, []byte{0, 0, 0xff, 0xff, 0x33, 0x33, 0xcc, 0xcc}, []float32{0, 1, 0.2, 0.8}},
			{driver.FormatInt16, []byte{0, 0, 0xff, 0x7f, 0, 0x80, 1, 0x80}, []float32{0, 1, -1, -1}},
		} {
			a := line4
			a.Format = c.format
			e.reads(e.texture(driver.Resource{Array: e.filled(a, c.data)}, driver.TextureDesc{}), "tex1D<float>(t, x)", along(0.5, 1.5, 2.5, 3.5), c.want...)
		}
	}},
	{name: "elements as integers", run: func(e *env) {
		for _, c := range []struct {
			format driver.ArrayFormat
			T      string
			data   []byte
			want   []int32
		}{
			{driver.FormatUint8, "unsigned char", []byte{0, 255, 51, 204}, []int32{0, 255, 51, 204}},
			{driver.FormatInt8, "signed char", []byte{0, 127, 0x80, 0x81}, []int32{0, 127, -128, -127}},
			{driver.FormatUint16, "unsigned short", []byte{0, 0, 0xff, 0xff, 1, 2, 3, 4}, []int32{0, 65535, 513, 1027}},
			{driver.FormatInt16, "short", []byte{0, 0, 0xff, 0x7f, 0, 0x80, 0xff, 0xff}, []int32{0, 32767, -32768, -1}},
			{driver.FormatInt32, "int", []byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0x80, 2, 0, 0, 0}, []int32{1, -1, math.MinInt32, 2}},
		} {
			a := line4
			a.Format = c.format
			t := e.texture(driver.Resource{Array: e.filled(a, c.data)}, driver.TextureDesc{Flags: driver.TextureIntegers})
			e.integers(t, "(int)tex1D<"+c.T+">(t, x)", along(0.5, 1.5, 2.5, 3.5), c.want...)
		}
	}},
	{name: "numbers of 16 bits, and several channels", run: func(e *env) {
		a := driver.ArrayDesc{Width: 2, Format: driver.FormatHalf, Channels: 4}
		half := []byte{0, 0x3c, 0, 0xc0, 0, 0x38, 1, 0, 0, 0x40, 0, 0x42, 0, 0x44, 0xff, 0x7b} // 1, -2, 0.5, 2^-24; 2, 3, 4, 65504
		t := e.texture(driver.Resource{Array: e.filled(a, half)}, driver.TextureDesc{})
		e.reads(t, "tex1D<float4>(t, x)", along(0.5, 1.5), 1, -2, 0.5, 0x1p-24, 2, 3, 4, 65504)
		b := driver.ArrayDesc{Width: 2, Format: driver.FormatUint8, Channels: 4}
		t = e.texture(driver.Resource{Array: e.filled(b, []byte{1, 2, 3, 4, 5, 6, 7, 8})}, driver.TextureDesc{Flags: driver.TextureIntegers})
		e.equal("bytes", e.fetches(uint64(t), false, "uchar4", "tex1D<uchar4>(t, x)", along(0.5, 1.5)...), []byte{1, 2, 3, 4, 5, 6, 7, 8})
	}},
	{name: "layers of one and two dimensions", run: func(e *env) {
		a := driver.ArrayDesc{Width: 2, Depth: 3, Format: driver.FormatFloat, Channels: 1, Flags: driver.ArrayLayered}
		t := e.texture(driver.Resource{Array: e.filled(a, floats(1, 2, 3, 4, 5, 6))}, driver.TextureDesc{Address: modes(allClamp)})
		e.reads(t, "tex1DLayered<float>(t, x, (int)y)", []float32{0.5, 0, 0, 1.5, 1, 0, 0.5, 2, 0}, 1, 4, 5)
		b := driver.ArrayDesc{Width: 2, Height: 2, Depth: 2, Format: driver.FormatFloat, Channels: 1, Flags: driver.ArrayLayered}
		t = e.texture(driver.Resource{Array: e.filled(b, floats(1, 2, 3, 4, 5, 6, 7, 8))}, driver.TextureDesc{Address: modes(allClamp), Filter: driver.FilterLinear})
		e.reads(t, "tex2DLayered<float>(t, x, y, (int)z)", []float32{0.5, 0.5, 0, 1.5, 1.5, 0, 1, 1, 1, 0.5, 1, 1}, 1, 4, 6.5, 6)
	}},
	{name: "faces of a cube, and of cubes", run: func(e *env) {
		a := driver.ArrayDesc{Width: 1, Height: 1, Depth: 12, Format: driver.FormatFloat, Channels: 1, Flags: driver.ArrayCube | driver.ArrayLayered}
		data := floats(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
		six := []float32{1, 0.1, 0.2, -1, 0.1, 0.2, 0.1, 1, 0.2, 0.1, -1, 0.2, 0.1, 0.2, 1, 0.1, 0.2, -1}
		t := e.texture(driver.Resource{Array: e.filled(a, data)}, driver.TextureDesc{Address: modes(allClamp), Flags: driver.TextureNormalized})
		e.reads(t, "texCubemapLayered<float>(t, x, y, z, 1)", six, 6, 7, 8, 9, 10, 11)
		b := driver.ArrayDesc{Width: 2, Height: 2, Depth: 6, Format: driver.FormatFloat, Channels: 1, Flags: driver.ArrayCube}
		data = nil
		for i := range 24 {
			data = append(data, floats(float32(i))...)
		}
		t = e.texture(driver.Resource{Array: e.filled(b, data)}, driver.TextureDesc{Address: modes(allClamp), Flags: driver.TextureNormalized})
		e.reads(t, "texCubemap<float>(t, x, y, z)", []float32{1, -0.5, -0.5, 1, 0.5, 0.5, -1, 0.5, -0.5, 0.5, 1, 0.5, -0.5, -1, 0.5, 0.5, -0.5, 1, 0.5, 0.5, -1},
			3, 0, 4, 11, 12, 19, 20)
	}},
	{name: "four elements at once", run: func(e *env) {
		a := driver.ArrayDesc{Width: 3, Height: 3, Format: driver.FormatFloat, Channels: 2, Flags: driver.ArrayGather}
		var data []byte
		for i := range 9 {
			data = append(data, floats(float32(i), float32(-i))...)
		}
		t := e.texture(driver.Resource{Array: e.filled(a, data)}, driver.TextureDesc{Address: modes(allClamp)})
		e.reads(t, "tex2Dgather<float4>(t, x, y, 0)", []float32{1, 1, 0, 2, 2, 0}, 3, 4, 1, 0, 7, 8, 5, 4)
		e.reads(t, "tex2Dgather<float4>(t, x, y, 1)", []float32{1, 1, 0}, -3, -4, -1, 0)
	}},
	{name: "memory of rows", run: func(e *env) {
		p := e.alloc(0, 1024, 0x3f)
		for y := range 4 {
			e.write(0, p+driver.Ptr(64*y), floats(float32(10*y), float32(10*y+1), float32(10*y+2)))
		}
		r := driver.Resource{Ptr: p, Format: driver.FormatFloat, Channels: 1, Width: 3, Height: 4, Pitch: 64}
		e.reads(e.texture(r, driver.TextureDesc{Address: modes(allClamp)}), "tex2D<float>(t, x, y)", []float32{0.5, 0.5, 0, 2.5, 3.5, 0, 9, 9, 0, 1.5, 2.5, 0}, 0, 32, 32, 21)
		e.reads(e.texture(r, driver.TextureDesc{Address: modes(allClamp), Filter: driver.FilterLinear}), "tex2D<float>(t, x, y)", []float32{1, 1, 0, 1.5, 3, 0}, 5.5, 26)
	}},
	{name: "levels of detail and gradients, of which there is one", run: func(e *env) {
		a := driver.ArrayDesc{Width: 2, Height: 2, Format: driver.FormatFloat, Channels: 1}
		t := e.texture(driver.Resource{Array: e.filled(a, floats(1, 2, 3, 4))}, driver.TextureDesc{Address: modes(allClamp), Flags: driver.TextureNormalized})
		at := []float32{0.25, 0.25, 0, 0.75, 0.75, 0}
		e.reads(t, "tex2DLod<float>(t, x, y, 0)", at, 1, 4)
		e.reads(t, "tex2DGrad<float>(t, x, y, make_float2(0.5f, 0), make_float2(0, 0.5f))", at, 1, 4)
	}},
	{name: "surfaces are read and written", run: func(e *env) {
		a := driver.ArrayDesc{Width: 4, Height: 4, Format: driver.FormatInt32, Channels: 1, Flags: driver.ArraySurface}
		data := noise(64)
		h := e.filled(a, data)
		s := e.surface(h)
		got := e.fetches(uint64(s), true, "int", "surf2Dread<int>(t, 4 * (int)x, (int)y)", 0, 0, 0, 3, 0, 0, 1, 2, 0)
		e.equal("read", got, append(append(append([]byte{}, data[:4]...), data[12:16]...), data[36:40]...))
		e.fetches(uint64(s), true, "int", "(surf2Dwrite(7 + (int)x, t, 4 * (int)x, (int)y), 0)", 1, 2, 0, 3, 3, 0)
		copy(data[36:], []byte{8, 0, 0, 0})
		copy(data[60:], []byte{10, 0, 0, 0})
		e.equal("written", e.contents(h, a), data)
	}},
	{name: "surfaces of other dimensions, elements and layers", run: func(e *env) {
		box := driver.ArrayDesc{Width: 4, Height: 2, Depth: 2, Format: driver.FormatUint8, Channels: 4, Flags: driver.ArraySurface}
		h := e.filled(box, make([]byte, 64))
		e.fetches(uint64(e.surface(h)), true, "int", "(surf3Dwrite(make_uchar4(1, 2, 3, (int)z), t, 4 * (int)x, (int)y, (int)z), 0)", 3, 1, 1)
		want := make([]byte, 64)
		copy(want[60:], []byte{1, 2, 3, 1})
		e.equal("three dimensions", e.contents(h, box), want)
		line := driver.ArrayDesc{Width: 4, Format: driver.FormatUint16, Channels: 1, Flags: driver.ArraySurface}
		h = e.filled(line, make([]byte, 8))
		e.fetches(uint64(e.surface(h)), true, "int", "(surf1Dwrite((unsigned short)515, t, 2 * (int)x), 0)", 2, 0, 0)
		e.equal("one dimension", e.contents(h, line), []byte{0, 0, 0, 0, 3, 2, 0, 0})
		layers := driver.ArrayDesc{Width: 2, Height: 2, Depth: 3, Format: driver.FormatFloat, Channels: 1, Flags: driver.ArraySurface | driver.ArrayLayered}
		h = e.filled(layers, floats(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11))
		s := e.surface(h)
		e.equal("layers", e.fetches(uint64(s), true, "float", "surf2DLayeredread<float>(t, 4 * (int)x, (int)y, (int)z)", 1, 0, 2, 0, 1, 1), floats(9, 6))
	}},
	{name: "beside a surface: clamped, or 0", run: func(e *env) {
		a := driver.ArrayDesc{Width: 2, Height: 2, Format: driver.FormatFloat, Channels: 1, Flags: driver.ArraySurface}
		h := e.filled(a, floats(1, 2, 3, 4))
		s := uint64(e.surface(h))
		at := []float32{2, 0, 0, -1, 1, 0, 0, 5, 0, 1, 1, 0}
		e.equal("clamped", e.fetches(s, true, "float", "surf2Dread<float>(t, 4 * (int)x, (int)y, cudaBoundaryModeClamp)", at...), floats(2, 3, 3, 4))
		e.equal("zero", e.fetches(s, true, "float", "surf2Dread<float>(t, 4 * (int)x, (int)y, cudaBoundaryModeZero)", at...), floats(0, 0, 0, 4))
		e.fetches(s, true, "float", "(surf2Dwrite(9.0f, t, 4 * (int)x, (int)y, cudaBoundaryModeZero), 0)", 2, 0, 0, 0, -1, 0, 0, 1, 0)
		e.equal("written", e.contents(h, a), floats(1, 2, 9, 4))
	}},
	{name: "beside a surface a kernel fails", alone: true, run: func(e *env) {
		a := driver.ArrayDesc{Width: 2, Height: 2, Format: driver.FormatFloat, Channels: 1, Flags: driver.ArraySurface}
		s := e.surface(e.filled(a, floats(1, 2, 3, 4)))
		e.ok(e.run(`extern "C" __global__ void k(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, 8, 0); }`, true, args(uint64(s)), 1))
		e.code(e.d.CtxSynchronize(e.ctx[0], nil), driver.ErrLaunchFailed, driver.ErrIllegalAddress)
	}},
	{name: "a texture reads what a kernel wrote to the surface before", run: func(e *env) {
		a := driver.ArrayDesc{Width: 4, Height: 4, Format: driver.FormatFloat, Channels: 1, Flags: driver.ArraySurface}
		h := e.filled(a, make([]byte, 64))
		e.fetches(uint64(e.surface(h)), true, "int", "(surf2Dwrite(x * y, t, 4 * (int)x, (int)y), 0)", 2, 3, 0, 1, 1, 0)
		t := e.texture(driver.Resource{Array: h}, driver.TextureDesc{Address: modes(allClamp)})
		e.reads(t, "tex2D<float>(t, x, y)", []float32{2.5, 3.5, 0, 1.5, 1.5, 0, 0.5, 0.5, 0}, 6, 1, 0)
	}},
	{name: "a texture in a structure, and two of one array", run: func(e *env) {
		h := e.filled(line4, floats(10, 20, 30, 40))
		near := e.texture(driver.Resource{Array: h}, driver.TextureDesc{Address: modes(allClamp)})
		linear := e.texture(driver.Resource{Array: h}, driver.TextureDesc{Address: modes(allClamp), Filter: driver.FilterLinear})
		out := e.alloc(0, 8, 0)
		a := args(uint64(near), uint64(linear), out)
		e.ok(e.run(`struct Two { cudaTextureObject_t a, b; };
extern "C" __global__ void k(Two t, float *out) { out[0] = tex1D<float>(t.a, 1.75f); out[1] = tex1D<float>(t.b, 1.75f); }`, false, a, 1))
		e.ok(e.d.CtxSynchronize(e.ctx[0], nil))
		e.equal("both", e.read(0, out, 8), floats(20, 22.5))
	}},
	{name: "no texture object makes a kernel fail", alone: true, run: func(e *env) {
		if e.d.Name() != "sim" {
			e.Skip("what GPUs make of it is not defined")
		}
		e.ok(e.run(`extern "C" __global__ void k(cudaTextureObject_t t, float *out) { *out = tex1D<float>(t, 0); }`, false, args(uint64(12345), e.alloc(0, 4, 0)), 1))
		e.code(e.d.CtxSynchronize(e.ctx[0], nil), driver.ErrLaunchFailed)
	}},
}
