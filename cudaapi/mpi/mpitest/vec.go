package mpitest

import (
	"gocuda/cudaapi/cuda"
)

// vec is a buffer of a case: a slice, or memory of a device with its contents.
type vec[E any] struct {
	t    *T
	host []E
	dev  *cuda.Buffer
}

// on makes a buffer that holds v. Types that devices do not have stay on the
// host.
func on[E any](t *T, v []E) *vec[E] {
	b := &vec[E]{t: t, host: v}
	typ := deviceType(v)
	if t.device == nil || typ == 0 {
		return b
	}
	var err error
	b.dev, err = t.device.Alloc(len(v), typ)
	t.ok(err)
	if len(v) > 0 {
		t.ok(b.dev.Upload(v))
	}
	return b
}

// room makes a buffer of n elements that are all v.
func room[E any](t *T, n int, v E) *vec[E] {
	s := make([]E, n)
	for i := range s {
		s[i] = v
	}
	return on(t, s)
}

// arg is what mpi is given.
func (b *vec[E]) arg() any {
	if b.dev != nil {
		return b.dev
	}
	return b.host
}

// cut is the elements i to j-1, for mpi.
func (b *vec[E]) cut(i, j int) any {
	if b.dev != nil {
		return b.dev.Slice(i, j)
	}
	return b.host[i:j]
}

// put fills the buffer with v.
func (b *vec[E]) put(v []E) {
	if b.dev != nil {
		b.t.ok(b.dev.Upload(v))
		return
	}
	copy(b.host, v)
}

// get is what the buffer holds now.
func (b *vec[E]) get() []E {
	if b.dev == nil || len(b.host) == 0 {
		return b.host
	}
	got := make([]E, len(b.host))
	b.t.ok(b.dev.Download(got))
	return got
}

// holds checks the contents.
func (b *vec[E]) holds(what string, want []E) { b.t.same(what, b.get(), want) }

func deviceType(v any) cuda.Type {
	switch v.(type) {
	case []int8:
		return cuda.Int8
	case []int16:
		return cuda.Int16
	case []int32:
		return cuda.Int32
	case []int64, []int:
		return cuda.Int64
	case []uint8:
		return cuda.Uint8
	case []uint16:
		return cuda.Uint16
	case []uint32:
		return cuda.Uint32
	case []uint64, []uint:
		return cuda.Uint64
	case []float32:
		return cuda.Float32
	case []float64:
		return cuda.Float64
	case []complex64:
		return cuda.Complex64
	case []complex128:
		return cuda.Complex128
	}
	return 0
}
