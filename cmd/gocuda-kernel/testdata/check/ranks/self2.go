// Each rank sends itself messages before it sends one to the other, which reads what
// this one has not finished.
package main

import (
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
	world, self := mpi.World(), mpi.Self()
	rank := world.Rank()
	other := 1 - rank
	gpu := must(cuda.CurrentDevice())
	stream := must(gpu.NewStream(cuda.NonBlocking))
	x, y := must(gpu.Alloc(n, cuda.Float32)), must(gpu.Alloc(n, cuda.Float32))
	handles := make([]cuda.IPCMemory, 2)
	check(world.AllgatherObject(must(x.IPCHandle()), &handles))
	theirs := must(gpu.OpenIPC(handles[other]))

	for range 3 {
		must(self.Sendrecv(x, 0, 0, y, 0, 0))
		request := must(world.Irecv(y, rank, 5))
		check(world.Send(x, rank, 5))
		must(request.Wait())
	}
	if rank == 0 {
		check(x.MemsetAsync(1, stream)) //! 1
	}
	check(world.Barrier())
	if rank == 1 {
		check(cuda.MemcpyAsync(y, theirs, stream)) //! 1
	}
	check(stream.Synchronize())
	check(world.Barrier())
	check(theirs.Free())
	check(mpi.Finalize()) // or a rank that ends early is lost to those still in the barrier
}
