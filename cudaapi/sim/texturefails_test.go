package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// image is an array of 4 by 2 numbers, for textures and surfaces.
func (b *box) image() driver.Array {
	b.t.Helper()
	h, err := b.d.ArrayCreate(b.c, &driver.ArrayDesc{Width: 4, Height: 2, Format: driver.FormatFloat, Channels: 1, Flags: driver.ArraySurface})
	b.ok(err)
	data := []float32{0, 1, 2, 3, 4, 5, 6, 7}
	b.ok(b.d.Memcpy3D(b.c, &driver.Copy3D{Dst: driver.Place3D{Array: h}, Src: driver.Place3D{Ptr: ptr(data), Pitch: 16, Rows: 2}, Width: 16, Height: 2, Depth: 1}))
	return h
}

func (b *box) texture(h driver.Array) driver.TexObject {
	b.t.Helper()
	t, err := b.d.TexObjectCreate(b.c, &driver.Resource{Array: h}, &driver.TextureDesc{})
	b.ok(err)
	return t
}

// What goes wrong with a texture or surface is an error of the kernel, with thread and line.
func TestTexturesThatFail(t *testing.T) {
	const head = "__global__ void k(unsigned long long t, float *out) {\n"
	for name, c := range map[string]struct {
		body, want string
		surface    bool
		before     func(b *box, h driver.Array, t uint64)
	}{
		"beside a surface": {"\tif (threadIdx.x == 2) surf2Dwrite(1.0f, t, 16, 0);\n}", "thread (2,0,0) (line 2): a write beside the surface (the first coordinate counts bytes)", true, nil},
		"beside a surface, behind a barrier": {"\t__shared__ float s[4];\n\ts[threadIdx.x] = 1;\n\t__syncthreads();\n\tif (threadIdx.x == 3) out[0] = surf2Dread<float>(t, 0, (int)s[0] + 1);\n}",
			"thread (3,0,0) (line 5): a read beside the surface", true, nil},
		"between elements of a surface": {"\tsurf2Dwrite(1.0f, t, 2, 0);\n}", "(line 2): the first coordinate of a surface counts bytes, and is no multiple of the size", true, nil},
		"a texture's other dimensions":  {"\tout[0] = tex3D<float>(t, 0, 0, 0);\n}", "(line 2): a texture function is of other dimensions, or another kind of layers, than its texture", false, nil},
		"a surface's other layers":      {"\tout[0] = surf2DLayeredread<float>(t, 0, 0, 0);\n}", "(line 2): a surface function is of other dimensions", true, nil},
		"a texture as a surface":        {"\tsurf2Dwrite(1.0f, t, 0, 0);\n}", "(line 2): a surface function was given a texture object", false, nil},
		"a surface as a texture":        {"\tout[0] = tex2D<float>(t, 0, 0);\n}", "(line 2): a texture function was given a surface object", true, nil},
		"an array without gather":       {"\tout[0] = tex2Dgather<float4>(t, 0, 0).x;\n}", "(line 2): tex2Dgather reads an array that was made without", false, nil},
		"a texture that was destroyed": {"\tout[0] = tex2D<float>(t, 0, 0);\n}", "(line 2): the kernel was given a number that is no texture object, or of one that was destroyed", false,
			func(b *box, _ driver.Array, t uint64) { b.ok(b.d.TexObjectDestroy(b.c, driver.TexObject(t))) }},
		"an array that was destroyed": {"\tout[0] = tex2D<float>(t, 0, 0);\n}", "(line 2): the memory of a texture was freed, or is another device's", false,
			func(b *box, h driver.Array, _ uint64) { b.ok(b.d.ArrayDestroy(b.c, h)) }},
	} {
		for _, unchecked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, unchecked %v", name, unchecked), func(t *testing.T) {
				b := newBox(t, throughPTX(t, sim.Options{Devices: 1, NoCheck: unchecked}))
				h := b.image()
				object := uint64(0)
				if c.surface {
					s, err := b.d.SurfObjectCreate(b.c, h)
					b.ok(err)
					object = uint64(s)
				} else {
					object = uint64(b.texture(h))
				}
				k, out := b.kernel(head+c.body), upload(b, make([]float32, 4))
				if c.before != nil {
					c.before(b, h, object)
				}
				b.ok(b.launch(k, dim(1), dim(4), 0, driver.Ptr(object), out))
				want := c.want
				if unchecked { // then the thread is not known
					want = want[strings.Index(want, " (line")+1:]
				}
				if err := b.d.CtxSynchronize(b.c, nil); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v\nwant %s", err, want)
				}
			})
		}
	}
}

// Another device's texture is none of the kernel's.
func TestTexturesOfOtherDevices(t *testing.T) {
	b := newBox(t, throughPTX(t, sim.Options{Devices: 2}))
	other := &box{t, b.d, retain(t, b.d, 1)}
	tex := other.texture(other.image())
	k, out := b.kernel("__global__ void k(unsigned long long t, float *out) { out[0] = tex2D<float>(t, 0, 0); }"), upload(b, make([]float32, 1))
	b.ok(b.launch(k, dim(1), dim(1), 0, driver.Ptr(tex), out))
	if err := b.d.CtxSynchronize(b.c, nil); err == nil || !strings.Contains(err.Error(), "is another device's") {
		t.Error(err)
	}
}

