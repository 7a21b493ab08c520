//go:build linux && (amd64 || arm64)

package libmpi

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"gocuda/cudaapi/internal/clib"
	"gocuda/cudaapi/mpi/internal/transport"
)

// maxCount is the most that a C int counts. A variable for the tests, in which
// a few elements are many.
var maxCount = math.MaxInt32

// counted is memory as a call is given it: so many of a type.
type counted struct {
	n     uintptr
	t     uintptr
	owned *uintptr // the type, if it was made for this call
}

// countable fits m into the call f: it gives f's variant for large counts where
// m needs that, or else one element of a type as large as m.
func (t *Transport) countable(f function, m transport.Memory) (function, counted, error) {
	base := t.typeOf(m)
	if m.N <= maxCount || f >= counting {
		return f, counted{n: uintptr(m.N), t: base}, nil
	}
	if t.has(f + large) {
		return f + large, counted{n: uintptr(m.N), t: base}, nil
	}
	big, err := t.bigType(base, m.N, m.T.Size())
	return f, counted{n: 1, t: *big, owned: big}, err
}

// free gives back a type that was made; MPI keeps it for as long as it is used.
func (t *Transport) free(cs ...counted) {
	for _, c := range cs {
		if c.owned != nil {
			t.call(mpiTypeFree, clib.Pin(c.owned))
		}
	}
}

// bigType makes a type of n elements of base: as many blocks as fit, and the rest.
func (t *Transport) bigType(base uintptr, n, size int) (*uintptr, error) {
	blocks, rest := n/maxCount, n%maxCount
	block, part, whole := new(uintptr), new(uintptr), new(uintptr)
	made := []*uintptr{}
	defer func() {
		for _, p := range made {
			t.call(mpiTypeFree, clib.Pin(p))
		}
	}()
	for _, s := range []struct {
		n    int
		of   *uintptr
		into *uintptr
	}{{maxCount, &base, block}, {blocks, block, part}} {
		if err := t.do(mpiTypeContiguous, uintptr(s.n), *s.of, clib.Pin(s.into)); err != nil {
			return whole, err
		}
		made = append(made, s.into)
	}
	lengths := &[2]int32{1, int32(rest)}
	offsets := &[2]int{0, blocks * maxCount * size}
	types := make([]byte, 16)
	t.putHandle(types, 0, *part)
	t.putHandle(types, 1, base)
	if err := t.do(mpiTypeStruct, 2, clib.Pin(&lengths[0]), clib.Pin(&offsets[0]), clib.Pin(&types[0]), clib.Pin(whole)); err != nil {
		return whole, err
	}
	return whole, t.do(mpiTypeCommit, clib.Pin(whole))
}

// putHandle writes the i-th handle of a C array.
func (t *Transport) putHandle(array []byte, i int, h uintptr) {
	if t.abi.handleSize == 4 {
		*(*uint32)(unsafe.Pointer(&array[4*i])) = uint32(h)
	} else {
		*(*uintptr)(unsafe.Pointer(&array[8*i])) = h
	}
}

// typeOf is the type of m's elements; of no elements, any.
func (t *Transport) typeOf(m transport.Memory) uintptr {
	if m.T == 0 {
		return t.abi.types[transport.Byte]
	}
	return t.abi.types[m.T]
}

// vectors makes C arrays of counts and displacements: of ints, or of wide ones
// with f's variant for large counts, where they or m beside them need that.
func (t *Transport) vectors(f function, m transport.Memory, lists ...[]int) (function, []unsafe.Pointer, error) {
	wide := false
	for _, l := range lists {
		wide = wide || len(l) > 0 && slices.Max(l) > maxCount
	}
	if wide && !t.has(f+large) {
		return f, nil, &transport.Error{Class: "MPI_ERR_COUNT", Call: f.String(),
			Text: fmt.Sprintf("a count or displacement is over %d elements, more than this %s can take; use several calls, or elements of a larger type", maxCount, t.info.Name)}
	}
	wide = wide || m.N > maxCount && t.has(f+large)
	arrays := make([]unsafe.Pointer, len(lists))
	for i, l := range lists {
		if wide {
			c := make([]int, len(l)+1)
			copy(c, l)
			arrays[i] = unsafe.Pointer(&c[0])
			continue
		}
		c := make([]int32, len(l)+1) // never of no elements
		for j, n := range l {
			c[j] = int32(n)
		}
		arrays[i] = unsafe.Pointer(&c[0])
	}
	if wide {
		f += large
	}
	return f, arrays, nil
}
