package main

import "gocuda/cudaapi/cuda"

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

type stepper interface{ step(n int) }

type copies struct {
	x *cuda.Buffer
	h *cuda.HostBuffer
	s *cuda.Stream
}

func (c *copies) step(n int) {
	if n%100 == 99 {
		must(0, cuda.MemcpyAsync(c.x, c.h, c.s)) //! 1
	}
}

type nothing struct{}

func (nothing) step(n int) {}

type holder struct{ sync func(n int) }

// Methods of interfaces and functions in fields may queue work in the middle of a loop.
func run(n int, v []float32, t stepper, k holder) (sum float32) {
	for i := range n {
		t.step(i)
		v[i%len(v)] += 1 //! 1
		k.sync(i)
		sum += float32(i)
	}
	return sum
}

func main() {
	d, _ := cuda.Devices()
	x := must(d[0].Alloc(1<<12, cuda.Float32))
	h := must(cuda.AllocHost(1<<12, cuda.Float32))
	s := must(d[0].NewStream(cuda.NonBlocking))
	v := must(h.Float32s())
	c := &copies{x, h, s}
	k := holder{func(n int) {
		if n%100 == 99 {
			must(0, s.Synchronize())
		}
	}}
	sum := float32(0)
	for range 3 {
		sum += run(100000, v, nothing{}, k)
	}
	sum += run(1000, v, c, k)
	if sum == 0 {
		panic("nothing was added")
	}
}
