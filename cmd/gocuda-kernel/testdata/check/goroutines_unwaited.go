// Two goroutines run one function; what its statement calls queues too, and lets the
// other go on meanwhile. Nobody waits for their kernels.
package main

import (
	"fmt"

	"gocuda/cudaapi/cuda"
)

const n = 256

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// behind is a grid, when turn has come.
func behind(turn chan bool) cuda.GridDim {
	if turn != nil {
		<-turn
	}
	return cuda.GridFor(n, 128)
}

func main() {
	d := must(cuda.CurrentDevice())
	fill := must(must(cuda.Compile(`extern "C" __global__ void fill(float *x, int n) {
		int i = blockIdx.x * blockDim.x + threadIdx.x;
		if (i < n) x[i] = 1;
	}`)).Kernel("fill"))
	x := must(d.Alloc(2*n, cuda.Float32))
	turns := []chan bool{nil, make(chan bool)}
	errs := make(chan error, len(turns))
	for i, turn := range turns {
		s := must(d.NewStream(cuda.NonBlocking))
		go func() {
			err := fill.Launch(behind(turn), cuda.Block(128), s, x.Slice(i*n, (i+1)*n), n) //! 1
			if turn == nil {
				close(turns[1])
			}
			errs <- err
		}()
	}
	for range turns {
		must(0, <-errs)
	}
	fmt.Println(must(x.Sum(must(d.NewStream(cuda.NonBlocking))))) //! 1
	must(0, d.Synchronize())
}
