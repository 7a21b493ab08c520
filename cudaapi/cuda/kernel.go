package cuda

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"gocuda/cudaapi/cuda/internal/signature"
	"gocuda/cudaapi/driver"
)

// GridDim is how many blocks a launch has, in x, y and z; see [Grid].
type GridDim struct{ X, Y, Z int }

// BlockDim is how many threads a block has, in x, y and z; see [Block].
type BlockDim struct{ X, Y, Z int }

// Grid is a launch's blocks: Grid(x), Grid(x, y) or Grid(x, y, z).
func Grid(x int, yz ...int) GridDim {
	g := GridDim{x, 1, 1}
	if len(yz) > 0 {
		g.Y = yz[0]
	}
	if len(yz) > 1 {
		g.Z = yz[1]
	}
	return g
}

// Block is a block's threads: Block(x), Block(x, y) or Block(x, y, z).
func Block(x int, yz ...int) BlockDim { return BlockDim(Grid(x, yz...)) }

// GridFor is the one-dimensional grid that covers n elements with blocks of the
// given number of threads.
func GridFor(n, threads int) GridDim {
	if threads < 1 {
		return GridDim{0, 1, 1} // Launch refuses it
	}
	return Grid(max(1, (n+threads-1)/threads))
}

// Kernel is a __global__ function, ready to launch on any device.
type Kernel struct {
	code        *kernelCode
	shared      int
	cooperative bool
	races       bool                     // emulated launches look for them
	counts      *KernelCounts            // emulated launches fill it
	attributes  *driver.LaunchAttributes // nil for none
}

// kernelCode is what the copies of a Kernel with other options share.
type kernelCode struct {
	mod  *Module
	name string
	sig  *signature.Kernel // nil for compiled images
	on   []atomic.Pointer[function]
	mu   sync.Mutex

	shared int // the least that a launch must give; 1 stands for some
}

// function is a kernel on one device.
type function struct {
	h        driver.Function
	origin   *driver.Origin
	epoch    uint32
	params   []param
	quick    []quick // the same, in short
	bytes    int     // of all arguments
	pointers []driver.PointerParam
	objects  []driver.ObjectParam
	dynamic  int // shared memory that the function was allowed, bytes
}

// Name is the kernel's name in the source.
func (k *Kernel) Name() string { return k.code.name }

// call is what a launch needs beside its arguments; pooled, so that a launch
// allocates nothing.
type call struct {
	launch driver.Launch
	params [maxParams]byte
}

// maxParams is the limit of a kernel's arguments, in bytes, since CUDA 12.1.
const maxParams = 32764

var calls = sync.Pool{New: func() any { return new(call) }}

// Launch queues the kernel on a stream: kernel<<<grid, block, shared, stream>>>.
// A nil stream is the current device's legacy default stream. It returns when
// the launch is queued; what goes wrong while the kernel runs is reported by a
// later call, such as Synchronize.
//
// Arguments are checked against the C++ signature. A pointer takes a *Buffer
// (of matching elements), a *HostBuffer that is pinned, or nil; a number takes
// any Go number that it can hold without loss of its value (rounding of a
// fraction aside); a structure takes a Go struct of the same size without
// pointers; cudaTextureObject_t takes a *Texture, cudaSurfaceObject_t a *Surface.
func (k *Kernel) Launch(grid GridDim, block BlockDim, s *Stream, args ...any) error {
	s, c, f, err := k.target("Kernel.Launch", s)
	if err != nil {
		return err
	}
	cl := calls.Get().(*call)
	if err = k.pack(cl, f, c, grid, block, s, args); err == nil {
		err = k.queue(cl, c, f, s, grid, block, args)
	}
	calls.Put(cl)
	return err
}

// target is where a launch goes: the stream, its context, the kernel there.
func (k *Kernel) target(call string, s *Stream) (*Stream, driver.Context, *function, error) {
	if s == nil {
		d, err := CurrentDevice()
		if err != nil {
			return nil, 0, nil, err
		}
		s = d.DefaultStream()
	}
	c, err := s.use(call)
	if err != nil {
		return nil, 0, nil, err
	}
	f, err := k.code.function(s.dev)
	return s, c, f, err
}

