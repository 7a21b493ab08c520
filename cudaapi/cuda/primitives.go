package cuda

import (
	_ "embed"
	"math"
	"sync"

	"gocuda/cudaapi/cuda/internal/signature"
	"gocuda/cudaapi/driver"
)

//go:embed primitives.cu
var primitiveSource string

// primitives are the kernels of this package, compiled for a type at its first
// use.
type primitives struct {
	mu      sync.Mutex
	modules map[Type]*Module
}

// cppTypes are the element types that can be reckoned with: C++ name, and the
// type that sums are taken in.
var cppTypes = map[Type]struct {
	name, sum string
	kind      signature.Kind
}{
	Int8: {"signed char", "long long", signature.Int}, Int16: {"short", "long long", signature.Int},
	Int32: {"int", "long long", signature.Int}, Int64: {"long long", "long long", signature.Int},
	Uint8: {"unsigned char", "unsigned long long", signature.Uint}, Uint16: {"unsigned short", "unsigned long long", signature.Uint},
	Uint32: {"unsigned int", "unsigned long long", signature.Uint}, Uint64: {"unsigned long long", "unsigned long long", signature.Uint},
	Float32: {"float", "double", signature.Float}, Float64: {"double", "double", signature.Float},
}

// primitive finds a kernel for b's type, and the stream to run it on.
func (b *Buffer) primitive(call, name string, s *Stream) (*Kernel, *Stream, error) {
	if err := b.alive(call); err != nil {
		return nil, nil, err
	}
	d := b.own.dev
	if s == nil {
		s = d.DefaultStream()
	}
	cpp, ok := cppTypes[b.typ]
	if !ok {
		return nil, nil, misuse(driver.ErrNotSupported, call, d, "not for %s", b.typ)
	}
	math := &d.sys.math
	math.mu.Lock()
	defer math.mu.Unlock()
	m := math.modules[b.typ]
	if m == nil {
		var err error
		m, err = Compile(primitiveSource, SourceName("primitives.cu"), ForDevice(d), Instantiate(
			"fill<"+cpp.name+">", "iota<"+cpp.name+">", "axpy<"+cpp.name+">", "sum<"+cpp.name+", "+cpp.sum+">", "extreme<"+cpp.name+">"))
		if err != nil {
			return nil, nil, err
		}
		if math.modules == nil {
			math.modules = map[Type]*Module{}
		}
		math.modules[b.typ] = m
	}
	switch name {
	case "uniform":
	case "sum":
		name += "<" + cpp.name + ", " + cpp.sum + ">"
	default:
		name += "<" + cpp.name + ">"
	}
	k, err := m.Kernel(name)
	return k, s, err
}

// primitiveGrid covers n elements, with at most maxParts blocks.
func primitiveGrid(n int) GridDim {
	g := GridFor(n, primitiveBlock)
	g.X = min(g.X, maxParts)
	return g
}

const (
	primitiveBlock = 256
	maxParts       = 1024
)

// Fill queues the setting of every element to value, a Go number that the
// element type can hold, on s (nil: the default stream).
func (b *Buffer) Fill(value any, s *Stream) error {
	const call = "Buffer.Fill"
	if err := b.alive(call); err != nil {
		return err
	}
	if b.n == 0 {
		return nil
	}
	d := b.own.dev
	if s == nil {
		s = d.DefaultStream()
	}
	c, err := s.use(call)
	if err != nil {
		return err
	}
	p := param{typ: b.typ.String(), size: b.typ.Size()}
	switch b.typ {
	case Float16:
		p.kind = signature.Half
	case BFloat16:
		p.kind = signature.BFloat16
	case Complex64, Complex128:
		return misuse(driver.ErrNotSupported, call, d, "not for %s", b.typ)
	default:
		p.kind = cppTypes[b.typ].kind
	}
	var bits [16]byte
	if msg := p.put(bits[:p.size], value, d); msg != "" {
		return misuse(driver.ErrInvalidValue, call, d, "%s", msg)
	}
	word := uint32(0)
	if p.size <= 4 {
		for i := range p.size {
			word |= uint32(bits[i]) << (8 * i)
		}
		return s.queued(s.dev.drv().MemsetAsync(c, b.ptr, word, p.size, uint64(b.n), s.h), call, b)
	}
	k, s, err := b.primitive(call, "fill", s)
	if err != nil {
		return err
	}
	return k.Launch(primitiveGrid(b.n), Block(primitiveBlock), s, b, value, b.n)
}

// Iota queues the setting of element i to start + i*step on s (nil: the default
// stream).
func (b *Buffer) Iota(start, step any, s *Stream) error {
	k, s, err := b.primitive("Buffer.Iota", "iota", s)
	if err != nil || b.n == 0 {
		return err
	}
	return k.Launch(primitiveGrid(b.n), Block(primitiveBlock), s, b, start, step, b.n)
}

// Axpy queues y = a*x + y on s (nil: y's default stream). x and y have the same
// type and length.
func Axpy(a any, x, y *Buffer, s *Stream) error {
	k, s, err := y.primitive("cuda.Axpy", "axpy", s)
	if err != nil {
		return err
	}
	if err := x.alive("cuda.Axpy"); err != nil {
		return err
	}
	if x.n != y.n || x.typ != y.typ {
		return misuse(driver.ErrInvalidValue, "cuda.Axpy", y.own.dev, "x has %d %s, y %d %s", x.n, x.typ, y.n, y.typ)
	}
	if y.n == 0 {
		return nil
	}
	return k.Launch(primitiveGrid(y.n), Block(primitiveBlock), s, a, x, y, y.n)
}

