package main

import (
	"fmt"

	"gocuda/cudaapi/mpi"
)

// windows prints a line for each way to reach the other rank's memory: the program's
// name, what is done and of how many bytes, least and median microseconds. Rank 0 does
// it, and rank 1 only what a fence wants of all.
func windows(world *mpi.Comm) error {
	if world.Size() != 2 {
		return errTwo
	}
	const most = 1024 // elements
	var mem []float64
	w, err := world.WinAllocate(&mem, most)
	if err != nil {
		return err
	}
	one, many := make([]float64, 1), make([]float64, most)
	rank := world.Rank()
	fence := func() error { return w.Fence() }
	put := func() error { return w.Put(one, 1-rank, 0) }
	then := func(start, end func() error) func(int) error {
		return func(n int) error {
			for i := 0; i < n && rank == 0; i++ {
				if err := start(); err != nil {
					return err
				}
				if err := end(); err != nil {
					return err
				}
			}
			return nil
		}
	}
	flush := func() error { return w.Flush(1) }
	add := func(buf []float64) func() error { return func() error { return w.Accumulate(buf, 1, 0, mpi.Sum) } }
	show := func(bytes int, ways ...way) error {
		all, err := measure(world, ways, *calls)
		if err != nil {
			return err
		}
		for i := range ways {
			if rank == 0 {
				fmt.Printf("%s %s-%d %.3f %.3f\n", name(), ways[i].name, bytes, all[i].least(), all[i].median())
			}
		}
		return nil
	}
	if err := fence(); err != nil {
		return err
	}
	if err := show(8, way{"put-fence", func(n int) error {
		for range n {
			for turn := range 2 {
				if rank == turn {
					if err := put(); err != nil {
						return err
					}
				}
				if err := fence(); err != nil {
					return err
				}
			}
		}
		return nil
	}, 2}); err != nil {
		return err
	}
	if err := w.Fence(mpi.NoSucceed); err != nil {
		return err
	}
	if err := w.LockAll(); err != nil {
		return err
	}
	if err := show(8, way{"put-flush", then(put, flush), 1}, way{"accumulate-flush", then(add(one), flush), 1}); err != nil {
		return err
	}
	if err := show(8*most, way{"accumulate-flush", then(add(many), flush), 1}); err != nil {
		return err
	}
	if err := w.UnlockAll(); err != nil {
		return err
	}
	return w.Free()
}