// pack checks a launch and writes it to cl.
func (k *Kernel) pack(cl *call, f *function, c driver.Context, grid GridDim, block BlockDim, s *Stream, args []any) error {
	d := s.dev
	if k.shared > f.dynamic {
		if err := f.allow(d, c, k); err != nil {
			return err
		}
	}
	if k.shared < k.code.shared {
		need, give := "some", "bytes"
		if k.code.shared > 1 {
			need = fmt.Sprint(k.code.shared, " bytes")
			give = fmt.Sprint(k.code.shared)
		}
		return misuse(driver.ErrInvalidValue, "Kernel.Launch", d, "%[1]s needs %[2]s of dynamic shared memory (gpu.DynamicShared), and the launch gives %[3]d: %[1]s.With(cuda.SharedMemory(%[4]s)).Launch(...)", k.code.name, need, k.shared, give)
	}
	if !grid.valid() || !block.valid() {
		return misuse(driver.ErrInvalidValue, "Kernel.Launch", d, "%s: a grid of %v and blocks of %v: each number must be from 1 to 2147483647", k.code.name, grid, block)
	}
	if len(args) != len(f.params) {
		for i, a := range args {
			if _, ok := a.(LaunchOption); ok {
				return misuse(driver.ErrInvalidValue, "Kernel.Launch", d, "argument %d is a launch option: pass it by %s.With(option).Launch(...)", i+1, k.code.name)
			}
		}
		return misuse(driver.ErrInvalidValue, "Kernel.Launch", d, "%s", takes(k.signature(), len(f.params), len(args)))
	}
	for i := packPlain(0, f.quick, &cl.params, args, d); i < len(f.params); i = packPlain(i+1, f.quick, &cl.params, args, d) {
		p := &f.params[i]
		if msg := p.put(cl.params[p.offset:p.offset+p.size], args[i], d); msg != "" {
			return misuse(driver.ErrInvalidValue, "Kernel.Launch", d, "argument %d (%s) of %s: %s", i+1, p.name, k.signature(), msg)
		}
	}
	// Field by field, for a copy of the whole costs more than all of them.
	l := &cl.launch
	l.Function, l.Stream = f.h, s.h
	l.Grid = driver.Dim3{X: uint32(grid.X), Y: uint32(grid.Y), Z: uint32(grid.Z)}
	l.Block = driver.Dim3{X: uint32(block.X), Y: uint32(block.Y), Z: uint32(block.Z)}
	l.SharedBytes, l.Cooperative, l.Attributes = uint32(k.shared), k.cooperative, k.attributes
	l.Params, l.Pointers, l.Objects, l.Name, l.Origin = cl.params[:f.bytes], f.pointers, f.objects, k.code.name, f.origin
	return nil
}

// queue gives a launch to the driver. The arguments are alive until it is queued.
func (k *Kernel) queue(cl *call, c driver.Context, f *function, s *Stream, grid GridDim, block BlockDim, args []any) error {
	d := s.dev
	d.recent.add(k.code)
	err := d.drv().Launch(c, &cl.launch)
	if err == nil && d.sys.captures.active.Load() > 0 {
		s.launched(k.code, f, args)
	}
	runtime.KeepAlive(args)
	if err != nil {
		return k.failed(d, err, grid, block)
	}
	return nil
}

func (g GridDim) valid() bool {
	const most = 1<<31 - 1
	return uint(g.X-1) < most && uint(g.Y-1) < most && uint(g.Z-1) < most
}

func (b BlockDim) valid() bool { return GridDim(b).valid() }

func (g GridDim) String() string { return fmt.Sprintf("(%d, %d, %d)", g.X, g.Y, g.Z) }

func (b BlockDim) String() string { return GridDim(b).String() }

// failed says more about a launch that CUDA refused.
func (k *Kernel) failed(d *Device, err error, grid GridDim, block BlockDim) error {
	err = d.fail(err)
	if e, ok := err.(*Error); ok {
		what := fmt.Sprintf("%s with a grid of %v, blocks of %v and %d bytes of shared memory", k.code.name, grid, block, k.shared)
		if a := k.attributes; a != nil && a.Cluster != (driver.Dim3{}) {
			what += fmt.Sprintf(", in clusters of %v", GridDim{int(a.Cluster.X), int(a.Cluster.Y), int(a.Cluster.Z)})
		}
		if why := k.tooMuch(d, e.code, grid, block); why != "" {
			e.Detail, e.Hint = what, why
		} else {
			e.Detail = join(what, e.Detail)
		}
	}
	return err
}

