// Package corpus is kernels with inputs and the results that every device must
// give: compiled by NVRTC for a GPU, or by the host's compiler for a simulated
// device, they are the same sources.
package corpus

import (
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"gocuda/cudaapi/driver"
)

//go:embed *.cu
var sources embed.FS

// file is a source and its cases.
type file struct {
	name  string
	names []string // name expressions
	cases []kernelCase
}

// kernelCase is one or more launches on buffers, and what they must leave.
type kernelCase struct {
	name      string
	buffers   []*buffer
	constants map[string]any
	launches  []launch
	tolerance float64 // of floating-point results, relative and absolute
	few       bool    // values of the input that tell: a change seldom shows
}

type launch struct {
	kernel      string
	grid, block driver.Dim3
	shared      uint32
	args        []any // *buffer and scalars
}

// buffer is device memory: its first contents, and its last if they matter.
type buffer struct {
	in, want any // slices
	p        driver.Ptr
}

func dim(n ...uint32) driver.Dim3 {
	d := driver.Dim3{X: 1, Y: 1, Z: 1}
	for i, p := range []*uint32{&d.X, &d.Y, &d.Z} {
		if i < len(n) {
			*p = n[i]
		}
	}
	return d
}

// Run compiles every source for device 0 of d and runs its kernels, each as a
// subtest. It skips where there is no compiler.
func Run(t *testing.T, d driver.Driver) { run(t, d, true, nil) }

// Once is Run with each kernel launched once for each launch of its cases: for those who
// compare what is measured of a launch. It runs the files that are named, or all.
func Once(t *testing.T, d driver.Driver, some ...string) { run(t, d, false, some) }

