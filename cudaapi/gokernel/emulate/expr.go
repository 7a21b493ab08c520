package emulate

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"unsafe"

	"gocuda/cudaapi/gokernel/ir"
)

type (
	number func(*frame) uint64          // what fits 64 bits: integers, bools, floats' bits, pointers
	write  func(*frame, unsafe.Pointer) // any value, into memory
	locate func(*frame) unsafe.Pointer  // a place
)

// frame is a call of a function: its variables, and those around a literal.
type frame struct {
	t     *thread
	mem   unsafe.Pointer
	up    *frame // of the function around a literal
	funcs []function
	ret   unsafe.Pointer // where results go
	block []uint64       // what mem points to
	call  *Call          // for those who watch; nil: it has come to no step
}

// function is a function as a value.
type function struct {
	code *code
	up   *frame
}

// room gives a frame its memory. What was there stays allocated as long as
// the launch, since there may be pointers to it.
func (f *frame) room(bytes int) {
	if len(f.block)*8 < bytes {
		if f.block != nil {
			f.t.run.kept = append(f.t.run.kept, f.block)
		}
		f.block = words(int64(bytes) * 2)
	}
	f.mem = unsafe.Pointer(unsafe.SliceData(f.block))
}

// code is a function that was readied.
type code struct {
	fun     *ir.Func
	size    int64 // of a frame's memory
	funcs   int   // function values of a frame
	params  []place
	results []int64 // places of results
	ret     int64   // size of them
	body    act
	outer   string // as messages call it
}

// place is where a variable lies.
type place struct {
	depth int   // functions outwards
	at    int64 // in the frame's memory, or the number of a function value
}

// compiler readies one function.
type compiler struct {
	p      *Program
	code   *code
	up     *compiler
	places map[*ir.Var]place
	labels map[*ir.Label]signal
	depth  int
}

func (c *compiler) room(t types.Type) int64 { return c.roomOf(sizes.Sizeof(t), sizes.Alignof(t)) }

func (c *compiler) roomOf(size, align int64) int64 {
	at := (c.code.size + align - 1) / align * align
	c.code.size = at + max(size, 1)
	return at
}

// declare gives a variable its place.
func (c *compiler) declare(v *ir.Var) int64 {
	if p, ok := c.places[v]; ok && p.depth == 0 {
		return p.at
	}
	var at int64
	if _, ok := v.Type.Underlying().(*types.Signature); ok {
		at = int64(c.code.funcs)
		c.code.funcs++
	} else {
		at = c.room(v.Type)
	}
	c.places[v] = place{0, at}
	return at
}

func (c *compiler) find(v *ir.Var) place {
	depth := 0
	for d := c; d != nil; d = d.up {
		if p, ok := d.places[v]; ok {
			return place{depth, p.at}
		}
		depth++
	}
	return place{0, c.declare(v)} // its declaration comes later in the text: a jump back
}

// variable is where a variable lies.
func (c *compiler) variable(v *ir.Var) locate {
	switch v.Space {
	case ir.Global, ir.Constant:
		p := unsafe.Pointer(unsafe.SliceData(c.p.globals[v]))
		return func(*frame) unsafe.Pointer { return p }
	case ir.Shared:
		size := sizes.Sizeof(v.Type)
		return func(fr *frame) unsafe.Pointer { return fr.t.block.shared(v, size) }
	}
	p := c.find(v)
	at := uintptr(p.at)
	switch p.depth {
	case 0:
		return func(fr *frame) unsafe.Pointer { return unsafe.Add(fr.mem, at) }
	case 1:
		return func(fr *frame) unsafe.Pointer { return unsafe.Add(fr.up.mem, at) }
	}
	return func(fr *frame) unsafe.Pointer {
		for range p.depth {
			fr = fr.up
		}
		return unsafe.Add(fr.mem, at)
	}
}

// place is where an expression's value lies: that of a value which lies nowhere is
// written to memory first.
func (c *compiler) place(e ir.Expr) locate {
	switch e := e.(type) {
	case *ir.Ref:
		return c.variable(e.Var)
	case *ir.Field:
		base, s := c.place(e.X), e.X.Type().Underlying().(*types.Struct)
		at := uintptr(sizes.FieldOffset(s, e.Index))
		return func(fr *frame) unsafe.Pointer { return unsafe.Add(base(fr), at) }
	case *ir.Index:
		i, size := c.number(e.I), uint64(sizes.Sizeof(e.T))
		base := c.place(e.X)
		if _, ok := e.X.Type().Underlying().(*types.Slice); ok {
			return func(fr *frame) unsafe.Pointer { return pointer(*(*uint64)(base(fr)) + i(fr)*size) }
		}
		return func(fr *frame) unsafe.Pointer { return unsafe.Add(base(fr), i(fr)*size) }
	case *ir.Deref:
		p := c.number(e.X)
		return func(fr *frame) unsafe.Pointer { return pointer(p(fr)) }
	}
	v, at := c.value(e), uintptr(c.room(e.Type()))
	return func(fr *frame) unsafe.Pointer {
		p := unsafe.Add(fr.mem, at)
		v(fr, p)
		return p
	}
}

