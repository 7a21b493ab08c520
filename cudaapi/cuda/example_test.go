package cuda_test

import (
	"fmt"
	"log"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
)

// The examples run on whichever devices there are: real or simulated.

func Example() {
	gpu, err := cuda.Get(0)
	if err != nil {
		log.Fatal(err)
	}
	module, err := cuda.Compile(`
__global__ void saxpy(int n, float a, const float *x, float *y) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) y[i] = a * x[i] + y[i];
}`)
	if err != nil {
		log.Fatal(err)
	}
	saxpy, err := module.Kernel("saxpy")
	if err != nil {
		log.Fatal(err)
	}
	const n = 5
	x, err := gpu.Alloc(n, cuda.Float32)
	if err != nil {
		log.Fatal(err)
	}
	defer x.Free()
	y, err := gpu.Alloc(n, cuda.Float32)
	if err != nil {
		log.Fatal(err)
	}
	defer y.Free()
	if err := x.Upload([]float32{1, 2, 3, 4, 5}); err != nil {
		log.Fatal(err)
	}
	if err := y.Fill(100, nil); err != nil {
		log.Fatal(err)
	}
	if err := saxpy.Launch(cuda.GridFor(n, 256), cuda.Block(256), nil, n, 2, x, y); err != nil {
		log.Fatal(err)
	}
	values, err := y.Float32s() // waits
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(values)
	// Output: [102 104 106 108 110]
}

// Two streams, ordered by an event: the second copy waits for the first without
// the CPU waiting for either.
func ExampleStream_WaitEvent() {
	gpu, err := cuda.Get(0)
	if err != nil {
		log.Fatal(err)
	}
	first, _ := gpu.NewStream(cuda.NonBlocking)
	second, _ := gpu.NewStream(cuda.NonBlocking)
	written, _ := gpu.NewEvent(cuda.DisableTiming)
	buf, _ := gpu.Alloc(4, cuda.Int32)
	defer buf.Free()
	host, _ := cuda.AllocHost(4, cuda.Int32)
	defer host.Free()

	for _, err := range []error{
		buf.Fill(7, first),
		written.Record(first),
		second.WaitEvent(written),
		buf.DownloadAsync(host, second),
		second.Synchronize(),
	} {
		if err != nil {
			log.Fatal(err)
		}
	}
	values, _ := host.Int32s()
	fmt.Println(values)
	// Output: [7 7 7 7]
}

// What is wrong with a call is said before CUDA sees it.
func ExampleError() {
	gpu, err := cuda.Get(0)
	if err != nil {
		log.Fatal(err)
	}
	buf, _ := gpu.Alloc(4, cuda.Float32)
	fmt.Println(buf.Upload([]float64{1, 2, 3, 4}))
	_ = buf.Free()
	fmt.Println(buf.Free())
	// Output:
	// Buffer.Upload (device 0): CUDA_ERROR_INVALID_VALUE (1): the destination holds Float32, the source Float64: give a []float32 in place of the []float64, or allocate the memory as cuda.Float64
	// Buffer.Free (device 0): CUDA_ERROR_INVALID_VALUE (1): the buffer (4 Float32) was freed before
}

func ExampleMemcpyPeerAsync() {
	gpus, err := cuda.Devices()
	if err != nil {
		log.Fatal(err)
	}
	from, to := gpus[0], gpus[len(gpus)-1] // with one device, both
	src, _ := from.Alloc(3, cuda.Int64)
	defer src.Free()
	dst, _ := to.Alloc(3, cuda.Int64)
	defer dst.Free()
	stream, _ := from.NewStream(cuda.NonBlocking)
	for _, err := range []error{
		src.Upload([]int{1, 2, 3}),
		cuda.MemcpyPeerAsync(dst, src, stream),
		stream.Synchronize(),
	} {
		if err != nil {
			log.Fatal(err)
		}
	}
	values, _ := dst.Int64s()
	fmt.Println(values)
	// Output: [1 2 3]
}
