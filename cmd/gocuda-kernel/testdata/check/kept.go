// Pinned memory that containers of the library keep, that generic functions take, and
// that is given to values of functions, which may wait before they touch it; each once
// without a wait and once with one.
package main

import (
	"container/list"
	"fmt"
	"sync"
	"sync/atomic"

	"gocuda/cudaapi/cuda"
)

const n = 64

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func last[S ~[]E, E any](s S) E {
	return s[len(s)-1] //! 1
}

type store struct {
	views sync.Map
	byKey map[string]*atomic.Pointer[[]float32]
}

func (s *store) put(k string, v []float32) { s.views.Store(k, v) }

func (s *store) get(k string) []float32 {
	v, ok := s.views.Load(k)
	if !ok {
		return nil
	}
	return v.([]float32)
}

type judge struct{ of func(v []float32) float32 }

func main() {
	d := must(cuda.CurrentDevice())
	s := must(d.NewStream(cuda.NonBlocking))
	x := must(d.Alloc(n, cuda.Float32))
	h := must(cuda.AllocHost(n, cuda.Float32))
	v := must(h.Float32s())
	sum := float32(0)
	wait := func() { must(0, s.Synchronize()) }
	down := func() {
		wait()
		must(0, x.DownloadAsync(h, s)) //! 1 2 3 4 5 6
	}

	down()
	sum += last(v)

	var value atomic.Value
	value.Store(v)
	down()
	sum += value.Load().([]float32)[2] //! 2
	kept := store{byKey: map[string]*atomic.Pointer[[]float32]{"a": {}}}
	kept.put("a", v)
	down()
	sum += kept.get("a")[3] //! 3
	kept.byKey["a"].Store(&v)
	down()
	(*kept.byKey["a"].Load())[4] = 1 //! 4
	all := list.New()
	all.PushBack(v)
	down()
	for e := all.Front(); e != nil; e = e.Next() {
		sum += e.Value.([]float32)[5] //! 5
	}

	waits := judge{func(v []float32) float32 {
		wait()
		return v[0]
	}}
	doesNot := judge{func(v []float32) float32 {
		return v[0] //! 6
	}}
	down()
	sum += waits.of(v)
	down()
	sum += doesNot.of(v)

	down()
	wait()
	sum += last(v) + value.Load().([]float32)[2] + kept.get("a")[3] + (*kept.byKey["a"].Load())[4]
	fmt.Println(sum >= 0)
}
