package cuda

// Downloads of a whole buffer into a new slice. They wait, as Download does, and
// the buffer must hold elements of that type.

func contents[T any](call string, b *Buffer) ([]T, error) {
	if err := b.alive(call); err != nil {
		return nil, err
	}
	out := make([]T, b.n)
	return out, memcpy(call, out, b)
}

// Float32s is the contents as []float32.
func (b *Buffer) Float32s() ([]float32, error) { return contents[float32]("Buffer.Float32s", b) }

// Float64s is the contents as []float64.
func (b *Buffer) Float64s() ([]float64, error) { return contents[float64]("Buffer.Float64s", b) }

// Int8s is the contents as []int8.
func (b *Buffer) Int8s() ([]int8, error) { return contents[int8]("Buffer.Int8s", b) }

// Int16s is the contents as []int16.
func (b *Buffer) Int16s() ([]int16, error) { return contents[int16]("Buffer.Int16s", b) }

// Int32s is the contents as []int32.
func (b *Buffer) Int32s() ([]int32, error) { return contents[int32]("Buffer.Int32s", b) }

// Int64s is the contents as []int64.
func (b *Buffer) Int64s() ([]int64, error) { return contents[int64]("Buffer.Int64s", b) }

// Uint8s is the contents as []byte.
func (b *Buffer) Uint8s() ([]byte, error) { return contents[byte]("Buffer.Uint8s", b) }

// Uint16s is the contents as []uint16; Float16 and BFloat16 too, by their bits: see
// [FromFloat16].
func (b *Buffer) Uint16s() ([]uint16, error) { return contents[uint16]("Buffer.Uint16s", b) }

// Uint32s is the contents as []uint32.
func (b *Buffer) Uint32s() ([]uint32, error) { return contents[uint32]("Buffer.Uint32s", b) }

// Uint64s is the contents as []uint64.
func (b *Buffer) Uint64s() ([]uint64, error) { return contents[uint64]("Buffer.Uint64s", b) }

// Complex64s is the contents as []complex64.
func (b *Buffer) Complex64s() ([]complex64, error) {
	return contents[complex64]("Buffer.Complex64s", b)
}

// Complex128s is the contents as []complex128.
func (b *Buffer) Complex128s() ([]complex128, error) {
	return contents[complex128]("Buffer.Complex128s", b)
}
