// Pinned memory that goes through parameters, results, fields, slices of slices and
// generic functions before the program touches it, and a free that is deferred.
package main

import (
	"cmp"
	"fmt"
	"slices"

	"gocuda/cudaapi/cuda"
)

const n = 64

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

type board struct {
	h     *cuda.HostBuffer
	cells []float32
}

func newBoard() *board {
	h := must(cuda.AllocHost(n, cuda.Float32))
	return &board{h, must(h.Float32s())}
}

func (b *board) put(i int, v float32) {
	b.cells[i] = v //! 1
}

func fill(v []float32, by float32) {
	for i := range v {
		v[i] = by //! 2
	}
}

func largest[T cmp.Ordered](list []T) (m T) {
	for _, v := range list { //! 3
		m = max(m, v)
	}
	return m
}

func view(h *cuda.HostBuffer) ([]float32, error) { return h.Float32s() }

func work(d *cuda.Device, s *cuda.Stream) {
	x := must(d.Alloc(n, cuda.Float32))
	defer x.Free()                                      //! 6
	must(0, x.UploadAsync(newBoard().h.Slice(0, n), s)) //! 6
}

func main() {
	d := must(cuda.CurrentDevice())
	s := must(d.NewStream(cuda.NonBlocking))
	x := must(d.Alloc(n, cuda.Float32))
	upload := func(h *cuda.HostBuffer) {
		must(0, s.Synchronize())
		must(0, x.UploadAsync(h, s)) //! 1 2 4 5
	}
	b := newBoard()
	upload(b.h)
	b.put(3, 1)
	upload(b.h)
	fill(b.cells, 2)
	must(0, s.Synchronize())
	must(0, x.DownloadAsync(b.h, s)) //! 3
	fmt.Println(largest(b.cells))
	upload(b.h)
	v := must(view(b.h))
	slices.Sort(v) //! 4
	upload(b.h)
	views := [][]float32{b.cells, v}
	views[1][0]++ //! 5
	must(0, s.Synchronize())
	work(d, s)
	must(0, s.Synchronize())
}