// What CUDA C++ has no functions for: questions, and coordinates that are integers.
func TestTextureInstructions(t *testing.T) {
	b := newBox(t, throughPTX(t, sim.Options{Devices: 1}))
	k := b.kernel(`__global__ void k(unsigned long long t, unsigned long long s, int *out) {
	asm("txq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(t));
	asm("txq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(t));
	asm("txq.depth.b32 %0, [%1];" : "=r"(out[2]) : "l"(t));
	asm("suq.width.b32 %0, [%1];" : "=r"(out[3]) : "l"(s));
	float r, g, b, a;
	asm("tex.2d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}];" : "=f"(r), "=f"(g), "=f"(b), "=f"(a) : "l"(t), "r"(2), "r"(1));
	out[4] = (int)r;
	asm("tex.2d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}];" : "=f"(r), "=f"(g), "=f"(b), "=f"(a) : "l"(t), "r"(-5), "r"(7));
	out[5] = (int)r;
}`)
	h := b.image()
	tex, err := b.d.TexObjectCreate(b.c, &driver.Resource{Array: h}, &driver.TextureDesc{Address: [3]driver.AddressMode{driver.AddressClamp, driver.AddressClamp, driver.AddressClamp}})
	b.ok(err)
	s, err := b.d.SurfObjectCreate(b.c, h)
	b.ok(err)
	out := upload(b, make([]int32, 6))
	b.ok(b.launch(k, dim(1), dim(1), 0, driver.Ptr(tex), driver.Ptr(s), out))
	if got, want := download[int32](b, out, 6), []int32{4, 2, 0, 4, 6, 4}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for code, want := range map[string]string{
		`__global__ void k(unsigned long long t, int *out) {` + "\n\n" + `	asm("txq.num_samples.b32 %0, [%1];" : "=r"(out[0]) : "l"(t));` + "\n}":          "test.cu(3): error: simulated devices do not know the PTX instruction txq.num_samples.b32",
		`__global__ void k(unsigned long long s, int v) {` + "\n" + `	asm volatile("sust.p.2d.b32.trap [%0, {%1, %1}], {%1};" :: "l"(s), "r"(v));` + "\n}": "test.cu(2): error: simulated devices do not know the PTX instruction sust.p.2d.b32.trap",
	} {
		_, err := b.d.Compile(0, &driver.Source{Name: "test.cu", Code: code})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// Each function that CUDA's headers have for objects compiles, for elements of several types.
func TestTextureFunctions(t *testing.T) {
	b := newBox(t, throughPTX(t, sim.Options{Devices: 1}))
	where := map[string]string{"1D": "x", "2D": "x, y", "3D": "x, y, z", "1DLayered": "x, 2", "2DLayered": "x, y, 2", "Cubemap": "x, y, z", "CubemapLayered": "x, y, z, 1"}
	slopes := map[string]string{"1": ", 1.0f, 2.0f", "2": ", make_float2(1, 2), make_float2(3, 4)", "3": ", make_float4(1, 2, 3, 4), make_float4(1, 2, 3, 4)", "C": ", make_float4(1, 2, 3, 4), make_float4(1, 2, 3, 4)"}
	bytes := map[string]string{"1D": "4", "2D": "4, 1", "3D": "4, 1, 2", "1DLayered": "4, 1", "2DLayered": "4, 1, 2", "Cubemap": "4, 1, 2", "CubemapLayered": "4, 1, 2"}
	types := []string{"float", "float4", "int2", "unsigned char", "short4"}
	if testing.Short() {
		types = types[1:2]
	}
	var code strings.Builder
	for n, T := range types {
		fmt.Fprintf(&code, "extern \"C\" __global__ void k%d(cudaTextureObject_t t, cudaSurfaceObject_t s, %[2]s *out, float x, float y, float z) {\n%[2]s v; bool r;\n", n, T)
		for kind, at := range where {
			fmt.Fprintf(&code, "*out = tex%[1]s<%[2]s>(t, %[3]s); out[1] = tex%[1]sLod<%[2]s>(t, %[3]s, 1.0f); out[2] = tex%[1]sGrad<%[2]s>(t, %[3]s%[4]s);\n", kind, T, at, slopes[kind[:1]])
			for _, mode := range []string{"Trap", "Clamp", "Zero"} {
				fmt.Fprintf(&code, "v = surf%[1]sread<%[2]s>(s, %[3]s, cudaBoundaryMode%[4]s); out[3] = v; surf%[1]swrite(v, s, %[3]s, cudaBoundaryMode%[4]s);\n", kind, T, bytes[kind], mode)
			}
		}
		for _, kind := range []string{"2D", "3D", "2DLayered"} {
			fmt.Fprintf(&code, "out[4] = tex%s<%s>(t, %s, &r); if (r) out[5] = tex1Dfetch<%[2]s>(t, 3);\n", kind, T, where[kind])
		}
		code.WriteString("}\n")
	}
	if _, err := b.d.Compile(0, &driver.Source{Name: "test.cu", Code: code.String()}); err != nil {
		t.Error(err)
	}
}
