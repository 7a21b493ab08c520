package mpi

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/device"
	"gocuda/cudaapi/mpi/internal/transport"
)

// Strided is the part of a buffer whose elements lie at regular distances, such as
// a column of a matrix: [Vector] and [Subarray] make it. It may stand wherever a
// buffer is sent or received; collectives take none.
//
// What travels is the elements, one after the other: the other side may give a
// plain buffer, or a Strided of another form. They are copied together before they
// are sent, and to their places when they have come, in memory of a device by the
// device.
type Strided struct {
	buf   any
	first int // elements before the first block
	block int // elements that lie together
	runs  []run
	wrong string
}

// run is n blocks, or groups of blocks, step elements from one to the next.
type run struct{ n, step int }

// Vector is count blocks of so many elements, stride elements from the beginning
// of one to that of the next (MPI_Type_vector). Column j of a matrix of rows by
// cols elements is Vector(m[j:], rows, 1, cols).
func Vector(buf any, count, block, stride int) Strided {
	v := Strided{buf: buf, block: block, runs: []run{{count, stride}}}
	switch {
	case count < 0 || block < 0:
		v.wrong = fmt.Sprintf("a vector of %d blocks of %d elements", count, block)
	case count > 1 && stride < block:
		v.wrong = fmt.Sprintf("a vector's blocks of %d elements overlap, with a stride of %d", block, stride)
	}
	return v
}

// Subarray is the box of lengths part, from the element at from on, of an array
// with as many elements in each dimension as sizes says, of which the last is that
// whose elements lie next to each other (MPI_Type_create_subarray, in C's order).
func Subarray(buf any, sizes, part, from []int) Strided {
	v := Strided{buf: buf}
	if len(sizes) == 0 || len(part) != len(sizes) || len(from) != len(sizes) {
		v.wrong = fmt.Sprintf("a subarray wants sizes, part and from of one length: %v, %v, %v", sizes, part, from)
		return v
	}
	last := len(sizes) - 1
	step := 1
	for i := last; i >= 0; i-- {
		if from[i] < 0 || part[i] < 0 || from[i]+part[i] > sizes[i] {
			v.wrong = fmt.Sprintf("a subarray of %v from %v on is not inside an array of %v", part, from, sizes)
			return v
		}
		v.first += from[i] * step
		if i < last {
			v.runs = append(v.runs, run{part[i], step})
		}
		step *= sizes[i]
	}
	slices.Reverse(v.runs)
	v.block = part[last]
	if len(v.runs) == 0 {
		v.runs = []run{{1, v.block}}
	}
	return v
}

// elems is how many elements it has.
func (v *Strided) elems() int {
	n := v.block
	for _, r := range v.runs {
		n *= r.n
	}
	return n
}

// end is the element behind its last.
func (v *Strided) end() int {
	at := v.first + v.block
	for _, r := range v.runs {
		at += (r.n - 1) * r.step
	}
	return at
}

// merged gives the runs that are left when blocks that touch are one.
func (v *Strided) merged() (runs []run, block int) {
	runs, block = v.runs, v.block
	for n := len(runs); n > 0 && (runs[n-1].n == 1 || runs[n-1].step == block); n-- {
		block *= runs[n-1].n
		runs = runs[:n-1]
	}
	return runs, block
}

// asOne is the shape of n bytes as they are: packed, they are a copy.
func asOne(n int) *device.Shape {
	return &device.Shape{Block: n, Runs: []device.Run{{N: 1, Step: n}}}
}