// Uniform queues the filling of a Float32 buffer with random numbers in (0, 1]
// on s (nil: the default stream): element i is the first that cuRAND's XORWOW
// generator draws from subsequence i of the seed.
func (b *Buffer) Uniform(seed uint64, s *Stream) error {
	if err := b.alive("Buffer.Uniform"); err != nil {
		return err
	}
	if b.typ != Float32 {
		return misuse(driver.ErrNotSupported, "Buffer.Uniform", b.own.dev, "not for %s, only for Float32", b.typ)
	}
	k, s, err := b.primitive("Buffer.Uniform", "uniform", s)
	if err != nil || b.n == 0 {
		return err
	}
	return k.Launch(primitiveGrid(b.n), Block(primitiveBlock), s, b, seed, b.n)
}

// Sum adds the elements, behind the work of s (nil: the default stream), and
// waits. Fractions are added in double precision, in an order that depends only
// on the length; whole numbers exactly, before the result is rounded (see
// SumInt).
func (b *Buffer) Sum(s *Stream) (float64, error) {
	const call = "Buffer.Sum"
	if err := b.alive(call); err != nil {
		return 0, err
	}
	if kind := cppTypes[b.typ].kind; kind == signature.Int || kind == signature.Uint {
		n, err := b.sumInt(call, s)
		if kind == signature.Uint {
			return float64(uint64(n)), err
		}
		return float64(n), err
	}
	parts, err := b.reduce(call, "sum", Float64, s)
	if err != nil {
		return 0, err
	}
	total := 0.0
	for _, p := range parts.([]float64) {
		total += p
	}
	return total, nil
}

// SumInt adds the elements of a buffer of whole numbers exactly, modulo 2^64.
func (b *Buffer) SumInt(s *Stream) (int64, error) {
	const call = "Buffer.SumInt"
	if err := b.alive(call); err != nil {
		return 0, err
	}
	if kind := cppTypes[b.typ].kind; kind != signature.Int && kind != signature.Uint {
		return 0, misuse(driver.ErrInvalidValue, call, b.own.dev, "the elements are %s; use Sum", b.typ)
	}
	return b.sumInt(call, s)
}

func (b *Buffer) sumInt(call string, s *Stream) (int64, error) {
	parts, err := b.reduce(call, "sum", Int64, s)
	if err != nil {
		return 0, err
	}
	total := int64(0)
	for _, p := range parts.([]int64) {
		total += p
	}
	return total, nil
}

// Max is the greatest element, behind the work of s (nil: the default stream);
// it waits. If an element is NaN, so is the result.
func (b *Buffer) Max(s *Stream) (float64, error) { return b.extreme("Buffer.Max", 1, s) }

// Min is the least element, as Max is the greatest.
func (b *Buffer) Min(s *Stream) (float64, error) { return b.extreme("Buffer.Min", -1, s) }

func (b *Buffer) extreme(call string, sign int, s *Stream) (float64, error) {
	if err := b.alive(call); err != nil {
		return 0, err
	}
	if b.n == 0 {
		return 0, misuse(driver.ErrInvalidValue, call, b.own.dev, "the buffer has no elements")
	}
	parts, err := b.reduce(call, "extreme", b.typ, s, sign)
	if err != nil {
		return 0, err
	}
	values := floats(parts)
	best := values[0]
	for _, v := range values {
		if math.IsNaN(v) || (v-best)*float64(sign) > 0 {
			best = v
		}
	}
	return best, nil
}

// reduce runs a reduction and fetches each block's result, of type t.
func (b *Buffer) reduce(call, name string, t Type, s *Stream, extra ...any) (any, error) {
	k, s, err := b.primitive(call, name, s)
	if err != nil {
		return nil, err
	}
	grid := primitiveGrid(b.n)
	part, err := s.AllocAsync(grid.X, t)
	if err != nil {
		return nil, err
	}
	args := append(append([]any{b, b.n}, extra...), part)
	out := hostSlice(t, grid.X)
	err = k.Launch(grid, Block(primitiveBlock), s, args...)
	if err == nil {
		err = part.DownloadAsync(out, s)
	}
	if freed := part.FreeAsync(s); err == nil {
		err = freed
	}
	if err == nil {
		err = s.Synchronize()
	}
	return out, err
}

// hostSlice makes a Go slice of a type.
func hostSlice(t Type, n int) any {
	switch t {
	case Int8:
		return make([]int8, n)
	case Int16:
		return make([]int16, n)
	case Int32:
		return make([]int32, n)
	case Int64:
		return make([]int64, n)
	case Uint8:
		return make([]uint8, n)
	case Uint16:
		return make([]uint16, n)
	case Uint32:
		return make([]uint32, n)
	case Uint64:
		return make([]uint64, n)
	case Float32:
		return make([]float32, n)
	}
	return make([]float64, n)
}

// floats converts what hostSlice made.
func floats(v any) []float64 {
	switch v := v.(type) {
	case []int8:
		return converted(v)
	case []int16:
		return converted(v)
	case []int32:
		return converted(v)
	case []int64:
		return converted(v)
	case []uint8:
		return converted(v)
	case []uint16:
		return converted(v)
	case []uint32:
		return converted(v)
	case []uint64:
		return converted(v)
	case []float32:
		return converted(v)
	}
	return v.([]float64)
}

func converted[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32](v []T) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}