// tooMuch says which limit a launch exceeds that was refused with a code; "": none that is known.
func (k *Kernel) tooMuch(d *Device, code driver.Code, grid GridDim, block BlockDim) string {
	threads := block.X * block.Y * block.Z
	switch code {
	case driver.ErrInvalidValue:
		if most, err := d.Attribute(driver.MaxThreadsPerBlock); err == nil && threads > most {
			return fmt.Sprintf("a block has at most %d threads, this one has %d", most, threads)
		}
		if most, err := k.Attribute(d, driver.FuncMaxThreadsPerBlock); err == nil && threads > most {
			return fmt.Sprintf("a block of this kernel has at most %d threads, by its __launch_bounds__ or its registers; this one has %d", most, threads)
		}
		for _, limit := range []struct {
			a    driver.Attribute
			n    int
			what string
		}{
			{driver.MaxBlockDimX, block.X, "a block has at most %d threads in x, this one has %d"},
			{driver.MaxBlockDimY, block.Y, "a block has at most %d threads in y, this one has %d"},
			{driver.MaxBlockDimZ, block.Z, "a block has at most %d threads in z, this one has %d"},
			{driver.MaxGridDimX, grid.X, "a grid has at most %d blocks in x, this one has %d"},
			{driver.MaxGridDimY, grid.Y, "a grid has at most %d blocks in y, this one has %d"},
			{driver.MaxGridDimZ, grid.Z, "a grid has at most %d blocks in z, this one has %d"},
		} {
			if most, err := d.Attribute(limit.a); err == nil && limit.n > most {
				return fmt.Sprintf(limit.what, most, limit.n)
			}
		}
	case driver.ErrInvalidClusterSize:
		return hints[code]
	case driver.ErrCooperativeTooLarge:
		each, err := k.MaxActiveBlocks(d, block)
		processors, other := d.MultiprocessorCount()
		if err == nil && other == nil {
			return fmt.Sprintf("%d such blocks run at a time, and the grid has %d; %s", each*processors, grid.X*grid.Y*grid.Z, hints[code])
		}
	}
	return ""
}

// function gives the kernel on d, loading it at its first use there.
func (k *kernelCode) function(d *Device) (*function, error) {
	if d.sys != k.mod.sys {
		return nil, misuse(driver.ErrInvalidDevice, "Kernel.Launch", d, "%s was compiled for another back end", k.name)
	}
	if f := k.on[d.id].Load(); f != nil && f.epoch == d.epoch.Load() {
		return f, nil
	}
	h, c, err := k.mod.load(d)
	if err != nil {
		return nil, err
	}
	symbol, err := k.mod.symbol(k, d)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if f := k.on[d.id].Load(); f != nil && f.epoch == d.epoch.Load() {
		return f, nil // another goroutine was first: graphs and prepared launches know it by f
	}
	f := &function{epoch: d.epoch.Load(), origin: &driver.Origin{Source: k.mod.src, Image: k.mod.image, Module: h, Symbol: symbol, Polls: k.mod.polls}}
	if f.h, err = d.drv().ModuleFunction(c, h, symbol); err != nil {
		return nil, d.fail(err)
	}
	if p := d.preloader(); p != nil && !k.mod.library {
		p.Preload(c, f.origin)
	}
	laidOut, err := d.drv().FunctionParams(c, f.h)
	if err != nil && !isCode(err, driver.ErrNotSupported) {
		return nil, d.fail(err)
	}
	if f.params, err = layout(k.sig, laidOut, err == nil); err != nil {
		return nil, misuse(driver.ErrNotSupported, "Kernel.Launch", d, "%s: %v", k.name, err)
	}
	for _, p := range f.params {
		f.quick = append(f.quick, p.quicken())
		f.bytes = max(f.bytes, p.offset+p.size)
		if p.kind == signature.Pointer || p.kind == signature.Slice {
			f.pointers = append(f.pointers, driver.PointerParam{Offset: uint32(p.offset), ReadOnly: p.readOnly, Name: p.name, Elem: uint32(p.elemSize)})
		}
		if p.object() != "" {
			f.objects = append(f.objects, driver.ObjectParam{Offset: uint32(p.offset), Surface: p.kind == signature.Surface})
		}
	}
	if f.bytes > maxParams {
		return nil, misuse(driver.ErrNotSupported, "Kernel.Launch", d, "%s takes %d bytes of arguments; at most %d can be passed", k.name, f.bytes, maxParams)
	}
	const withoutAsking = 48 << 10
	f.dynamic = withoutAsking
	if static, err := d.drv().FunctionAttribute(c, f.h, driver.FuncSharedBytes); err == nil {
		f.dynamic = max(0, withoutAsking-static)
	}
	k.on[d.id].Store(f)
	return f, nil
}

// allow asks for more dynamic shared memory than a function has by default.
func (f *function) allow(d *Device, c driver.Context, k *Kernel) error {
	k.code.mu.Lock()
	defer k.code.mu.Unlock()
	if err := d.drv().SetFunctionAttribute(c, f.h, driver.FuncMaxDynamicShared, k.shared); err != nil {
		err = d.fail(err)
		if e, ok := err.(*Error); ok {
			e.Detail = fmt.Sprintf("%s with %d bytes of dynamic shared memory", k.code.name, k.shared)
			if most, err := d.Attribute(driver.MaxSharedMemoryOptin); err == nil {
				e.Hint = fmt.Sprintf("a block has at most %d bytes of shared memory", most)
			}
		}
		return err
	}
	f.dynamic = k.shared
	return nil
}

