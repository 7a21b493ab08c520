// Halo spreads heat over a plate that is closed in itself, cut into boxes of a
// grid of MPI ranks, each on a device of its own. Before every step neighbours
// exchange the edges of their boxes, rows and columns, straight from and into
// device memory:
//
//	CGO_ENABLED=0 go build ./examples/halo
//	mpirun -n 4 ./halo
//
// What comes out is known: the heat at the start is a wave that only fades, by the
// same factor in each step. Without GPUs it runs on simulated devices
// (GOCUDA_BACKEND=sim).
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi"
)

const source = `
// A box has n by n cells of its own, and around them a border of the neighbours'.
extern "C" __global__ void spread(double *next, const double *now, int n, double rate) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y, w = n + 2;
    if (i >= n || j >= n) return;
    int at = (i + 1) * w + j + 1;
    next[at] = now[at] + rate * (now[at - 1] + now[at + 1] + now[at - w] + now[at + w] - 4 * now[at]);
}`

func main() {
	n := flag.Int("n", 64, "cells along each side of a rank's box")
	steps := flag.Int("steps", 100, "steps to take")
	flag.Parse()
	if *n < 1 || *steps < 0 {
		fmt.Fprintln(os.Stderr, "halo: -n must be at least 1, and -steps at least 0")
		os.Exit(2)
	}
	if err := run(os.Stdout, *n, *steps); err != nil {
		fmt.Fprintln(os.Stderr, "halo:", err)
		mpi.Abort(1) // the others would wait for this rank
	}
}

// rate is the share of a difference between neighbours that flows in a step.
const rate = 0.2

func run(w io.Writer, n, steps int) error {
	world, err := mpi.Init()
	if err != nil {
		return err
	}
	dims, err := mpi.DimsCreate(world.Size(), 0, 0)
	if err != nil {
		return err
	}
	grid, err := world.CartCreate(dims, []bool{true, true})
	if err != nil {
		return err
	}
	at, err := grid.CartCoords(grid.Rank())
	if err != nil {
		return err
	}
	devices, err := cuda.Devices()
	if err != nil {
		return err
	}
	device := devices[grid.Rank()%len(devices)]
	module, err := cuda.Compile(source, cuda.ForDevice(device))
	if err != nil {
		return err
	}
	spread, err := module.Kernel("spread")
	if err != nil {
		return err
	}

	// The wave at the start, and how much of it is left after a step.
	rows, cols := float64(dims[0]*n), float64(dims[1]*n)
	wave := make([]float64, (n+2)*(n+2))
	for i := range n {
		for j := range n {
			wave[(i+1)*(n+2)+j+1] = math.Sin(2*math.Pi*float64(at[0]*n+i)/rows+1) * math.Sin(2*math.Pi*float64(at[1]*n+j)/cols+1)
		}
	}
	left := 1 + rate*(2*math.Cos(2*math.Pi/rows)+2*math.Cos(2*math.Pi/cols)-4)

	// Two fields take turns, and each has its own messages, made once.
	var fields [2]*cuda.Buffer
	var halos [2][]*mpi.Request
	for k := range fields {
		if fields[k], err = device.Alloc(len(wave), cuda.Float64); err != nil {
			return err
		}
		if halos[k], err = halo(grid, fields[k], n); err != nil {
			return err
		}
	}
	if err := fields[0].Upload(wave); err != nil {
		return err
	}
	for step := range steps {
		now, next := step%2, 1-step%2
		if err := mpi.StartAll(halos[now]...); err != nil {
			return err
		}
		if _, err := mpi.WaitAll(halos[now]...); err != nil {
			return err
		}
		block := cuda.Block(16, 16)
		blocks := (n + 15) / 16
		if err := spread.Launch(cuda.Grid(blocks, blocks), block, device.DefaultStream(), fields[next], fields[now], n, rate); err != nil {
			return err
		}
	}

	got, err := fields[steps%2].Float64s()
	if err != nil {
		return err
	}
	worst := 0.0
	for i := 1; i <= n; i++ {
		for j := 1; j <= n; j++ {
			k := i*(n+2) + j
			worst = max(worst, math.Abs(got[k]-wave[k]*math.Pow(left, float64(steps))))
		}
	}
	if err := world.Allreduce(worst, &worst, mpi.Max); err != nil {
		return err
	}
	if worst > 1e-12 {
		return fmt.Errorf("rank %d: the wave is off by %g", world.Rank(), worst)
	}
	if world.Rank() == 0 {
		fmt.Fprintf(w, "%d by %d ranks of %d by %d cells: after %d steps %.6f of the wave is left, as it should be\n",
			dims[0], dims[1], n, n, steps, math.Pow(left, float64(steps)))
	}
	return errors.Join(grid.Free(), mpi.Finalize())
}

// halo makes the messages that fill a field's border: in each dimension the edges
// go to the neighbours on both sides.
func halo(grid *mpi.Comm, field *cuda.Buffer, n int) ([]*mpi.Request, error) {
	w := n + 2
	lines := []func(i int) mpi.Strided{
		func(i int) mpi.Strided { return mpi.Subarray(field, []int{w, w}, []int{1, n}, []int{i, 1}) }, // row i
		func(j int) mpi.Strided { return mpi.Subarray(field, []int{w, w}, []int{n, 1}, []int{1, j}) }, // column j
	}
	var all []*mpi.Request
	for dimension, line := range lines {
		before, after, err := grid.CartShift(dimension, 1)
		if err != nil {
			return nil, err
		}
		for tag, way := range []struct{ from, to, border, edge int }{{before, after, 0, n}, {after, before, n + 1, 1}} {
			in, err := grid.RecvInit(line(way.border), way.from, 2*dimension+tag)
			if err != nil {
				return nil, err
			}
			out, err := grid.SendInit(line(way.edge), way.to, 2*dimension+tag)
			if err != nil {
				return nil, err
			}
			all = append(all, in, out)
		}
	}
	return all, nil
}