func run(t *testing.T, d driver.Driver, shows bool, some []string) {
	ctx, err := d.PrimaryRetain(0)
	if err != nil {
		t.Fatal(err)
	}
	all := files()
	inBoth := len(all) // what follows is in CUDA C++ alone
	for i, f := range append(all, programs()...) {
		if some != nil && !slices.Contains(some, f.name) {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			code, err := sources.ReadFile(f.name + ".cu")
			if err != nil {
				t.Fatal(err)
			}
			names := f.names
			for _, c := range f.cases {
				for _, l := range c.launches {
					if !slices.Contains(names, l.kernel) {
						names = append(names, l.kernel)
					}
				}
			}
			out, err := d.Compile(0, &driver.Source{Name: f.name + ".cu", Code: string(code), Names: names})
			if errors.Is(err, driver.ErrSharedObjectInit) || errors.Is(err, driver.ErrFileNotFound) {
				t.Skipf("no compiler: %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "open source file") {
				t.Skipf("the CUDA toolkit's headers are not beside NVRTC: %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "do not know the PTX instruction") {
				t.Skipf("refused: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			mod, err := d.ModuleLoad(ctx, out.Image)
			if err != nil {
				t.Fatal(err)
			}
			defer d.ModuleUnload(ctx, mod) //nolint:errcheck // the test is over
			for _, c := range f.cases {
				t.Run(c.name, func(t *testing.T) {
					c.run(t, d, ctx, mod, out.Lowered)
					if shows && i >= inBoth && !c.few && !t.Failed() && !c.shows(t, d, ctx, mod, out.Lowered) {
						t.Error("no change of an input changes the result")
					}
				})
			}
		})
	}
}

func (c *kernelCase) run(t *testing.T, d driver.Driver, ctx driver.Context, mod driver.Module, symbols map[string]string) {
	t.Helper()
	if err := c.differs(t, d, ctx, mod, symbols); err != nil {
		t.Error(err)
	}
}

// shows reports whether the results differ once an element of an input is
// that after it: a case that cannot fail says nothing.
func (c *kernelCase) shows(t *testing.T, d driver.Driver, ctx driver.Context, mod driver.Module, symbols map[string]string) bool {
	r := rand.New(rand.NewPCG(1, 2))
	for _, b := range c.buffers {
		original := b.in
		in := reflect.ValueOf(original)
		for range 100 {
			k := r.IntN(in.Len())
			next := in.Index((k + 1) % in.Len())
			if in.Index(k).Equal(next) {
				continue
			}
			changed := reflect.AppendSlice(reflect.MakeSlice(in.Type(), 0, in.Len()), in)
			changed.Index(k).Set(next)
			b.in = changed.Interface()
			err := c.differs(t, d, ctx, mod, symbols)
			b.in = original
			if err != nil {
				return true
			}
		}
	}
	return false
}

// differs runs the launches. Its error is the first difference from the results wanted.
func (c *kernelCase) differs(t *testing.T, d driver.Driver, ctx driver.Context, mod driver.Module, symbols map[string]string) error {
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, v := range c.constants {
		p, n, err := d.ModuleGlobal(ctx, mod, name)
		ok(err)
		if n != bytes(v) {
			t.Fatalf("%s has %d bytes, want %d", name, n, bytes(v))
		}
		ok(d.Memcpy(ctx, p, address(v), n))
	}
	for _, b := range c.buffers {
		var err error
		b.p, err = d.MemAlloc(ctx, bytes(b.in))
		ok(err)
		defer d.MemFree(ctx, b.p) //nolint:errcheck // the test is over
		ok(d.Memcpy(ctx, b.p, address(b.in), bytes(b.in)))
	}
	for _, l := range c.launches {
		symbol := l.kernel
		if symbols != nil {
			symbol = symbols[symbol]
		}
		f, err := d.ModuleFunction(ctx, mod, symbol)
		ok(err)
		params, err := d.FunctionParams(ctx, f)
		ok(err)
		if len(params) != len(l.args) {
			t.Fatalf("%s takes %d parameters, the case gives %d", l.kernel, len(params), len(l.args))
		}
		la := &driver.Launch{Function: f, Name: l.kernel, Grid: l.grid, Block: l.block, SharedBytes: l.shared}
		for i, a := range l.args {
			la.Params = append(la.Params, make([]byte, int(params[i].Offset)-len(la.Params))...)
			if b, isBuffer := a.(*buffer); isBuffer {
				la.Pointers = append(la.Pointers, driver.PointerParam{Offset: params[i].Offset})
				a = uint64(b.p)
			}
			if s, isSlice := a.(slice); isSlice {
				la.Pointers = append(la.Pointers, driver.PointerParam{Offset: params[i].Offset})
				a = s.header()
			}
			if a == nil {
				a = uint64(0)
			}
			la.Params, err = binary.Append(la.Params, binary.LittleEndian, a)
			ok(err)
			if n := len(la.Params) - int(params[i].Offset); n != int(params[i].Size) {
				t.Fatalf("%s: argument %d has %d bytes, the parameter %d", l.kernel, i, n, params[i].Size)
			}
		}
		ok(d.Launch(ctx, la))
	}
	ok(d.CtxSynchronize(ctx, nil))
	for i, b := range c.buffers {
		if b.want == nil {
			continue
		}
		got := reflect.MakeSlice(reflect.TypeOf(b.want), reflect.ValueOf(b.want).Len(), reflect.ValueOf(b.want).Len()).Interface()
		ok(d.Memcpy(ctx, address(got), b.p, bytes(got)))
		if err := c.compare(got, b.want); err != nil {
			return fmt.Errorf("buffer %d: %w", i, err)
		}
	}
	return nil
}

// compare finds the first element that differs.
func (c *kernelCase) compare(got, want any) error {
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range w.Len() {
		x, y := g.Index(i), w.Index(i)
		same := x.Equal(y)
		if y.CanFloat() && !same {
			a, b := x.Float(), y.Float()
			same = math.Abs(a-b) <= c.tolerance*max(1, math.Abs(b)) || math.IsNaN(a) && math.IsNaN(b)
		}
		if !same {
			return fmt.Errorf("[%d] = %v, want %v", i, x, y)
		}
	}
	return nil
}

func bytes(slice any) uint64 {
	v := reflect.ValueOf(slice)
	return uint64(v.Len()) * uint64(v.Type().Elem().Size())
}

func address(slice any) driver.Ptr {
	return driver.Ptr(uintptr(unsafe.Pointer(reflect.ValueOf(slice).UnsafePointer())))
}
