package cuda_test

import (
	"reflect"
	"testing"

	"gocuda/cudaapi/cuda"
)

// TestContents uploads and reads back elements of each type, as buffers and as
// pinned memory.
func TestContents(t *testing.T) {
	d := devices(t, 1)[0]
	for _, c := range []struct {
		typ    cuda.Type
		values any
		buffer func(*cuda.Buffer) (any, error)
		host   func(*cuda.HostBuffer) (any, error)
	}{
		{cuda.Int8, []int8{-128, 127}, func(b *cuda.Buffer) (any, error) { return b.Int8s() }, func(h *cuda.HostBuffer) (any, error) { return h.Int8s() }},
		{cuda.Int16, []int16{-1, 1 << 14}, func(b *cuda.Buffer) (any, error) { return b.Int16s() }, func(h *cuda.HostBuffer) (any, error) { return h.Int16s() }},
		{cuda.Int32, []int32{-1, 1 << 30}, func(b *cuda.Buffer) (any, error) { return b.Int32s() }, func(h *cuda.HostBuffer) (any, error) { return h.Int32s() }},
		{cuda.Int64, []int64{-1, 1 << 62}, func(b *cuda.Buffer) (any, error) { return b.Int64s() }, func(h *cuda.HostBuffer) (any, error) { return h.Int64s() }},
		{cuda.Uint8, []byte{1, 255}, func(b *cuda.Buffer) (any, error) { return b.Uint8s() }, func(h *cuda.HostBuffer) (any, error) { return h.Uint8s() }},
		{cuda.Uint16, []uint16{1, 65535}, func(b *cuda.Buffer) (any, error) { return b.Uint16s() }, func(h *cuda.HostBuffer) (any, error) { return h.Uint16s() }},
		{cuda.BFloat16, cuda.ToBFloat16([]float32{1, -2.5}), func(b *cuda.Buffer) (any, error) { return b.Uint16s() }, func(h *cuda.HostBuffer) (any, error) { return h.Uint16s() }},
		{cuda.Uint32, []uint32{1, 1 << 31}, func(b *cuda.Buffer) (any, error) { return b.Uint32s() }, func(h *cuda.HostBuffer) (any, error) { return h.Uint32s() }},
		{cuda.Uint64, []uint64{1, 1 << 63}, func(b *cuda.Buffer) (any, error) { return b.Uint64s() }, func(h *cuda.HostBuffer) (any, error) { return h.Uint64s() }},
		{cuda.Float32, []float32{1.5, -2}, func(b *cuda.Buffer) (any, error) { return b.Float32s() }, func(h *cuda.HostBuffer) (any, error) { return h.Float32s() }},
		{cuda.Float64, []float64{1e300, -2}, func(b *cuda.Buffer) (any, error) { return b.Float64s() }, func(h *cuda.HostBuffer) (any, error) { return h.Float64s() }},
		{cuda.Complex64, []complex64{1 + 2i, -2}, func(b *cuda.Buffer) (any, error) { return b.Complex64s() }, func(h *cuda.HostBuffer) (any, error) { return h.Complex64s() }},
		{cuda.Complex128, []complex128{1 + 2i, -2}, func(b *cuda.Buffer) (any, error) { return b.Complex128s() }, func(h *cuda.HostBuffer) (any, error) { return h.Complex128s() }},
	} {
		b := must[*cuda.Buffer](t)(d.Alloc(2, c.typ))
		h := must[*cuda.HostBuffer](t)(d.AllocHost(2, c.typ))
		ok(t, b.Upload(c.values))
		ok(t, b.Download(h))
		if got := must[any](t)(c.buffer(b)); !reflect.DeepEqual(got, c.values) {
			t.Errorf("%s: %v, want %v", c.typ, got, c.values)
		}
		if got := must[any](t)(c.host(h)); !reflect.DeepEqual(got, c.values) {
			t.Errorf("%s on the host: %v, want %v", c.typ, got, c.values)
		}
		ok(t, b.Free())
		ok(t, h.Free())
		_, err := c.buffer(b)
		refused(t, err, cuda.ErrInvalidValue, "freed before")
		_, err = c.buffer(nil)
		refused(t, err, cuda.ErrInvalidValue, "the buffer is nil")
		_, err = c.host(h)
		refused(t, err, cuda.ErrInvalidValue, "freed before")
		_, err = c.host(nil)
		refused(t, err, cuda.ErrInvalidValue, "the host buffer is nil")
	}
	b := must[*cuda.Buffer](t)(d.Alloc(2, cuda.Float32))
	defer b.Free()
	_, err := b.Float64s()
	refused(t, err, cuda.ErrInvalidValue, "the buffer holds Float32: call Float32s")
}
