package main

import "gocuda/cudaapi/cuda"

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Loops that are compiled, and entered while nothing is queued.
func add(v []float32, by float32) (sum float32) {
	for i := range v {
		v[i] += by //! 1
		sum += v[i]
	}
	return sum
}

func norm(v []float32, depth int) float32 {
	if depth > 0 {
		return norm(v[:len(v)/2], depth-1) + norm(v[len(v)/2:], depth-1)
	}
	return v[0] * v[0] //! 2
}

func main() {
	d, _ := cuda.Devices()
	x := must(d[0].Alloc(1<<12, cuda.Float32))
	h := must(cuda.AllocHost(1<<12, cuda.Float32))
	s := must(d[0].NewStream(cuda.NonBlocking))
	v := must(h.Float32s())
	sum := float32(0)
	for range 200 {
		sum += add(v, 1) + norm(v, 9)
	}
	must(0, cuda.MemcpyAsync(x, h, s)) //! 1
	sum += add(v, 2)
	must(0, s.Synchronize())
	for range 200 {
		sum += add(v, 1) + norm(v, 9)
	}
	must(0, cuda.MemcpyAsync(h, x, s)) //! 2
	sum += norm(v, 9)
	must(0, s.Synchronize())
	if sum += add(v, 1); sum == 0 {
		panic("nothing was added")
	}
}
