package cuda

import (
	"errors"
	"fmt"
	"go/types"
	"sync/atomic"
	"unsafe"

	"gocuda/cudaapi/cuda/internal/signature"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/gokernel"
	"gocuda/cudaapi/internal/waits"
)

// CompileGo compiles functions written in Go to kernels: a file, or declarations
// without a package clause and imports. A function without results is a kernel
// if a launch can give its parameters: numbers, bools, structures and arrays of
// them, and slices, for which Launch takes a *Buffer, whose elements are the
// slice's. Other functions, methods, types and constants are there for the
// kernels. Package gpu has what Go has no word for. Launches of a kernel that calls
// gpu.SyncGrid are cooperative without [Cooperative].
//
// Options are those of [Compile]; [Instantiate] takes instances of generic
// functions, such as "axpy[float32]". An error that the source causes is of type
// gokernel.Errors, with positions.
//
// An index out of range, a division by zero or another panic ends its thread, not
// the others. The first of a module is a [*KernelPanic], which the next call that
// waits for the device returns; the context stays usable. [Unchecked] leaves the
// checks of indices, slices and nil pointers out.
//
// Products and sums may be fused, as Go's specification allows; with
// Flag("--fmad=false") results are those of Go on amd64, functions of package math
// aside.
func CompileGo(source string, options ...CompileOption) (*Module, error) {
	conf, d, err := configure("kernel.go", options)
	if err != nil {
		return nil, err
	}
	prog, err := gokernel.Compile(source, gokernel.Options{Name: conf.name, Instances: conf.exprs, Unchecked: conf.unchecked, CUDA: withHeaders(conf.cuda, conf.name)})
	if err != nil {
		return nil, err
	}
	m := &Module{sys: d.sys, compiled: map[string]*driver.Compiled{}, loaded: map[*Device]loadedModule{}, goCode: prog}
	m.src = &driver.Source{Name: conf.name + ".cu", Shown: conf.name, Code: prog.Code, OnHost: prog.OnHost, Lined: prog.Lined, Options: append([]string{"--device-as-default-execution-space"}, conf.flags...)}
	for i := range prog.Kernels {
		m.add(goSignature(&prog.Kernels[i]))
		m.kernels[i].cooperative = prog.Kernels[i].Cooperative
		m.kernels[i].code.shared = prog.Kernels[i].Shared
	}
	if err := m.compileFirst(d, conf.until); err != nil {
		return nil, err
	}
	return m, nil
}

// Unchecked leaves the checks of indices, slices and nil pointers out of kernels in
// Go, for [CompileGo].
func Unchecked() CompileOption { return func(c *compileConfig) { c.unchecked = true } }

// WithCUDA compiles a program in Go together with CUDA C++, for [CompileGo]: a function
// that the Go declares without a body is a __device__ function of that source. It
// takes numbers, bools, pointers, and slices as pointers.
func WithCUDA(source string) CompileOption { return func(c *compileConfig) { c.cuda += source + "\n" } }

// WithGo compiles CUDA C++ together with functions in Go that it calls, for [Compile]:
// those that take and give numbers, bools and pointers, and slices, for each of which
// the call gives a pointer and a length. A function that panics gives zero, and the panic
// is told as that of a kernel in Go.
func WithGo(source string) CompileOption { return func(c *compileConfig) { c.inGo += source + "\n" } }

// callsGo puts functions in Go before a module's source.
func (m *Module) callsGo(conf *compileConfig) error {
	prog, err := gokernel.Compile(conf.inGo, gokernel.Options{Name: conf.name + ".go", ForCUDA: true})
	if err != nil {
		return err
	}
	m.goCode = prog
	m.src.Code = prog.Code + fmt.Sprintf("\n#line 1 %q\n", conf.name) + m.src.Code
	m.src.Options = append([]string{"--device-as-default-execution-space"}, m.src.Options...)
	return nil
}

// goSignature is what Launch checks arguments by.
func goSignature(k *gokernel.Kernel) *signature.Kernel {
	sig := &signature.Kernel{Name: k.Name, Symbol: k.Symbol, Line: k.Line, Go: true}
	for _, p := range k.Params {
		t := goType(p.Type)
		t.Size = p.Size()
		q := signature.Param{Name: p.Name, Type: t}
		switch u := p.Type.Underlying().(type) {
		case *types.Slice:
			q.Elem = goType(u.Elem())
		case *types.Pointer:
			q.Elem = goType(u.Elem())
		}
		sig.Params = append(sig.Params, q)
	}
	return sig
}