func inMemory(e ir.Expr) bool {
	switch e.(type) {
	case *ir.Ref, *ir.Field, *ir.Index, *ir.Deref:
		return true
	}
	return false
}

// value writes an expression's value to memory that no part of it is read from.
func (c *compiler) value(e ir.Expr) write {
	t := e.Type()
	k := kindOf(t)
	size := sizes.Sizeof(t)
	if k != memory {
		n := c.number(e)
		switch k.bits() {
		case 64:
			return func(fr *frame, p unsafe.Pointer) { *(*uint64)(p) = n(fr) }
		case 32:
			return func(fr *frame, p unsafe.Pointer) { *(*uint32)(p) = uint32(n(fr)) }
		}
		return func(fr *frame, p unsafe.Pointer) { k.store(p, n(fr)) }
	}
	if inMemory(e) {
		from := c.read(e)
		return func(fr *frame, p unsafe.Pointer) { move(p, from(fr), size) }
	}
	switch e := e.(type) {
	case *ir.Zero:
		return func(_ *frame, p unsafe.Pointer) { zero(p, size) }
	case *ir.Const: // complex
		re, im := constant.Real(constant.ToComplex(e.Value)), constant.Imag(constant.ToComplex(e.Value))
		part := partOf(t)
		x, y := bitsOf(re, part), bitsOf(im, part)
		return func(_ *frame, p unsafe.Pointer) {
			part.store(p, x)
			part.store(unsafe.Add(p, size/2), y)
		}
	case *ir.Composite:
		return c.composite(e)
	case *ir.Slice:
		return c.slice(e)
	case *ir.Convert:
		if from, to := partOf(e.X.Type()), partOf(t); from != to && from != memory && to != memory {
			x := c.read(e.X)
			return func(fr *frame, p unsafe.Pointer) {
				q := x(fr)
				re, im := from.real(from.load(q)), from.real(from.load(unsafe.Add(q, from.bits()/8)))
				to.store(p, to.round(re))
				to.store(unsafe.Add(p, to.bits()/8), to.round(im))
			}
		}
		return c.value(e.X)
	case *ir.Unary:
		return c.complex(e.Op, nil, e.X, t)
	case *ir.Binary:
		return c.complex(e.Op, e.X, e.Y, t)
	case *ir.Pure:
		return c.pureValue(e)
	}
	panic(fmt.Sprintf("emulate: no value for %T", e))
}

// partOf is the kind of a complex number's parts.
func partOf(t types.Type) kind {
	if b, ok := t.Underlying().(*types.Basic); ok {
		switch b.Kind() {
		case types.Complex64:
			return f32
		case types.Complex128:
			return f64
		}
	}
	return memory
}

func (c *compiler) composite(e *ir.Composite) write {
	parts := make([]write, len(e.Elems))
	at := make([]int64, len(e.Elems))
	switch u := e.T.Underlying().(type) {
	case *types.Struct:
		for i := range parts {
			at[i] = sizes.FieldOffset(u, i)
		}
	case *types.Array:
		for i := range parts {
			at[i] = int64(i) * sizes.Sizeof(u.Elem())
		}
	}
	for i, x := range e.Elems {
		parts[i] = c.value(x)
	}
	size := sizes.Sizeof(e.T)
	return func(fr *frame, p unsafe.Pointer) {
		zero(p, size)
		for i, w := range parts {
			w(fr, unsafe.Add(p, at[i]))
		}
	}
}

func (c *compiler) slice(e *ir.Slice) write {
	var base number
	if _, ok := e.X.Type().Underlying().(*types.Slice); ok {
		x := c.place(e.X)
		base = func(fr *frame) uint64 { return *(*uint64)(x(fr)) }
	} else {
		base = c.number(e.X)
	}
	lo, hi, limit := c.number(e.Lo), c.number(e.Hi), c.number(e.Max)
	size := uint64(sizes.Sizeof(e.T.Underlying().(*types.Slice).Elem()))
	return func(fr *frame, p unsafe.Pointer) {
		b, l, h, m := base(fr), lo(fr), hi(fr), limit(fr)
		if m > l { // an empty one must not point behind its memory
			b += l * size
		}
		w := (*[3]uint64)(p)
		w[0], w[1], w[2] = b, h-l, m-l
	}
}

