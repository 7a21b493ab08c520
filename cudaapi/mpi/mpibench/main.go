// Mpibench measures messages and reductions between two and more ranks. It is
// started as ranks: by mpirun of an MPI library, or by gocuda-kernel mpirun.
//
//	mpibench host       ping-pong of host memory, as bench/pingpong.py does it with mpi4py
//	mpibench windows    one-sided calls on host memory, as bench/windows.py makes them
//	mpibench device     ping-pong of device memory, beside NCCL and the bare copy
//	mpibench allreduce  sums of device memory over all ranks, beside NCCL
//	mpibench symmetric  kernels on symmetric memory: sums, a halo exchange, a fused norm
//
// What is compared takes turns, for several rounds; each round is a loop, and
// its figure the mean. -max bounds the messages, in bytes. With -turns several
// programs that run at once take turns, round by round.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi"

	_ "gocuda/cudaapi/backend"
)

var (
	rounds  = flag.Int("rounds", 7, "how often each is measured")
	largest = flag.Int("max", 0, "the longest message, in `bytes`; 0: 4 MiB of host memory, 1 GiB of a device's")
	calls   = flag.Int("calls", 1000, "calls in a round, of short messages")
)

func main() {
	flag.Parse()
	modes := map[string]func(*mpi.Comm) error{"host": host, "windows": windows, "device": deviceMemory, "allreduce": sums, "symmetric": symmetricMemory}
	mode := modes[flag.Arg(0)]
	if mode == nil || flag.NArg() > 1 {
		fmt.Fprintln(os.Stderr, "usage: mpibench [-rounds N] [-max BYTES] [-calls N] [-turns FOLDER/NAME] host|windows|device|allreduce|symmetric")
		os.Exit(2)
	}
	world, err := mpi.Init()
	if err == nil {
		err = mode(world)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mpibench:", err)
		mpi.Abort(1)
	}
	if err := mpi.Finalize(); err != nil {
		fmt.Fprintln(os.Stderr, "mpibench:", err)
		os.Exit(1)
	}
}

// way is one of the ways to do what is measured.
type way struct {
	name string
	// loop does it n times and waits for the last; each time counts as many. nil:
	// it is not for this length.
	loop  func(n int) error
	count int
}

// took are the microseconds of each round.
type took []float64

func (t took) least() float64 { return slices.Min(t) }

func (t took) median() float64 {
	s := slices.Sorted(slices.Values(t))
	return s[len(s)/2]
}

// measure has all ways take turns. The figures are this rank's.
func measure(world *mpi.Comm, ways []way, n int) ([]took, error) {
	all := make([]took, len(ways))
	t, err := taking(world)
	if err != nil {
		return nil, err
	}
	for round := range *rounds + 1 {
		for i, w := range ways {
			if w.loop == nil {
				continue
			}
			if err := t.wait(); err != nil {
				return nil, err
			}
			if err := world.Barrier(); err != nil {
				return nil, err
			}
			start := time.Now()
			if err := w.loop(n); err != nil {
				return nil, fmt.Errorf("%s: %w", w.name, err)
			}
			if round > 0 { // the first one warms up
				all[i] = append(all[i], float64(time.Since(start).Nanoseconds())/1e3/float64(n*w.count))
			}
			if err := t.pass(); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// loops is how often something of so many bytes is done in a round.
func loops(bytes int) int { return min(*calls, max(2, 256<<20/bytes)) }

// sizes are the messages' lengths in bytes: from first, by steps, to the
// longest, or to limit.
func sizes(first, step, limit int) []int {
	if *largest > 0 {
		limit = *largest
	}
	var list []int
	for n := first; n < limit; n *= step {
		list = append(list, n)
	}
	return append(list, limit)
}

// within are those of the lengths that are not longer than the longest, which is
// one of them.
func within(lengths []int) []int {
	if *largest == 0 {
		return lengths
	}
	i := slices.IndexFunc(lengths, func(n int) bool { return n >= *largest })
	if i < 0 {
		i = len(lengths)
	}
	return append(slices.Clone(lengths[:i]), *largest)
}

// table prints a line of a table, and its head before the first.
type table struct {
	world  *mpi.Comm
	factor float64 // bytes over the wire, for each of the buffer
	begun  bool
}

func (t *table) row(bytes int, ways []way, all []took) {
	if t.world.Rank() != 0 {
		return
	}
	if !t.begun {
		t.begun = true
		fmt.Print("| bytes |")
		for _, w := range ways {
			fmt.Printf(" %s: us | (least) | GB/s |", w.name)
		}
		fmt.Print("\n|---|")
		for range ways {
			fmt.Print("---|---|---|")
		}
		fmt.Println()
	}
	fmt.Printf("| %d |", bytes)
	for _, t1 := range all {
		if t1 == nil {
			fmt.Print("  |  |  |")
			continue
		}
		m := t1.median()
		fmt.Printf(" %.2f | (%.2f) | %.4g |", m, t1.least(), t.factor*float64(bytes)/m/1e3)
	}
	fmt.Println()
}

// ofRank is the device that a rank's buffers are on, and the number of devices.
func ofRank(rank int) (*cuda.Device, int, error) {
	devs, err := cuda.Devices()
	if err != nil {
		return nil, 0, err
	}
	return devs[rank%len(devs)], len(devs), nil
}

// title says what is measured, where.
func title(world *mpi.Comm, what string) error {
	library, err := mpi.LibraryInfo()
	if err != nil {
		return err
	}
	if world.Rank() != 0 {
		return nil
	}
	fmt.Printf("%s; %d ranks; medians of %d rounds, in turns\n", what, world.Size(), *rounds)
	fmt.Printf("%v\n", library)
	return nil
}