// goType describes a type of Go.
func goType(t types.Type) signature.Type {
	out := signature.Type{Name: types.TypeString(t, func(p *types.Package) string {
		if p.Path() == "main" {
			return ""
		}
		return p.Name()
	}), Size: gokernel.Param{Type: t}.Size()}
	switch gokernel.Half(t) {
	case "Float16":
		out.Kind = signature.Half
		return out
	case "BFloat16":
		out.Kind = signature.BFloat16
		return out
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch info := u.Info(); {
		case info&types.IsBoolean != 0:
			out.Kind = signature.Bool
		case info&types.IsUnsigned != 0:
			out.Kind = signature.Uint
		case info&types.IsInteger != 0:
			out.Kind = signature.Int
		case info&types.IsFloat != 0:
			out.Kind = signature.Float
		}
	case *types.Slice:
		out.Kind = signature.Slice
	case *types.Pointer:
		out.Kind = signature.Pointer
	}
	return out
}

// KernelPanic is a panic of a kernel that was written in Go.
type KernelPanic struct {
	Message string // what went wrong, in which kernel, block and thread, at which line
	Device  int
}

func (e *KernelPanic) Error() string { return e.Message }

// panicRecord is where a module reports its first panic: header/panics.h of package
// gokernel has the same layout.
type panicRecord struct {
	state, site, kernel, _ uint32
	args                   [4]int64
	block, thread          [3]uint32
}

// panicWatch is a record and what is needed to read it.
type panicWatch struct {
	record *panicRecord
	host   *HostBuffer
	code   *gokernel.Program
	epoch  uint32
}

// watch gives a module that was loaded on d a record for its panics.
func (m *Module) watch(d *Device, c driver.Context, h driver.Module) error {
	const size = unsafe.Sizeof(panicRecord{})
	host, err := d.AllocHost(int(size)+8, Uint8, Portable, Mapped) // the record, and its address
	if err != nil {
		return err
	}
	host.own.ours = true
	record := *(**panicRecord)(unsafe.Pointer(&host.ptr))
	*record = panicRecord{}
	*(*uint64)(unsafe.Add(unsafe.Pointer(record), size)) = uint64(host.ptr)
	at, _, err := d.drv().ModuleGlobal(c, h, "go_panics")
	if err == nil {
		err = d.copyAside(c, at, host.ptr+driver.Ptr(size), 8)
	}
	if err != nil {
		return d.fail(err)
	}
	w := &panicWatch{record: record, host: host, code: m.goCode, epoch: d.epoch.Load()}
	for {
		old := d.panics.Load()
		var list []*panicWatch
		if old != nil {
			for _, o := range *old {
				if o.epoch == w.epoch && o.code != m.goCode {
					list = append(list, o)
				}
			}
		}
		list = append(list, w)
		if d.panics.CompareAndSwap(old, &list) {
			return nil
		}
	}
}

// copyAside copies on a stream of its own. It does not wait for what the program has
// queued, and works while a stream is captured. No decorator sees it: a record of what the
// program does has no place for it.
func (d *Device) copyAside(c driver.Context, dst, src driver.Ptr, n uint64) error {
	drv := d.sys.drv
	s, err := drv.StreamCreate(c, driver.StreamNonBlocking, 0)
	if err != nil {
		return err
	}
	err = drv.MemcpyAsync(c, dst, src, n, s)
	return errors.Join(err, drv.StreamSynchronize(c, s, stop()), drv.StreamDestroy(c, s))
}

// panicked is the first panic of a kernel that was not returned yet, or why kernels that
// waited for other ranks were stopped. It is asked after a call that waited for the device.
func (d *Device) panicked() error {
	list := d.panics.Load()
	if list == nil {
		return waits.Failed(int(d.id))
	}
	for _, w := range *list {
		if w.epoch != d.epoch.Load() || atomic.LoadUint32(&w.record.state) != 2 {
			continue
		}
		r := *w.record
		atomic.StoreUint32(&w.record.state, 0)
		text := w.code.Message(int(r.site), int(r.kernel), r.args, r.block, r.thread)
		return &KernelPanic{Message: fmt.Sprintf("panic on device %d: %s", d.id, text), Device: int(d.id)}
	}
	return waits.Failed(int(d.id))
}
