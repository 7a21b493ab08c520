// Each rank writes its right neighbour's buffer, and reads what its left one wrote,
// three times. The neighbour is told when the copy is done, but nobody says when the
// buffer may be written again.
package main

import (
	"fmt"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi"
)

const n = 4096

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	world := mpi.World()
	rank, size := world.Rank(), world.Size()
	right, left := (rank+1)%size, (rank+size-1)%size
	gpu := must(cuda.CurrentDevice())
	stream := must(gpu.NewStream(cuda.NonBlocking))
	inbox := must(gpu.Alloc(n, cuda.Float32))
	sum := must(gpu.Alloc(n, cuda.Float32))
	mine := must(gpu.Alloc(n, cuda.Float32))
	code := must(cuda.Compile(`__global__ void add(float *sum, const float *x, int n) {
		int i = blockIdx.x * blockDim.x + threadIdx.x;
		if (i < n) sum[i] += x[i];
	}`))
	add := must(code.Kernel("add"))

	// The mailbox of the right neighbour.
	handles := make([]cuda.IPCMemory, size)
	check(world.AllgatherObject(must(inbox.IPCHandle()), &handles))
	outbox := must(gpu.OpenIPC(handles[right]))

	check(sum.Memset(0))
	check(mine.Memset(0))
	check(gpu.Synchronize())
	for step := range 3 {
		check(cuda.MemcpyAsync(outbox, mine, stream)) //! 1
		check(stream.Synchronize())
		check(world.Send([]int32{int32(step)}, right, 0))
		said := make([]int32, 1)
		must(world.Recv(said, left, 0))
		check(add.Launch(cuda.GridFor(n, 256), cuda.Block(256), stream, sum, inbox, n)) //! 1
		check(stream.Synchronize())
	}
	check(world.Barrier())
	check(outbox.Free())
	fmt.Println("rank", rank, "is done")
	check(mpi.Finalize()) // or a rank that ends early is lost to those still in the barrier
}
