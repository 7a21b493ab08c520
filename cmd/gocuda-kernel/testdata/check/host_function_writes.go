// Host functions write what later work of their stream, of another one and of a graph
// reads: all in order but the last copy.
package main

import (
	"fmt"

	"gocuda/cudaapi/cuda"
)

func must[T any](v T, err error) T {
	ok(err)
	return v
}

func ok(errs ...error) {
	for _, e := range errs {
		if e != nil {
			panic(e)
		}
	}
}

const n = 1024

func main() {
	d := must(cuda.CurrentDevice())
	a, b := must(d.NewStream(cuda.NonBlocking)), must(d.NewStream(cuda.NonBlocking))
	h := must(cuda.AllocHost(n, cuda.Float32))
	v := must(h.Float32s())
	x, y := must(d.Alloc(n, cuda.Float32)), must(d.Alloc(n, cuda.Float32))
	done := must(d.NewEvent())

	ok(a.LaunchHostFunc(func() {
		v[3] = 4
	}))
	ok(cuda.MemcpyAsync(x, h, a))
	ok(done.Record(a), b.WaitEvent(done))
	ok(cuda.MemcpyAsync(y, h, b))
	ok(done.Record(b), a.WaitEvent(done))

	graph := must(must(a.Capture(func() error {
		ok(a.LaunchHostFunc(func() {
			for i := range v {
				v[i]++ //! 1
			}
		}))
		return cuda.MemcpyAsync(x, h, a)
	})).Instantiate())
	for range 3 {
		ok(graph.Launch(a))
	}
	ok(cuda.MemcpyAsync(y, h, b)) //! 1
	ok(cuda.Synchronize())
	fmt.Println(v[3])
}
