// A program that goes on when a host function tells it to comes behind what that function's
// stream did, and behind the function; one that does not wait does not.
package main

import (
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

func main() {
	d := must(cuda.CurrentDevice())
	s, t := must(d.NewStream(cuda.NonBlocking)), must(d.NewStream(cuda.NonBlocking))
	x, y := must(d.Alloc(n, cuda.Int32)), must(d.Alloc(n, cuda.Int32))
	h := must(cuda.AllocHost(n, cuda.Int32))
	v := must(h.Int32s())
	sum := int32(0)
	for range 100 {
		done := make(chan bool)
		must(0, x.MemsetAsync(1, s))
		must(0, s.LaunchHostFunc(func() {
			v[1] = 1
			close(done)
		}))
		<-done
		sum += v[1]
		must(0, x.MemsetAsync(2, t))
		must(0, t.Synchronize())
	}
	for range 20 {
		var wg sync.WaitGroup
		wg.Add(2)
		for i, of := range []*cuda.Stream{s, t} {
			must(0, x.Slice(i, i+1).MemsetAsync(1, of))
			must(0, of.LaunchHostFunc(wg.Done))
		}
		wg.Wait()
		must(0, x.MemsetAsync(2, s))
		must(0, s.Synchronize())
	}
	must(0, y.MemsetAsync(1, s)) //! 1
	must(0, s.LaunchHostFunc(func() {
		v[2] = 1 //! 2
	}))
	must(0, y.MemsetAsync(2, t)) //! 1
	sum += v[2]                  //! 2
	must(0, d.Synchronize())
}