// signature is the kernel as C++ declares it.
func (k *Kernel) signature() string {
	sig := k.code.sig
	if sig == nil {
		return k.code.name
	}
	var params []string
	for _, p := range sig.Params {
		if sig.Go {
			params = append(params, p.Name+" "+p.Type.Name)
			continue
		}
		params = append(params, p.Declaration())
	}
	return sig.Name + "(" + strings.Join(params, ", ") + ")"
}

func (k *Kernel) String() string {
	if k.code.sig != nil && k.code.sig.Go {
		return "func " + k.signature()
	}
	return "__global__ void " + k.signature()
}

// on is the kernel's function in the context of d.
func (k *Kernel) on(d *Device) (driver.Context, driver.Function, error) {
	f, err := k.code.function(d)
	if err != nil {
		return 0, 0, err
	}
	c, err := d.context()
	return c, f.h, err
}

// MaxActiveBlocks is how many blocks of a size one multiprocessor of d holds at
// once (cudaOccupancyMaxActiveBlocksPerMultiprocessor).
func (k *Kernel) MaxActiveBlocks(d *Device, block BlockDim) (int, error) {
	c, f, err := k.on(d)
	if err != nil {
		return 0, err
	}
	n, err := d.drv().MaxActiveBlocks(c, f, block.X*block.Y*block.Z, uint64(k.shared))
	return n, d.fail(err)
}

// Attribute is one of CUDA's function attributes on d, such as
// driver.FuncRegisters.
func (k *Kernel) Attribute(d *Device, a driver.FunctionAttribute) (int, error) {
	c, f, err := k.on(d)
	if err != nil {
		return 0, err
	}
	v, err := d.drv().FunctionAttribute(c, f, a)
	return v, d.fail(err)
}

// recentLaunches remembers the kernels launched on a device since it was last
// known to be idle, to name who may have caused a sticky error.
type recentLaunches struct {
	n    atomic.Uint32
	last [8]atomic.Pointer[kernelCode]
}

func (r *recentLaunches) add(k *kernelCode) {
	if r.last[r.n.Load()%uint32(len(r.last))].Load() == k {
		return // the same kernel again, which is quicker to see than to note
	}
	r.last[r.n.Add(1)%uint32(len(r.last))].Store(k)
}

func (r *recentLaunches) clear() {
	for i := range r.last {
		r.last[i].Store(nil)
	}
}

// suspects names the last kernels launched, latest first, on d; or, for an error
// that another device's kernel brought about, on the others.
func (d *Device) suspects() string {
	if own := d.recent.names(); own != "" {
		return "kernels launched since the device was last synchronized, latest first: " + own
	}
	var found []string
	for _, other := range d.sys.devices {
		if names := other.recent.names(); names != "" {
			found = append(found, fmt.Sprintf("%s on device %d", names, other.id))
		}
	}
	if len(found) == 0 {
		return ""
	}
	return "kernels launched since their device was last synchronized, latest first: " + strings.Join(found, "; ")
}

func (r *recentLaunches) names() string {
	var found []string
	seen := map[*kernelCode]bool{}
	n := r.n.Load()
	for i := range uint32(len(r.last)) {
		if k := r.last[(n-i)%uint32(len(r.last))].Load(); k != nil && !seen[k] {
			seen[k] = true
			found = append(found, k.name)
		}
	}
	return strings.Join(found, ", ")
}

// SuggestBlock is the number of threads in a block that keeps d's
// multiprocessors fullest (cudaOccupancyMaxPotentialBlockSize): the largest such
// multiple of a warp.
func (k *Kernel) SuggestBlock(d *Device) (BlockDim, error) {
	most, err := k.Attribute(d, driver.FuncMaxThreadsPerBlock)
	if err != nil {
		return BlockDim{}, err
	}
	warp, err := d.Attribute(driver.WarpSize)
	if err != nil {
		return BlockDim{}, err
	}
	best, fullest := warp, 0
	for threads := most / warp * warp; threads >= warp; threads -= warp {
		blocks, err := k.MaxActiveBlocks(d, Block(threads))
		if err != nil {
			return BlockDim{}, err
		}
		if blocks*threads > fullest {
			best, fullest = threads, blocks*threads
		}
	}
	return Block(best), nil
}

// takes says that a kernel was given a wrong number of arguments.
func takes(kernel string, want, got int) string {
	arguments := "arguments"
	if want == 1 {
		arguments = "argument"
	}
	return fmt.Sprintf("%s takes %d %s, not %d", kernel, want, arguments, got)
}
