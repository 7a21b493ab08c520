// Pinned memory that a pool makes, that a closure finds in a variable which is set later,
// and that a function type's value gives back; each once without a wait and once with one.
package main

import (
	"fmt"
	"sync"

	"gocuda/cudaapi/cuda"
)

const n = 64

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var board []float32

var third = func() float32 { return board[3] } //! 2

func main() {
	d := must(cuda.CurrentDevice())
	s := must(d.NewStream(cuda.NonBlocking))
	x := must(d.Alloc(n, cuda.Float32))
	h := must(cuda.AllocHost(n, cuda.Float32))
	sum := float32(0)
	wait := func() { must(0, s.Synchronize()) }
	down := func() {
		wait()
		must(0, x.DownloadAsync(h, s)) //! 1 2
	}

	pool := sync.Pool{New: func() any { return must(h.Float32s()) }}
	down()
	v := pool.Get().([]float32)
	sum += v[2] //! 1
	pool.Put(v)

	board = must(h.Float32s())
	down()
	sum += third()

	down()
	wait()
	sum += v[2] + third()
	fmt.Println(sum >= 0)
}
