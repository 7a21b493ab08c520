// Rank 0 makes numbers, rank 1 uses them where they are; events go from stream to
// stream, and messages say that they were recorded. Rank 1 forgets to wait in the
// last round.
package main

import (
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi"
)

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

const n, rounds = 1 << 12, 4

func event(gpu *cuda.Device) *cuda.Event {
	return must(gpu.NewEvent(cuda.Interprocess, cuda.DisableTiming))
}

func main() {
	world := mpi.World()
	gpu := must(cuda.CurrentDevice())
	s := must(gpu.NewStream())
	token := make([]byte, 1)
	if world.Rank() == 0 {
		numbers := must(gpu.Alloc(n, cuda.Float64))
		made := event(gpu)
		check(world.SendObject(must(numbers.IPCHandle()), 1, 0))
		check(world.SendObject(must(made.IPCHandle()), 1, 1))
		var h cuda.IPCEvent
		must(world.RecvObject(&h, 1, 1))
		used := must(gpu.OpenIPCEvent(h))
		for i := range rounds {
			if i > 0 {
				must(world.Recv(token, 1, 2))
				check(s.WaitEvent(used))
			}
			check(numbers.MemsetAsync(byte(i), s)) //! 1
			check(made.Record(s))
			check(world.Send(token, 1, 2))
		}
	} else {
		var m cuda.IPCMemory
		var h cuda.IPCEvent
		must(world.RecvObject(&m, 0, 0))
		must(world.RecvObject(&h, 0, 1))
		used := event(gpu)
		check(world.SendObject(must(used.IPCHandle()), 0, 1))
		numbers, made := must(gpu.OpenIPC(m)), must(gpu.OpenIPCEvent(h))
		mine := must(gpu.Alloc(n, cuda.Float64))
		for i := range rounds {
			must(world.Recv(token, 0, 2))
			if i < rounds-1 {
				check(s.WaitEvent(made))
			}
			check(cuda.MemcpyAsync(mine, numbers, s)) //! 1
			if i < rounds-1 {
				check(used.Record(s))
				check(world.Send(token, 0, 2))
			}
		}
	}
	check(s.Synchronize())
	check(world.Barrier())
	check(mpi.Finalize()) // or a rank that ends early is lost to those still in the barrier
}
