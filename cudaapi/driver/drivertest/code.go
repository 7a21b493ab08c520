package drivertest

import (
	"encoding/binary"
	"errors"
	"strings"

	"gocuda/cudaapi/driver"
)

// fill writes a word n times.
const fill = `extern "C" __global__ void fill(unsigned *p, unsigned v, unsigned n) {
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) p[i] = v;
}`

// scaleInPTX multiplies the first n elements by a variable, which is 3 at first.
const scaleInPTX = `.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 factor = 3;
.visible .entry scale(.param .u64 p, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	setp.ge.u32 %p1, %r2, %r1;
	@%p1 bra done;
	cvta.to.global.u64 %rd2, %rd1;
	mul.wide.u32 %rd3, %r2, 4;
	add.s64 %rd4, %rd2, %rd3;
	ld.global.u32 %r3, [%rd4];
	ld.global.u32 %r4, [factor];
	mul.lo.u32 %r5, %r3, %r4;
	st.global.u32 [%rd4], %r5;
done:
	ret;
}
`

// kernel compiles, loads and finds a kernel; it skips the case where there is
// no compiler.
func (e *env) kernel(dev int, code, symbol string) driver.Function {
	e.Helper()
	m := e.module(dev, code)
	f, err := e.d.ModuleFunction(e.ctx[dev], m, symbol)
	e.ok(err)
	e.origins[f] = &driver.Origin{Source: &driver.Source{Name: "case.cu", Code: code}, Module: m, Symbol: symbol, Polls: strings.Contains(code, "volatile")}
	if p, ok := e.d.(driver.Preloader); ok && p.Preloads() {
		p.Preload(e.ctx[dev], e.origins[f])
	}
	return f
}

func (e *env) module(dev int, code string, names ...string) driver.Module {
	e.Helper()
	m, err := e.d.ModuleLoad(e.ctx[dev], e.compile(dev, code, names...).Image)
	e.ok(err)
	e.Cleanup(func() { _ = e.d.ModuleUnload(e.ctx[dev], m) })
	return m
}

func (e *env) compile(dev int, code string, names ...string) *driver.Compiled {
	e.Helper()
	c, err := e.d.Compile(driver.Device(dev), &driver.Source{Name: "case.cu", Code: code, Names: names})
	if errors.Is(err, driver.ErrSharedObjectInit) || errors.Is(err, driver.ErrFileNotFound) {
		e.Skipf("no compiler: %v", err)
	}
	e.ok(err)
	return c
}

// packed are arguments as a kernel takes them, and where the addresses are.
type packed struct {
	bytes    []byte
	pointers []driver.PointerParam
}

// args packs addresses (driver.Ptr), uint32, uint64, and byte slices.
func args(values ...any) packed {
	var p packed
	align := func(n int) {
		for len(p.bytes)%n != 0 {
			p.bytes = append(p.bytes, 0)
		}
	}
	for _, v := range values {
		switch v := v.(type) {
		case driver.Ptr:
			align(8)
			p.pointers = append(p.pointers, driver.PointerParam{Offset: uint32(len(p.bytes))})
			p.bytes = binary.LittleEndian.AppendUint64(p.bytes, uint64(v))
		case uint64:
			align(8)
			p.bytes = binary.LittleEndian.AppendUint64(p.bytes, v)
		case uint32:
			align(4)
			p.bytes = binary.LittleEndian.AppendUint32(p.bytes, v)
		case []byte:
			p.bytes = append(p.bytes, v...)
		}
	}
	return p
}

func launchOf(f driver.Function, s driver.Stream, grid, block uint32, a packed) *driver.Launch {
	return &driver.Launch{Function: f, Grid: driver.Dim3{X: grid, Y: 1, Z: 1}, Block: driver.Dim3{X: block, Y: 1, Z: 1}, Stream: s, Params: a.bytes, Pointers: a.pointers, Name: "kernel"}
}

func (e *env) launch(dev int, f driver.Function, s driver.Stream, grid, block uint32, a packed) {
	e.Helper()
	l := launchOf(f, s, grid, block, a)
	l.Origin = e.origins[f]
	e.ok(e.d.Launch(e.ctx[dev], l))
}