func (c *compiler) complex(op token.Token, x, y ir.Expr, t types.Type) write {
	k := partOf(t)
	half := k.bits() / 8
	get := func(e ir.Expr) func(*frame) complex128 {
		p := c.read(e)
		return func(fr *frame) complex128 {
			q := p(fr)
			return complex(k.real(k.load(q)), k.real(k.load(unsafe.Add(q, half))))
		}
	}
	put := func(f func(*frame) complex128) write {
		return func(fr *frame, p unsafe.Pointer) {
			v := f(fr)
			k.store(p, k.round(real(v)))
			k.store(unsafe.Add(p, half), k.round(imag(v)))
		}
	}
	b := get(y)
	if x == nil {
		return put(func(fr *frame) complex128 { return -b(fr) })
	}
	a := get(x)
	// Each operation is rounded as its type's.
	single := func(v float64) float64 { return v }
	if k == f32 {
		single = func(v float64) float64 { return float64(float32(v)) }
	}
	switch op {
	case token.ADD:
		return put(func(fr *frame) complex128 { return a(fr) + b(fr) })
	case token.SUB:
		return put(func(fr *frame) complex128 { return a(fr) - b(fr) })
	case token.MUL:
		return put(func(fr *frame) complex128 {
			v, w := a(fr), b(fr)
			rr, ii, ri, ir := single(real(v)*real(w)), single(imag(v)*imag(w)), single(real(v)*imag(w)), single(imag(v)*real(w))
			return complex(rr-ii, ri+ir)
		})
	}
	return put(func(fr *frame) complex128 { return a(fr) / b(fr) })
}

// number lowers an expression whose value fits 64 bits.
func (c *compiler) number(e ir.Expr) number {
	k := kindOf(e.Type())
	if inMemory(e) {
		return c.load(e, k)
	}
	switch e := e.(type) {
	case *ir.Const:
		x := bitsOf(e.Value, k)
		return func(*frame) uint64 { return x }
	case *ir.Zero:
		return func(*frame) uint64 { return 0 }
	case *ir.Unary:
		return c.unary(e, k)
	case *ir.Binary:
		return c.binary(e, k)
	case *ir.Convert:
		from := kindOf(e.X.Type())
		x := c.number(e.X)
		if from == k {
			return x
		}
		if !from.float() && !k.float() {
			return func(fr *frame) uint64 { return k.wrap(x(fr)) }
		}
		return func(fr *frame) uint64 { return convert(x(fr), from, k) }
	case *ir.Addr:
		p := c.place(e.X)
		return func(fr *frame) uint64 { return address(p(fr)) }
	case *ir.Len:
		p := c.place(e.X)
		return func(fr *frame) uint64 { return (*(*[3]uint64)(p(fr)))[1] }
	case *ir.Cap:
		p := c.place(e.X)
		return func(fr *frame) uint64 { return (*(*[3]uint64)(p(fr)))[2] }
	case *ir.Pure:
		return c.pure(e, k)
	}
	panic(fmt.Sprintf("emulate: no number for %T", e))
}

