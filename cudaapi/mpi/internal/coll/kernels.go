package coll

import (
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

// kernel is dst[i] = a[i] op b[i] for n elements.
type kernel func(dst, a, b unsafe.Pointer, n int)

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type ordered interface{ integer | float32 | float64 }

type number interface {
	ordered | complex64 | complex128
}

func kernelOf(op transport.Op, t transport.Type) kernel {
	switch t {
	case transport.Int8:
		return ofInteger[int8](op)
	case transport.Int16:
		return ofInteger[int16](op)
	case transport.Int32:
		return ofInteger[int32](op)
	case transport.Int64:
		return ofInteger[int64](op)
	case transport.Uint8:
		return ofInteger[uint8](op)
	case transport.Uint16:
		return ofInteger[uint16](op)
	case transport.Uint32:
		return ofInteger[uint32](op)
	case transport.Uint64:
		return ofInteger[uint64](op)
	case transport.Float32:
		return ofOrdered[float32](op)
	case transport.Float64:
		return ofOrdered[float64](op)
	case transport.Complex64:
		return ofNumber[complex64](op)
	case transport.Complex128:
		return ofNumber[complex128](op)
	case transport.Byte:
		return ofBits[uint8](op)
	case transport.Bool:
		return ofLogical[uint8](op)
	case transport.Float32Int:
		return ofPair[float32](op)
	case transport.Float64Int:
		return ofPair[float64](op)
	case transport.Int32Int:
		return ofPair[int32](op)
	case transport.Int64Int:
		return ofPair[int64](op)
	}
	return nil
}

func ofNumber[T number](op transport.Op) kernel {
	switch op {
	case transport.Sum:
		return sum[T]
	case transport.Prod:
		return prod[T]
	}
	return nil
}

func ofOrdered[T ordered](op transport.Op) kernel {
	switch op {
	case transport.Min:
		return least[T]
	case transport.Max:
		return most[T]
	}
	return ofNumber[T](op)
}

func ofLogical[T integer](op transport.Op) kernel {
	switch op {
	case transport.LogicalAnd:
		return each(func(a, b T) T { return truth[T](a != 0 && b != 0) })
	case transport.LogicalOr:
		return each(func(a, b T) T { return truth[T](a != 0 || b != 0) })
	case transport.LogicalXor:
		return each(func(a, b T) T { return truth[T]((a != 0) != (b != 0)) })
	}
	return nil
}

func ofBits[T integer](op transport.Op) kernel {
	switch op {
	case transport.BitAnd:
		return words[T](func(a, b uint64) uint64 { return a & b })
	case transport.BitOr:
		return words[T](func(a, b uint64) uint64 { return a | b })
	case transport.BitXor:
		return words[T](func(a, b uint64) uint64 { return a ^ b })
	}
	return nil
}

func ofInteger[T integer](op transport.Op) kernel {
	if f := ofLogical[T](op); f != nil {
		return f
	}
	if f := ofBits[T](op); f != nil {
		return f
	}
	return ofOrdered[T](op)
}

func truth[T integer](b bool) T {
	if b {
		return 1
	}
	return 0
}

// three gives the operands as slices of one length, which lets the compiler
// drop the checks of bounds.
func three[T any](dst, a, b unsafe.Pointer, n int) (d, x, y []T) {
	d = unsafe.Slice((*T)(dst), n)
	return d, unsafe.Slice((*T)(a), n)[:len(d)], unsafe.Slice((*T)(b), n)[:len(d)]
}

// The loops that large reductions spend their time in take four elements a
// round.

func sum[T number](dst, a, b unsafe.Pointer, n int) {
	d, x, y := three[T](dst, a, b, n)
	for len(d) >= 4 && len(x) >= 4 && len(y) >= 4 {
		d0, d1, d2, d3 := x[0]+y[0], x[1]+y[1], x[2]+y[2], x[3]+y[3]
		d[0], d[1], d[2], d[3] = d0, d1, d2, d3
		d, x, y = d[4:], x[4:], y[4:]
	}
	for i := range d {
		d[i] = x[i] + y[i]
	}
}

func prod[T number](dst, a, b unsafe.Pointer, n int) {
	d, x, y := three[T](dst, a, b, n)
	for len(d) >= 4 && len(x) >= 4 && len(y) >= 4 {
		d0, d1, d2, d3 := x[0]*y[0], x[1]*y[1], x[2]*y[2], x[3]*y[3]
		d[0], d[1], d[2], d[3] = d0, d1, d2, d3
		d, x, y = d[4:], x[4:], y[4:]
	}
	for i := range d {
		d[i] = x[i] * y[i]
	}
}

func least[T ordered](dst, a, b unsafe.Pointer, n int) {
	d, x, y := three[T](dst, a, b, n)
	for i := range d {
		d[i] = min(x[i], y[i])
	}
}

func most[T ordered](dst, a, b unsafe.Pointer, n int) {
	d, x, y := three[T](dst, a, b, n)
	for i := range d {
		d[i] = max(x[i], y[i])
	}
}

func each[T any](f func(a, b T) T) kernel {
	return func(dst, a, b unsafe.Pointer, n int) {
		d, x, y := three[T](dst, a, b, n)
		for i := range d {
			d[i] = f(x[i], y[i])
		}
	}
}

// words reduces eight bytes at a time, whatever they are elements of.
func words[T integer](f func(a, b uint64) uint64) kernel {
	return func(dst, a, b unsafe.Pointer, n int) {
		var one T
		bytes := n * int(unsafe.Sizeof(one))
		d, x, y := three[[8]byte](dst, a, b, bytes/8)
		for i := range d {
			*(*uint64)(unsafe.Pointer(&d[i])) = f(*(*uint64)(unsafe.Pointer(&x[i])), *(*uint64)(unsafe.Pointer(&y[i])))
		}
		rest := bytes &^ 7
		if rest == bytes {
			return
		}
		e, u, v := three[byte](unsafe.Add(dst, rest), unsafe.Add(a, rest), unsafe.Add(b, rest), bytes-rest)
		for i := range e {
			e[i] = byte(f(uint64(u[i]), uint64(v[i])))
		}
	}
}

// pair is a value and its place, as MPI_2INT and the like lay them out.
type pair[T ordered] struct {
	value T
	index int32
}

// ofPair: of equal values the lower index counts.
func ofPair[T ordered](op transport.Op) kernel {
	switch op {
	case transport.MinLoc:
		return each(func(a, b pair[T]) pair[T] {
			if b.value < a.value || b.value == a.value && b.index < a.index {
				return b
			}
			return a
		})
	case transport.MaxLoc:
		return each(func(a, b pair[T]) pair[T] {
			if b.value > a.value || b.value == a.value && b.index < a.index {
				return b
			}
			return a
		})
	}
	return nil
}
