package cuda_test

import (
	"fmt"
	"log"

	"gocuda/cudaapi/cuda"
)

// polynomials is a module with a template, a constant and dynamic shared memory.
const polynomials = `
__constant__ float coefficient[3];

template <typename T> __global__ void quadratic(const T *x, T *y, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) y[i] = coefficient[0] + x[i] * (coefficient[1] + x[i] * coefficient[2]);
}

__global__ void backwards(float *x) {
	extern __shared__ float kept[];
	kept[threadIdx.x] = x[threadIdx.x];
	__syncthreads();
	x[threadIdx.x] = kept[blockDim.x - 1 - threadIdx.x];
}

__global__ void add(float *x, float by, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) x[i] += by;
}`

// check ends an example that cannot go on.
func check(list ...error) {
	for _, err := range list {
		if err != nil {
			log.Fatal(err)
		}
	}
}

// An instance of a template is asked for when the module is compiled; a
// __constant__ variable is set by an upload.
func ExampleInstantiate() {
	gpu, err := cuda.Get(0)
	check(err)
	module, err := cuda.Compile(polynomials, cuda.Instantiate("quadratic<float>"))
	check(err)
	quadratic, err := module.Kernel("quadratic<float>")
	check(err)
	coefficient, err := module.Global(gpu, "coefficient", cuda.Float32)
	check(err, coefficient.Upload([]float32{1, 0, 2}))
	x, err := gpu.Alloc(4, cuda.Float32)
	check(err)
	defer x.Free()
	check(x.Iota(0, 1, nil), quadratic.Launch(cuda.Grid(1), cuda.Block(4), nil, x, x, 4))
	values, err := x.Float32s()
	check(err)
	fmt.Println(quadratic)
	fmt.Println(values)
	// Output:
	// __global__ void quadratic<float>(const float *x, float *y, int n)
	// [1 3 9 19]
}

// With has what kernel<<<grid, block, shared, stream>>> says beyond the grid, the
// block and the stream.
func ExampleKernel_With() {
	gpu, err := cuda.Get(0)
	check(err)
	module, err := cuda.Compile(polynomials)
	check(err)
	backwards, err := module.Kernel("backwards")
	check(err)
	x, err := gpu.Alloc(5, cuda.Float32)
	check(err)
	defer x.Free()
	check(x.Iota(1, 1, nil))
	check(backwards.With(cuda.SharedMemory(5*4)).Launch(cuda.Grid(1), cuda.Block(5), nil, x))
	values, err := x.Float32s()
	check(err)
	fmt.Println(values)
	// Output: [5 4 3 2 1]
}

// What a stream is given while it is captured runs when the graph does, as often as
// that is launched.
func ExampleStream_Capture() {
	gpu, err := cuda.Get(0)
	check(err)
	module, err := cuda.Compile(polynomials)
	check(err)
	add, err := module.Kernel("add")
	check(err)
	stream, err := gpu.NewStream(cuda.NonBlocking)
	check(err)
	x, err := gpu.Alloc(3, cuda.Float32)
	check(err)
	defer x.Free()
	steps := func(by float64) *cuda.Graph {
		graph, err := stream.Capture(func() error {
			for range 2 {
				if err := add.Launch(cuda.Grid(1), cuda.Block(32), stream, x, by, 3); err != nil {
					return err
				}
			}
			return nil
		})
		check(err)
		return graph
	}
	graph := steps(1)
	nodes, err := graph.Nodes()
	check(err)
	ready, err := graph.Instantiate()
	check(err)
	check(x.Fill(0, stream), ready.Launch(stream), ready.Launch(stream))
	check(ready.Update(steps(10)), ready.Launch(stream), stream.Synchronize())
	values, err := x.Float32s()
	check(err)
	fmt.Println(nodes, values)
	// Output: [kernel kernel] [24 24 24]
}

// Memory that is allocated in a stream's order costs no wait: the work of other
// streams that use it waits for an event.
func ExampleStream_AllocAsync() {
	gpu, err := cuda.Get(0)
	check(err)
	maker, err := gpu.NewStream(cuda.NonBlocking)
	check(err)
	user, err := gpu.NewStream(cuda.NonBlocking)
	check(err)
	made, err := gpu.NewEvent(cuda.DisableTiming)
	check(err)
	used, err := gpu.NewEvent(cuda.DisableTiming)
	check(err)
	host, err := cuda.AllocHost(2, cuda.Int32)
	check(err)
	defer host.Free()

	x, err := maker.AllocAsync(2, cuda.Int32)
	check(err, x.Fill(42, maker), made.Record(maker))
	check(user.WaitEvent(made), x.DownloadAsync(host, user), used.Record(user))
	check(maker.WaitEvent(used), x.FreeAsync(maker), user.Synchronize())
	values, err := host.Int32s()
	check(err)
	fmt.Println(values)
	// Output: [42 42]
}