func bitsOf(v constant.Value, k kind) uint64 {
	switch {
	case v.Kind() == constant.Bool:
		return truth(constant.BoolVal(v))
	case k == f64:
		f, _ := constant.Float64Val(constant.ToFloat(v))
		return math.Float64bits(f)
	case k.float():
		f, _ := constant.Float32Val(constant.ToFloat(v))
		return k.round(float64(f))
	}
	v = constant.ToInt(v)
	if n, ok := constant.Int64Val(v); ok {
		return k.wrap(uint64(n))
	}
	n, _ := constant.Uint64Val(v)
	return n
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func (c *compiler) load(e ir.Expr, k kind) number {
	if r, ok := e.(*ir.Ref); ok && r.Var.Space == ir.Local {
		if p := c.find(r.Var); p.depth == 0 {
			at := uintptr(p.at)
			switch k {
			case i64, u64, f64:
				return func(fr *frame) uint64 { return *(*uint64)(unsafe.Add(fr.mem, at)) }
			case f32, u32:
				return func(fr *frame) uint64 { return uint64(*(*uint32)(unsafe.Add(fr.mem, at))) }
			case i32:
				return func(fr *frame) uint64 { return uint64(*(*int32)(unsafe.Add(fr.mem, at))) }
			case u8:
				return func(fr *frame) uint64 { return uint64(*(*uint8)(unsafe.Add(fr.mem, at))) }
			}
		}
	}
	p := c.read(e)
	switch k {
	case i64, u64, f64:
		return func(fr *frame) uint64 { return *(*uint64)(p(fr)) }
	case f32, u32:
		return func(fr *frame) uint64 { return uint64(*(*uint32)(p(fr))) }
	}
	return func(fr *frame) uint64 { return k.load(p(fr)) }
}

func (c *compiler) unary(e *ir.Unary, k kind) number {
	x := c.number(e.X)
	switch {
	case e.Op == token.NOT:
		return func(fr *frame) uint64 { return x(fr) ^ 1 }
	case e.Op == token.XOR:
		return func(fr *frame) uint64 { return k.wrap(^x(fr)) }
	case k.float():
		sign := uint64(1) << (k.bits() - 1)
		return func(fr *frame) uint64 { return x(fr) ^ sign }
	}
	return func(fr *frame) uint64 { return k.wrap(-x(fr)) }
}

func (c *compiler) binary(e *ir.Binary, k kind) number {
	switch e.Op {
	case token.LAND:
		x, y := c.number(e.X), c.number(e.Y)
		return func(fr *frame) uint64 {
			if x(fr) == 0 {
				return 0
			}
			return y(fr)
		}
	case token.LOR:
		x, y := c.number(e.X), c.number(e.Y)
		return func(fr *frame) uint64 {
			if x(fr) != 0 {
				return 1
			}
			return y(fr)
		}
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return c.compare(e)
	}
	x, y := c.number(e.X), c.number(e.Y)
	if k.float() {
		return c.floats(e.Op, k, x, y)
	}
	narrow := k.bits() < 64
	switch e.Op {
	case token.ADD:
		if !narrow {
			return func(fr *frame) uint64 { return x(fr) + y(fr) }
		}
		return func(fr *frame) uint64 { return k.wrap(x(fr) + y(fr)) }
	case token.SUB:
		if !narrow {
			return func(fr *frame) uint64 { return x(fr) - y(fr) }
		}
		return func(fr *frame) uint64 { return k.wrap(x(fr) - y(fr)) }
	case token.MUL:
		if !narrow {
			return func(fr *frame) uint64 { return x(fr) * y(fr) }
		}
		return func(fr *frame) uint64 { return k.wrap(x(fr) * y(fr)) }
	case token.QUO:
		if k.signed() {
			return func(fr *frame) uint64 { return k.wrap(uint64(int64(x(fr)) / int64(y(fr)))) }
		}
		return func(fr *frame) uint64 { return x(fr) / y(fr) }
	case token.REM:
		if k.signed() {
			return func(fr *frame) uint64 { return k.wrap(uint64(int64(x(fr)) % int64(y(fr)))) }
		}
		return func(fr *frame) uint64 { return x(fr) % y(fr) }
	case token.AND:
		return func(fr *frame) uint64 { return x(fr) & y(fr) }
	case token.OR:
		return func(fr *frame) uint64 { return x(fr) | y(fr) }
	case token.XOR:
		return func(fr *frame) uint64 { return k.wrap(x(fr) ^ y(fr)) }
	case token.AND_NOT:
		return func(fr *frame) uint64 { return k.wrap(x(fr) &^ y(fr)) }
	case token.SHL:
		return func(fr *frame) uint64 { return k.wrap(x(fr) << y(fr)) }
	case token.SHR:
		if k.signed() {
			return func(fr *frame) uint64 { return k.wrap(uint64(int64(x(fr)) >> y(fr))) }
		}
		return func(fr *frame) uint64 { return x(fr) >> y(fr) }
	}
	panic("emulate: no operator " + e.Op.String())
}

func (c *compiler) floats(op token.Token, k kind, x, y number) number {
	if k == f64 {
		from, to := math.Float64frombits, math.Float64bits
		switch op {
		case token.ADD:
			return func(fr *frame) uint64 { return to(from(x(fr)) + from(y(fr))) }
		case token.SUB:
			return func(fr *frame) uint64 { return to(from(x(fr)) - from(y(fr))) }
		case token.MUL:
			return func(fr *frame) uint64 { return to(from(x(fr)) * from(y(fr))) }
		}
		return func(fr *frame) uint64 { return to(from(x(fr)) / from(y(fr))) }
	}
	// Numbers of 16 bits are reckoned with as float32, and rounded.
	from := func(b uint64) float32 { return math.Float32frombits(uint32(b)) }
	to := func(v float32) uint64 { return uint64(math.Float32bits(v)) }
	if k != f32 {
		from = func(b uint64) float32 { return float32(k.real(b)) }
		to = func(v float32) uint64 { return k.round(float64(v)) }
	}
	switch op {
	case token.ADD:
		return func(fr *frame) uint64 { return to(from(x(fr)) + from(y(fr))) }
	case token.SUB:
		return func(fr *frame) uint64 { return to(from(x(fr)) - from(y(fr))) }
	case token.MUL:
		return func(fr *frame) uint64 { return to(from(x(fr)) * from(y(fr))) }
	}
	return func(fr *frame) uint64 { return to(from(x(fr)) / from(y(fr))) }
}

func (c *compiler) compare(e *ir.Binary) number {
	t := e.X.Type()
	k := kindOf(t)
	if k == memory {
		x, y, same := c.place(e.X), c.place(e.Y), equal(t)
		want := e.Op == token.EQL
		return func(fr *frame) uint64 { return truth(same(x(fr), y(fr)) == want) }
	}
	x, y := c.number(e.X), c.number(e.Y)
	if k.float() {
		get := k.real
		switch e.Op {
		case token.EQL:
			return func(fr *frame) uint64 { return truth(get(x(fr)) == get(y(fr))) }
		case token.NEQ:
			return func(fr *frame) uint64 { return truth(get(x(fr)) != get(y(fr))) }
		case token.LSS:
			return func(fr *frame) uint64 { return truth(get(x(fr)) < get(y(fr))) }
		case token.LEQ:
			return func(fr *frame) uint64 { return truth(get(x(fr)) <= get(y(fr))) }
		case token.GTR:
			return func(fr *frame) uint64 { return truth(get(x(fr)) > get(y(fr))) }
		}
		return func(fr *frame) uint64 { return truth(get(x(fr)) >= get(y(fr))) }
	}
	var flip uint64 // makes the order of signed numbers that of unsigned ones
	if k.signed() {
		flip = 1 << 63
	}
	switch e.Op {
	case token.EQL:
		return func(fr *frame) uint64 { return truth(x(fr) == y(fr)) }
	case token.NEQ:
		return func(fr *frame) uint64 { return truth(x(fr) != y(fr)) }
	case token.LSS:
		return func(fr *frame) uint64 { return truth(x(fr)^flip < y(fr)^flip) }
	case token.LEQ:
		return func(fr *frame) uint64 { return truth(x(fr)^flip <= y(fr)^flip) }
	case token.GTR:
		return func(fr *frame) uint64 { return truth(x(fr)^flip > y(fr)^flip) }
	}
	return func(fr *frame) uint64 { return truth(x(fr)^flip >= y(fr)^flip) }
}

// equal compares two values of a type in memory.
func equal(t types.Type) func(a, b unsafe.Pointer) bool {
	k := kindOf(t)
	if k.float() {
		return func(a, b unsafe.Pointer) bool { return k.real(k.load(a)) == k.real(k.load(b)) }
	}
	if k != memory {
		return func(a, b unsafe.Pointer) bool { return k.load(a) == k.load(b) }
	}
	if part := partOf(t); part != memory {
		n := part.bits() / 8
		return func(a, b unsafe.Pointer) bool {
			return part.real(part.load(a)) == part.real(part.load(b)) && part.real(part.load(unsafe.Add(a, n))) == part.real(part.load(unsafe.Add(b, n)))
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		same, size := equal(u.Elem()), sizes.Sizeof(u.Elem())
		return func(a, b unsafe.Pointer) bool {
			for i := range u.Len() {
				if !same(unsafe.Add(a, i*size), unsafe.Add(b, i*size)) {
					return false
				}
			}
			return true
		}
	case *types.Struct:
		var list []func(a, b unsafe.Pointer) bool
		for i := range u.NumFields() {
			if u.Field(i).Name() == "_" {
				continue
			}
			same, at := equal(u.Field(i).Type()), sizes.FieldOffset(u, i)
			list = append(list, func(a, b unsafe.Pointer) bool { return same(unsafe.Add(a, at), unsafe.Add(b, at)) })
		}
		return func(a, b unsafe.Pointer) bool {
			for _, same := range list {
				if !same(a, b) {
					return false
				}
			}
			return true
		}
	}
	panic("emulate: no comparison of " + t.String())
}