var codeTests = []test{
	{name: "a kernel writes memory", run: func(e *env) {
		f := e.kernel(0, fill, "fill")
		p, s := e.alloc(0, 4096, 0), e.stream(0, driver.StreamNonBlocking)
		e.launch(0, f, s, 4, 256, args(p, uint32(0x01010101), uint32(1000)))
		e.sync(0, s)
		e.all(0, p, 4000, 1)
		e.all(0, p+4000, 96, 0)
	}},
	{name: "a kernel keeps its stream's order", run: func(e *env) {
		f := e.kernel(0, fill, "fill")
		p, s := e.alloc(0, 4096, 0), e.stream(0, driver.StreamNonBlocking)
		g := e.hold(0, s)
		e.launch(0, f, s, 4, 256, args(p, uint32(0x01010101), uint32(1024)))
		e.pending(0, s, "kernel behind a gate")
		e.before(0, p, 4096, 0)
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 2, 1, 100, s))
		g.release()
		e.sync(0, s)
		e.all(0, p, 100, 2)
		e.all(0, p+100, 3996, 1)
	}},
	{name: "a launch returns before the kernel is done", run: func(e *env) {
		f := e.kernel(0, fill, "fill")
		p, s := e.alloc(0, 4096, 0), e.stream(0, driver.StreamNonBlocking)
		g := e.hold(0, s)
		e.returns("cuLaunchKernel", g.release, func() error {
			return e.d.Launch(e.ctx[0], launchOf(f, s, 4, 256, args(p, uint32(0), uint32(1024))))
		})
		g.release()
	}},
	{name: "arguments are taken at the launch", run: func(e *env) {
		f := e.kernel(0, fill, "fill")
		p, s := e.alloc(0, 4096, 0), e.stream(0, driver.StreamNonBlocking)
		g := e.hold(0, s)
		a := args(p, uint32(0x01010101), uint32(1024))
		e.launch(0, f, s, 4, 256, a)
		clear(a.bytes)
		g.release()
		e.sync(0, s)
		e.all(0, p, 4096, 1)
	}},
	{name: "parameters have the places of C", run: func(e *env) {
		f := e.kernel(0, `struct S { char c; double d; };
extern "C" __global__ void k(char a, double b, short c, int d, S s, float *p) { if (p) *p = a + b + c + d + s.c; }`, "k")
		params, err := e.d.FunctionParams(e.ctx[0], f)
		e.ok(err)
		want := []driver.Param{{Offset: 0, Size: 1}, {Offset: 8, Size: 8}, {Offset: 16, Size: 2}, {Offset: 20, Size: 4}, {Offset: 24, Size: 16}, {Offset: 40, Size: 8}}
		if len(params) != len(want) {
			e.Fatalf("%+v", params)
		}
		for i := range want {
			if params[i] != want[i] {
				e.Errorf("parameter %d: %+v, want %+v", i, params[i], want[i])
			}
		}
	}},
	{name: "a kernel without parameters", run: func(e *env) {
		f := e.kernel(0, `extern "C" __global__ void k() {}`, "k")
		params, err := e.d.FunctionParams(e.ctx[0], f)
		e.ok(err)
		if len(params) != 0 {
			e.Errorf("%+v", params)
		}
		e.launch(0, f, driver.StreamDefault, 1, 1, packed{})
		e.sync(0, driver.StreamDefault)
	}},
	{name: "names of C++ are found by their expressions", run: func(e *env) {
		code := "namespace a { template <class T> __global__ void k(T *p) { *p = sizeof(T); } __global__ void l(int *p) { *p = 7; } }"
		c := e.compile(0, code, "a::k<double>", "a::k<short>", "a::l")
		m, err := e.d.ModuleLoad(e.ctx[0], c.Image)
		e.ok(err)
		defer func() { e.ok(e.d.ModuleUnload(e.ctx[0], m)) }()
		p := e.alloc(0, 8, 0)
		f, err := e.d.ModuleFunction(e.ctx[0], m, c.Lowered["a::k<double>"])
		e.ok(err)
		e.launch(0, f, driver.StreamDefault, 1, 1, args(p))
		e.sync(0, driver.StreamDefault)
		if got := binary.LittleEndian.Uint64(e.read(0, p, 8)); got != 0x4020000000000000 { // 8.0
			e.Errorf("k<double> wrote %#x", got)
		}
		f, err = e.d.ModuleFunction(e.ctx[0], m, c.Lowered["a::l"])
		e.ok(err)
		e.launch(0, f, driver.StreamDefault, 1, 1, args(p))
		e.sync(0, driver.StreamDefault)
		if got := e.read(0, p, 1)[0]; got != 7 {
			e.Errorf("l wrote %d", got)
		}
	}},
	{name: "a source with an error names the line", run: func(e *env) {
		e.compile(0, fill) // skips without a compiler
		_, err := e.d.Compile(0, &driver.Source{Name: "case.cu", Code: "__global__ void k() {\n\tint x = nothing;\n}\n"})
		e.code(err, driver.ErrInvalidSource)
		if err != nil && (!strings.Contains(err.Error(), "case.cu") || !strings.Contains(err.Error(), "nothing") || !strings.Contains(err.Error(), "2")) {
			e.Errorf("the error does not name the place: %v", err)
		}
	}},
	{name: "options reach the compiler", run: func(e *env) {
		e.compile(0, fill)
		c, err := e.d.Compile(0, &driver.Source{Name: "case.cu", Code: `extern "C" __global__ void k(int *p) { *p = N; }`, Options: []string{"-DN=77"}})
		e.ok(err)
		m, err := e.d.ModuleLoad(e.ctx[0], c.Image)
		e.ok(err)
		defer func() { e.ok(e.d.ModuleUnload(e.ctx[0], m)) }()
		f, err := e.d.ModuleFunction(e.ctx[0], m, "k")
		e.ok(err)
		p := e.alloc(0, 4, 0)
		e.launch(0, f, driver.StreamDefault, 1, 1, args(p))
		e.sync(0, driver.StreamDefault)
		if got := e.read(0, p, 1)[0]; got != 77 {
			e.Errorf("%d", got)
		}
	}},
	{name: "a module lists its functions", run: func(e *env) {
		m := e.module(0, `extern "C" __global__ void one() {} extern "C" __global__ void two() {}`)
		names, err := e.d.ModuleFunctions(e.ctx[0], m)
		e.ok(err)
		if s := strings.Join(names, " "); len(names) != 2 || !strings.Contains(s, "one") || !strings.Contains(s, "two") {
			e.Errorf("%q", names)
		}
	}},
	{name: "a function that is not there is not found", run: func(e *env) {
		m := e.module(0, fill)
		_, err := e.d.ModuleFunction(e.ctx[0], m, "nothing")
		e.code(err, driver.ErrNotFound)
		_, _, err = e.d.ModuleGlobal(e.ctx[0], m, "nothing")
		e.code(err, driver.ErrNotFound)
	}},
	{name: "noise is not an image", run: func(e *env) {
		_, err := e.d.ModuleLoad(e.ctx[0], []byte("this is no code at all"))
		e.code(err, driver.ErrInvalidImage, driver.ErrInvalidPTX, driver.ErrNoBinaryForGPU)
	}},
	{name: "a module in PTX", run: func(e *env) {
		e.compile(0, fill) // skips without a compiler
		m, err := e.d.ModuleLoad(e.ctx[0], []byte(scaleInPTX))
		e.ok(err)
		defer func() { e.ok(e.d.ModuleUnload(e.ctx[0], m)) }()
		names, err := e.d.ModuleFunctions(e.ctx[0], m)
		e.ok(err)
		if len(names) != 1 || names[0] != "scale" {
			e.Errorf("%q", names)
		}
		f, err := e.d.ModuleFunction(e.ctx[0], m, "scale")
		e.ok(err)
		params, err := e.d.FunctionParams(e.ctx[0], f)
		e.ok(err)
		if len(params) != 2 || params[0] != (driver.Param{Offset: 0, Size: 8}) || params[1] != (driver.Param{Offset: 8, Size: 4}) {
			e.Errorf("%+v", params)
		}
		g, size, err := e.d.ModuleGlobal(e.ctx[0], m, "factor")
		e.ok(err)
		if size != 4 {
			e.Errorf("factor has %d bytes", size)
		}
		p := e.alloc(0, 16, 0)
		e.ok(e.d.Memset(e.ctx[0], p, 7, 4, 4))
		for _, want := range []byte{21, 105} {
			e.launch(0, f, driver.StreamDefault, 1, 4, args(p, uint32(3)))
			e.sync(0, driver.StreamDefault)
			if got := e.read(0, p, 16); got[0] != want || got[8] != want || got[12] != 7 {
				e.Errorf("% x, want %d in three", got, want)
			}
			e.ok(e.d.Memset(e.ctx[0], g, 5, 4, 1))
		}
	}},
	{name: "PTX that does not assemble", run: func(e *env) {
		e.compile(0, fill)
		for _, wrong := range [][2]string{{"mul.lo.u32", "mul.lo.q32"}, {"ret;", "ret"}, {"@%p1 bra done;", "@%p1 bra nowhere;"}} {
			_, err := e.d.ModuleLoad(e.ctx[0], []byte(strings.Replace(scaleInPTX, wrong[0], wrong[1], 1)))
			e.code(err, driver.ErrInvalidPTX)
		}
	}},
	{name: "globals and constants", run: func(e *env) {
		m := e.module(0, `__constant__ int c[4]; __device__ int g = 5;
extern "C" __global__ void k(int *p) { p[0] = c[2]; p[1] = g; g = 9; }`)
		f, err := e.d.ModuleFunction(e.ctx[0], m, "k")
		e.ok(err)
		c, size, err := e.d.ModuleGlobal(e.ctx[0], m, "c")
		e.ok(err)
		if size != 16 {
			e.Errorf("c has %d bytes", size)
		}
		e.ok(e.d.Memset(e.ctx[0], c+8, 42, 4, 1))
		p := e.alloc(0, 8, 0)
		e.launch(0, f, driver.StreamDefault, 1, 1, args(p))
		e.sync(0, driver.StreamDefault)
		if got := e.read(0, p, 8); got[0] != 42 || got[4] != 5 {
			e.Errorf("% x", got)
		}
		g, _, err := e.d.ModuleGlobal(e.ctx[0], m, "g")
		e.ok(err)
		if got := e.read(0, g, 1)[0]; got != 9 {
			e.Errorf("g is %d", got)
		}
	}},
	{name: "impossible shapes are invalid values", run: func(e *env) {
		f := e.kernel(0, fill, "fill")
		a := args(e.alloc(0, 4, 0), uint32(0), uint32(0))
		most, err := e.d.DeviceAttribute(driver.MaxThreadsPerBlock, 0)
		e.ok(err)
		e.code(e.d.Launch(e.ctx[0], launchOf(f, 0, 0, 1, a)), driver.ErrInvalidValue)
		e.code(e.d.Launch(e.ctx[0], launchOf(f, 0, 1, 0, a)), driver.ErrInvalidValue)
		e.code(e.d.Launch(e.ctx[0], launchOf(f, 0, 1, uint32(most)+1, a)), driver.ErrInvalidValue)
		l := launchOf(f, 0, 1, 1, a)
		l.Block.Z = 65
		e.code(e.d.Launch(e.ctx[0], l), driver.ErrInvalidValue)
		l = launchOf(f, 0, 1, 1, a)
		l.Grid.Y = 65536
		e.code(e.d.Launch(e.ctx[0], l), driver.ErrInvalidValue)
		l = launchOf(f, 0, 1, 1, a)
		l.SharedBytes = 64 << 20
		e.code(e.d.Launch(e.ctx[0], l), driver.ErrInvalidValue)
	}},
	{name: "more than 48 KiB of shared memory must be asked for", run: func(e *env) {
		f := e.kernel(0, `extern "C" __global__ void k(int *p) { extern __shared__ int s[]; s[15000] = 3; *p = s[15000]; }`, "k")
		optin, err := e.d.DeviceAttribute(driver.MaxSharedMemoryOptin, 0)
		e.ok(err)
		if optin < 64<<10 {
			e.Skipf("a block has at most %d bytes here", optin)
		}
		p := e.alloc(0, 4, 0)
		l := launchOf(f, 0, 1, 1, args(p))
		l.SharedBytes = 64 << 10
		e.code(e.d.Launch(e.ctx[0], l), driver.ErrInvalidValue)
		e.ok(e.d.SetFunctionAttribute(e.ctx[0], f, driver.FuncMaxDynamicShared, 64<<10))
		e.ok(e.d.Launch(e.ctx[0], l))
		e.sync(0, driver.StreamDefault)
		if got := e.read(0, p, 1)[0]; got != 3 {
			e.Errorf("%d", got)
		}
		e.code(e.d.SetFunctionAttribute(e.ctx[0], f, driver.FuncMaxDynamicShared, optin+1), driver.ErrInvalidValue)
	}},
	{name: "a function on another device's stream is refused", devices: 2, run: func(e *env) {
		f := e.kernel(0, fill, "fill")
		s := e.stream(1, driver.StreamNonBlocking)
		err := e.d.Launch(e.ctx[0], launchOf(f, s, 1, 1, args(e.alloc(0, 4, 0), uint32(0), uint32(0))))
		e.code(err, driver.ErrInvalidHandle, driver.ErrInvalidContext, driver.ErrInvalidValue)
	}},
	{name: "attributes of a function", run: func(e *env) {
		f := e.kernel(0, `extern "C" __global__ void k(int *p) { __shared__ int s[64]; s[threadIdx.x] = *p; __syncthreads(); *p = s[63 - threadIdx.x]; }`, "k")
		for _, a := range []struct {
			attr     driver.FunctionAttribute
			min, max int
		}{{driver.FuncMaxThreadsPerBlock, 64, 4096}, {driver.FuncSharedBytes, 256, 256}, {driver.FuncRegisters, 1, 255}} {
			v, err := e.d.FunctionAttribute(e.ctx[0], f, a.attr)
			e.ok(err)
			if v < a.min || v > a.max {
				e.Errorf("attribute %d is %d, want %d to %d", a.attr, v, a.min, a.max)
			}
		}
	}},
	{name: "occupancy falls with shared memory", run: func(e *env) {
		f := e.kernel(0, fill, "fill")
		free, err := e.d.MaxActiveBlocks(e.ctx[0], f, 128, 0)
		e.ok(err)
		tight, err := e.d.MaxActiveBlocks(e.ctx[0], f, 128, 40<<10)
		e.ok(err)
		if free < 1 || tight < 1 || tight >= free {
			e.Errorf("%d blocks, with 40 KiB each %d", free, tight)
		}
	}},
	{name: "blocks of three dimensions have their indices", run: func(e *env) {
		f := e.kernel(0, `extern "C" __global__ void k(int *p) {
	int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
	int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
	p[block * blockDim.x * blockDim.y * blockDim.z + thread] = blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z + 1000 * threadIdx.x + 10000 * threadIdx.y + 100000 * threadIdx.z;
}`, "k")
		p := e.alloc(0, 2*3*4*2*3*4*4, 0)
		l := launchOf(f, 0, 2, 2, args(p))
		l.Grid.Y, l.Grid.Z, l.Block.Y, l.Block.Z = 3, 4, 3, 4
		e.ok(e.d.Launch(e.ctx[0], l))
		e.sync(0, driver.StreamDefault)
		got := e.read(0, p, 2*3*4*2*3*4*4)
		for block := range 24 {
			for thread := range 24 {
				want := block%2 + 10*(block/2%3) + 100*(block/6) + 1000*(thread%2) + 10000*(thread/2%3) + 100000*(thread/6)
				if v := int(binary.LittleEndian.Uint32(got[4*(block*24+thread):])); v != want {
					e.Fatalf("block %d, thread %d: %d, want %d", block, thread, v, want)
				}
			}
		}
	}},
	{name: "threads of a block meet at barriers", run: func(e *env) {
		f := e.kernel(0, `extern "C" __global__ void sum(const int *in, int *out) {
	__shared__ int s[256];
	int t = threadIdx.x;
	s[t] = in[blockIdx.x * 256 + t];
	for (int n = 128; n > 0; n /= 2) { __syncthreads(); if (t < n) s[t] += s[t + n]; }
	if (t == 0) atomicAdd(out, s[0]);
}`, "sum")
		in, out := e.alloc(0, 4*256*16, 0), e.alloc(0, 4, 0)
		e.ok(e.d.Memset(e.ctx[0], in, 3, 4, 256*16))
		e.launch(0, f, driver.StreamDefault, 16, 256, args(in, out))
		e.sync(0, driver.StreamDefault)
		if got := binary.LittleEndian.Uint32(e.read(0, out, 4)); got != 3*256*16 {
			e.Errorf("%d", got)
		}
	}},
}
