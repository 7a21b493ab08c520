package packages

import (
	"gocuda/cudaapi/cuda"
	"gocuda/kernel/golang/host"
)

// directCUDA are the calls of package cuda that take less time than reflection
// does, and those that stand beside a launch in a loop.
func directCUDA() []host.Direct {
	launch := func(k *cuda.Kernel, grid cuda.GridDim, block cuda.BlockDim, s *cuda.Stream, args []any) error {
		return k.Launch(grid, block, s, args...)
	}
	grid := func(x int, yz []int) cuda.GridDim { return cuda.Grid(x, yz...) }
	block := func(x int, yz []int) cuda.BlockDim { return cuda.Block(x, yz...) }
	return []host.Direct{
		host.Direct5("Kernel.Launch", launch),
		host.Direct1("Prepared.Launch", (*cuda.Prepared).Launch),
		host.Direct2("GraphExec.Launch", (*cuda.GraphExec).Launch),
		host.Direct2("Grid", grid).Pure(),
		host.Direct2("Block", block).Pure(),
		host.Direct2("GridFor", cuda.GridFor).Pure(),
		host.Direct2("Event.Record", (*cuda.Event).Record),
		host.Direct1("Event.Synchronize", (*cuda.Event).Synchronize).Waits(),
		host.Direct2("Stream.WaitEvent", (*cuda.Stream).WaitEvent),
		host.Direct1("Stream.Synchronize", (*cuda.Stream).Synchronize).Waits(),
		host.Direct1R2("Stream.Query", (*cuda.Stream).Query).Waits(),
		host.Direct1R2("Event.Query", (*cuda.Event).Query).Waits(),
		host.Direct3R2("Stream.AllocAsync", (*cuda.Stream).AllocAsync),
		host.Direct2("Buffer.FreeAsync", (*cuda.Buffer).FreeAsync),
		host.Direct3("Buffer.Slice", (*cuda.Buffer).Slice),
		host.Direct3("MemcpyPeerAsync", cuda.MemcpyPeerAsync),
	}
}