// resolveStrided tells what memory it is: spread, unless it lies together.
func resolveStrided(call string, v *Strided) (memory, *Error) {
	if v.wrong != "" {
		return memory{}, misuse(ErrArg, call, "%s", v.wrong)
	}
	m, bad := resolve(call, v.buf)
	switch {
	case bad != nil:
		return m, bad
	case m.inPlace, m.spread != nil:
		return m, misuse(ErrBuffer, call, "a %T cannot be strided", v.buf)
	case v.elems() == 0:
		m.N = 0
		return m, nil
	case v.end() > m.elems():
		return m, misuse(ErrBuffer, call, "the strided elements end at %d, the buffer at %d", v.end(), m.elems())
	}
	runs, block := v.merged()
	if len(runs) == 0 { // it is a slice
		if m.dev != nil {
			return resolveDevice(call, m.dev.Slice(v.first, v.first+block))
		}
		m.P, m.N = unsafe.Add(m.P, v.first*m.size), block*m.size
		return m, nil
	}
	s := &device.Shape{First: v.first * m.size, Block: block * m.size}
	for _, r := range runs {
		s.Runs = append(s.Runs, device.Run{N: r.n, Step: r.step * m.size})
	}
	m.spread = s
	return m, nil
}

// isendSpread packs and starts a send of what is packed.
func (c *Comm) isendSpread(by messages, m *memory, dest, tag int, synchronous bool) (transport.Request, error) {
	packed, give, err := c.w.packing(m)
	if err != nil {
		return nil, err
	}
	if m.dev == nil {
		m.spread.Pack(packed.bytes(), m.P)
	} else if err := m.spread.PackDevice(packed.dev, m.dev); err != nil {
		give()
		return nil, err
	}
	r, err := c.isendBy(by, packed, dest, tag, synchronous)
	if err != nil {
		give()
		return nil, err
	}
	return &following{Request: r, over: give}, nil
}

// irecvSpread starts a receive that unpacks what comes.
func (c *Comm) irecvSpread(m *memory, begin func(packed transport.Memory) (transport.Request, error)) (transport.Request, error) {
	packed, give, err := c.w.packing(m)
	if err != nil {
		return nil, err
	}
	r, err := begin(packed.Memory)
	if err != nil {
		give()
		return nil, err
	}
	return &following{Request: r, over: give, then: func(n int) (func() (bool, error), error) {
		if m.dev != nil {
			return c.w.dev.UnpackDevice(m.spread, m.dev, packed.dev, n)
		}
		m.spread.Unpack(m.P, packed.bytes()[:n])
		return nil, nil
	}}, nil
}

// packing is memory for m's elements, one after the other, and how to give it
// back.
func (w *world) packing(m *memory) (*memory, func(), error) {
	n := m.spread.Bytes()
	p := *m
	p.spread = nil
	if m.dev == nil {
		p.Memory = transport.Memory{P: unsafe.Pointer(unsafe.SliceData(make([]byte, n))), N: n, T: transport.Byte}
		return &p, func() {}, nil
	}
	b, give, err := w.dev.Staging(m.dev.Device(), n)
	if err != nil {
		return nil, nil, err
	}
	p, bad := resolveDevice("", b)
	if bad != nil {
		give()
		return nil, nil, bad
	}
	return &p, give, nil
}

// bytes is host memory as a slice.
func (m *memory) bytes() []byte { return unsafe.Slice((*byte)(m.P), m.N) }

// following is a request of which more is to be done when the transport's is
// over.
type following struct {
	transport.Request
	then func(bytes int) (asked func() (bool, error), err error) // of a message that has come
	over func()

	mu    sync.Mutex
	came  bool
	asked func() (bool, error) // whether then is done
	done  bool
	st    transport.Status
	err   error
}

// Test moves it on and tells whether all is done.
func (f *following) Test() (transport.Status, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.came {
		st, done, err := f.Request.Test()
		if !done && err == nil {
			return st, false, nil
		}
		f.came, f.st, f.err = true, st, err
		if err == nil && !st.Cancelled && f.then != nil {
			f.asked, f.err = f.then(st.Bytes)
		}
	}
	if f.asked != nil {
		done, err := f.asked()
		if !done && err == nil {
			return transport.Status{}, false, nil
		}
		f.asked, f.err = nil, err
	}
	if !f.done {
		f.done = true
		if f.over != nil {
			f.over()
		}
	}
	return f.st, true, f.err
}
