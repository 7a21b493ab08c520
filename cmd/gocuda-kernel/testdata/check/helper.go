// All is queued by one function, and the second of its calls waits for nothing: the
// report must tell the calls apart.
package main

import "gocuda/cudaapi/cuda"

const source = `__global__ void add(float *x, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) x[i] = 1;
}`

const n = 1024

func must[T any](v T, err error) T {
	ok(err)
	return v
}

func ok(err error) {
	if err != nil {
		panic(err)
	}
}

var add = must(must(cuda.Compile(source)).Kernel("add"))

func run(s *cuda.Stream, x *cuda.Buffer) {
	ok(add.Launch(cuda.GridFor(n, 256), cuda.Block(256), s, x, n)) //! 1 1
}

func main() {
	d := must(cuda.CurrentDevice())
	a, b := must(d.NewStream(cuda.NonBlocking)), must(d.NewStream(cuda.NonBlocking))
	x := must(d.Alloc(n, cuda.Float32))
	ok(x.MemsetAsync(0, a))
	run(a, x) //from 1
	ok(a.Synchronize())
	run(b, x) //from 2
	run(a, x) //from 3
	ok(cuda.Synchronize())
}
