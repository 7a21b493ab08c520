package mpi

import (
	"fmt"
	"reflect"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

// Op is the operation of a reduction: one of MPI's, or one made by [NewOp].
type Op struct {
	op   transport.Op
	user *userOp
}

// MPI's operations. Sum and Prod take numbers; Min and Max real numbers; the
// logical ones bools and integers (0 is false); the bitwise ones integers;
// MinLoc and MaxLoc pairs such as [Float64Int]: of equal values the one of the
// lowest index.
var (
	Sum    = Op{op: transport.Sum}
	Prod   = Op{op: transport.Prod}
	Min    = Op{op: transport.Min}
	Max    = Op{op: transport.Max}
	LAnd   = Op{op: transport.LogicalAnd}
	LOr    = Op{op: transport.LogicalOr}
	LXor   = Op{op: transport.LogicalXor}
	BAnd   = Op{op: transport.BitAnd}
	BOr    = Op{op: transport.BitOr}
	BXor   = Op{op: transport.BitXor}
	MinLoc = Op{op: transport.MinLoc}
	MaxLoc = Op{op: transport.MaxLoc}
)

// Operations for [Win.Accumulate] and its relatives only: Replace takes the new value
// (MPI_REPLACE), NoOp leaves the old one (MPI_NO_OP).
var (
	Replace = Op{op: transport.Replace}
	NoOp    = Op{op: transport.NoOp}
)

func (o Op) String() string {
	switch {
	case o.user != nil:
		return fmt.Sprintf("NewOp(%T)", o.user.f)
	case o.op >= transport.Sum && o.op <= transport.NoOp:
		return o.op.String()
	}
	return "Op(none)"
}

// kindsOf groups element types by what operations take.
const (
	integer = 1 << iota
	real_
	complex_
	logical
)

var typeKinds = [...]int{
	transport.Byte: 0,
	transport.Int8: integer, transport.Int16: integer, transport.Int32: integer, transport.Int64: integer,
	transport.Uint8: integer, transport.Uint16: integer, transport.Uint32: integer, transport.Uint64: integer,
	transport.Float32: real_, transport.Float64: real_,
	transport.Complex64: complex_, transport.Complex128: complex_,
	transport.Bool: logical,
}

var opKinds = [...]int{
	transport.Sum: integer | real_ | complex_, transport.Prod: integer | real_ | complex_,
	transport.Min: integer | real_, transport.Max: integer | real_,
	transport.LogicalAnd: integer | logical, transport.LogicalOr: integer | logical, transport.LogicalXor: integer | logical,
	transport.BitAnd: integer, transport.BitOr: integer, transport.BitXor: integer,
	transport.MinLoc: 0, transport.MaxLoc: 0,
}

// operands gives both sides of a reduction in the types that op takes. recv is
// what decides: send may be InPlace, or stand for nothing at this rank.
func (o Op) operands(call string, send, recv *memory) (s, r transport.Memory, err *Error) {
	m := recv
	if m.N == 0 && m.P == nil { // nil: not the root
		m = send
	}
	t := m.elem
	switch {
	case o.op == 0:
		return s, r, misuse(ErrOp, call, "no operation was given: use one such as mpi.Sum, or mpi.NewOp")
	case o.op == transport.Replace || o.op == transport.NoOp:
		return s, r, misuse(ErrOp, call, "%s is for one-sided operations only", o)
	case m.elems() == 0: // of any type, such as nil's
		t = transport.Int32
		if o.op == transport.MinLoc || o.op == transport.MaxLoc {
			t = transport.Int32Int
		}
	case o.op == transport.MinLoc || o.op == transport.MaxLoc:
		if t = m.pair; t == 0 {
			return s, r, misuse(ErrOp, call, "%s takes pairs of a value and an int32 index, not %s", o, m.typeName()).hint("use []mpi.Float64Int or the like")
		}
	case opKinds[o.op]&typeKinds[t] == 0:
		return s, r, misuse(ErrOp, call, "%s does not take %s", o, m.typeName())
	}
	return send.typed(t), recv.typed(t), nil
}

func (m *memory) typeName() string {
	return m.elem.String()
}

// userOp is an operation of the program's own.
type userOp struct {
	f       any
	apply   func(in, inout unsafe.Pointer, n int)
	elem    reflect.Type
	commute bool
}

// NewOp makes an operation of a function (MPI_Op_create), for one element type T:
// func(a, b T) T, which gives a op b, or func(in, inout []T), which for every i sets
// inout[i] to in[i] op inout[i], and is called once for many elements. It must be
// associative; say whether it commutes. Reductions by it are done by this package, over
// messages; at each rank by one goroutine.
//
//	longest := mpi.NewOp(func(a, b Span) Span { ... }, true)
func NewOp(f any, commutes bool) (Op, error) {
	v := reflect.ValueOf(f)
	elem, each := operandType(v)
	if elem == nil {
		return Op{}, misuse(ErrArg, "mpi.NewOp", "a %T cannot be an operation", f).
			hint("give a func(a, b T) T, or a func(in, inout []T) that sets inout[i] to in[i] op inout[i]")
	}
	if e := elementOf(elem); e.bad != "" {
		return Op{}, misuse(ErrType, "mpi.NewOp", "elements of type %s cannot be messages: %s", elem, e.bad)
	}
	u := &userOp{f: f, elem: elem, commute: commutes}
	switch g := f.(type) {
	case func(in, inout []float64):
		u.apply = typed(g)
	case func(in, inout []float32):
		u.apply = typed(g)
	case func(in, inout []int):
		u.apply = typed(g)
	case func(in, inout []int32):
		u.apply = typed(g)
	case func(in, inout []int64):
		u.apply = typed(g)
	case func(in, inout []byte):
		u.apply = typed(g)
	case func(a, b float64) float64:
		u.apply = typed(elementwise(g))
	case func(a, b float32) float32:
		u.apply = typed(elementwise(g))
	case func(a, b int) int:
		u.apply = typed(elementwise(g))
	default:
		slice := reflect.SliceOf(elem)
		if !each {
			slice = v.Type().In(0)
		}
		u.apply = func(in, inout unsafe.Pointer, n int) {
			a, b := sliceAt(slice, in, n), sliceAt(slice, inout, n)
			if !each {
				v.Call([]reflect.Value{a, b})
				return
			}
			for i := range n {
				b.Index(i).Set(v.Call([]reflect.Value{a.Index(i), b.Index(i)})[0])
			}
		}
	}
	return Op{user: u}, nil
}

// operandType is the element type of a function that can be an operation, nil if it
// cannot, and whether it is one of single elements.
func operandType(f reflect.Value) (elem reflect.Type, each bool) {
	if f.Kind() != reflect.Func || f.IsNil() || f.Type().IsVariadic() || f.Type().NumIn() != 2 || f.Type().In(0) != f.Type().In(1) {
		return nil, false
	}
	t := f.Type().In(0)
	switch f.Type().NumOut() {
	case 0:
		if t.Kind() == reflect.Slice {
			return t.Elem(), false
		}
	case 1:
		if f.Type().Out(0) == t {
			return t, true
		}
	}
	return nil, false
}

func elementwise[T any](f func(a, b T) T) func(in, inout []T) {
	return func(in, inout []T) {
		for i, a := range in {
			inout[i] = f(a, inout[i])
		}
	}
}

func typed[T any](f func(in, inout []T)) func(in, inout unsafe.Pointer, n int) {
	return func(in, inout unsafe.Pointer, n int) {
		f(unsafe.Slice((*T)(in), n), unsafe.Slice((*T)(inout), n))
	}
}

// sliceAt is the n elements at p as a slice of type t.
func sliceAt(t reflect.Type, p unsafe.Pointer, n int) reflect.Value {
	s := reflect.SliceAt(t.Elem(), p, n)
	if s.Type() != t {
		s = s.Convert(t)
	}
	return s
}
