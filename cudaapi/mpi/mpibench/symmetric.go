package main

import (
	_ "embed"
	"errors"
	"fmt"

	"gocuda/cudaapi/collective"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi"
)

//go:embed symmetric.cu
var symmetricCUDA string

//go:embed symmetric.go.txt
var symmetricGo string

// symmetricMemory measures kernels that reach all ranks' memory: sums of float32, a
// halo exchange, and a norm fused with its collectives; queued, and captured in graphs of
// a hundred launches.
func symmetricMemory(world *mpi.Comm) error {
	d, _, err := ofRank(world.Rank())
	if err != nil {
		return err
	}
	if err := title(world, "kernels on symmetric memory"); err != nil {
		return err
	}
	b := &symmetricBench{world: world, d: d, launches: 100}
	if info, err := cuda.Backend(); err == nil && info.Name == "sim" {
		b.launches = 2 // they take long there
	}
	if b.s, err = d.NewStream(cuda.NonBlocking); err != nil {
		return err
	}
	if b.inCUDA, err = cuda.Compile(symmetricCUDA, cuda.SourceName("symmetric.cu")); err != nil {
		return err
	}
	if b.inGo, err = cuda.CompileGo(symmetricGo, cuda.SourceName("symmetric.go")); err != nil {
		return err
	}
	return errors.Join(b.sums(), b.halo(), b.norm())
}

type symmetricBench struct {
	world        *mpi.Comm
	d            *cuda.Device
	s            *cuda.Stream
	inCUDA, inGo *cuda.Module
	launches     int // in a graph
	graphs       []*cuda.GraphExec
}

// measure measures ways and drops their graphs: NCCL ends no communicator that one uses.
func (b *symmetricBench) measure(ways []way) ([]took, error) {
	all, err := measure(b.world, ways, b.loops())
	for _, x := range b.graphs {
		err = errors.Join(err, x.Destroy())
	}
	b.graphs = nil
	return all, err
}

// loops is how often something is done in a round: as often as whole graphs do it.
func (b *symmetricBench) loops() int { return max(b.launches, *calls/b.launches*b.launches) }

// queued are launches from the host, captured those of a graph.
func (b *symmetricBench) queued(name string, launch func() error) way {
	return way{name + ", queued", func(n int) error {
		for range n {
			if err := launch(); err != nil {
				return err
			}
		}
		return b.s.Synchronize()
	}, 1}
}

func (b *symmetricBench) captured(name string, launch func() error) (way, error) {
	if err := errors.Join(launch(), b.s.Synchronize()); err != nil { // loads it
		return way{}, err
	}
	g, err := b.s.Capture(func() error {
		for range b.launches {
			if err := launch(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return way{}, err
	}
	x, err := g.Instantiate()
	if err != nil {
		return way{}, err
	}
	b.graphs = append(b.graphs, x)
	return way{name + ", captured", func(n int) error {
		for range n / b.launches {
			if err := x.Launch(b.s); err != nil {
				return err
			}
		}
		return b.s.Synchronize()
	}, 1}, g.Destroy()
}

// both measures launches in both ways.
func (b *symmetricBench) both(ways []way, name string, launch func() error) ([]way, error) {
	w, err := b.captured(name, launch)
	return append(ways, b.queued(name, launch), w), err
}

func (b *symmetricBench) sums() error {
	const longest = 64 << 10 / 4
	size := b.world.Size()
	packs, err := b.world.Symmetric(b.d, 2*size*longest, cuda.Uint64)
	if err != nil {
		return err
	}
	floats, err := b.world.Symmetric(b.d, 2*size*longest, cuda.Float32)
	if err != nil {
		return err
	}
	group, err := b.world.Collectives()
	if err != nil {
		return err
	}
	ll, err1 := b.inCUDA.Kernel("reduce_ll")
	push, err2 := b.inCUDA.Kernel("reduce_push")
	llGo, err3 := b.inGo.Kernel("reduceLL")
	turns, err4 := b.d.Alloc(1024, cuda.Uint32)
	if err := errors.Join(err1, err2, err3, err4, turns.Memset(0)); err != nil {
		return err
	}
	turns2, err := b.d.Alloc(1024, cuda.Uint32)
	if err := errors.Join(err, turns2.Memset(0)); err != nil {
		return err
	}
	out := table{world: b.world, factor: 1}
	for _, bytes := range within([]int{4, 64, 1 << 10, 4 << 10, 16 << 10, 64 << 10}) {
		n := max(1, bytes/4)
		data, err := b.d.Alloc(n, cuda.Float32)
		if err != nil {
			return err
		}
		block := min(256, (n+31)/32*32)
		grid := cuda.Grid((n + block - 1) / block)
		var ways []way
		kernels := []struct {
			name   string
			launch func() error
		}{
			{"LL", func() error { return ll.Launch(grid, cuda.Block(block), b.s, packs, data, n, turns) }},
			{"LL in Go", func() error { return llGo.Launch(grid, cuda.Block(block), b.s, packs, data, turns) }},
			{"barrier", func() error { return push.Launch(grid, cuda.Block(block), b.s, floats, data, n, turns2) }},
			{"NCCL", func() error {
				return group.Allreduce([]*cuda.Buffer{data}, []*cuda.Stream{b.s}, collective.Using(collective.NCCL))
			}},
			{"one-shot", func() error {
				return group.Allreduce([]*cuda.Buffer{data}, []*cuda.Stream{b.s}, collective.Using(collective.OneShot))
			}},
		}
		for _, k := range kernels {
			if err := data.Fill(float32(1), nil); err != nil {
				return err
			}
			err := errors.Join(b.d.Synchronize(), k.launch(), b.s.Synchronize())
			if k.name == "NCCL" && err != nil {
				continue
			}
			got, err1 := data.Float32s()
			if err = errors.Join(err, err1); err == nil && (got[0] != float32(size) || got[n-1] != float32(size)) {
				err = fmt.Errorf("%d bytes by %s: %v and %v", bytes, k.name, got[0], got[n-1])
			}
			if err == nil && k.name == "one-shot" {
				ways = append(ways, b.queued(k.name, k.launch))
			} else if err == nil {
				ways, err = b.both(ways, k.name, k.launch)
			}
			if err != nil {
				return err
			}
		}
		if err := errors.Join(data.Memset(0), b.d.Synchronize()); err != nil { // sums of sums stay what they are
			return err
		}
		all, err := b.measure(ways)
		if err != nil {
			return err
		}
		out.row(bytes, ways, all)
	}
	return errors.Join(b.s.Synchronize(), group.Close())
}

// halo measures steps of Jacobi.
func (b *symmetricBench) halo() error {
	step, err1 := b.inCUDA.Kernel("halo_step")
	plain, err2 := b.inCUDA.Kernel("plain_step")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if b.world.Rank() == 0 {
		fmt.Println("\nA step of Jacobi with the neighbours' rows; bytes are those of a row")
	}
	out := table{world: b.world, factor: 1}
	me, size := b.world.Rank(), b.world.Size()
	for _, nx := range []int{1024, 4096} {
		const ny = 256
		w, err := b.world.Symmetric(b.d, 4*nx, cuda.Float32)
		if err != nil {
			return err
		}
		var bufs [4]*cuda.Buffer
		for i := range bufs {
			if bufs[i], err = b.d.Alloc(nx*[]int{ny, ny, 1, 1}[i], cuda.Float32); err != nil {
				return err
			}
			if err := bufs[i].Memset(0); err != nil {
				return err
			}
		}
		a, c, above, below := bufs[0], bufs[1], bufs[2], bufs[3]
		grid, block := cuda.Grid((nx+255)/256, ny), cuda.Block(256)
		turn := 0
		ways := []way{
			b.queued("puts from kernels", func() error {
				turn++
				x, y := a, c
				if turn%2 == 0 {
					x, y = c, a
				}
				return step.Launch(grid, block, b.s, w, x, y, nx, ny, turn)
			}),
			b.queued("SendrecvOn", func() error {
				if err := plain.Launch(grid, block, b.s, a, c, above, below, nx, ny); err != nil {
					return err
				}
				a, c = c, a
				for p := me - 1; p <= me+1; p += 2 {
					if p < 0 || p >= size {
						continue
					}
					row, in := a.Slice(0, nx), above
					if p > me {
						row, in = a.Slice((ny-1)*nx, ny*nx), below
					}
					if _, err := b.world.SendrecvOn(row, p, 0, in, p, 0, b.s); err != nil {
						return err
					}
				}
				return nil
			}),
			b.queued("kernel alone", func() error { return plain.Launch(grid, block, b.s, bufs[0], bufs[1], above, below, nx, ny) }),
		}
		all, err := b.measure(ways)
		if err != nil {
			return err
		}
		out.row(4*nx, ways, all)
		if err := w.Close(); err != nil {
			return err
		}
	}
	return nil
}

// norm measures a reduce-scatter, a norm of rows and an all-gather.
func (b *symmetricBench) norm() error {
	const n, each, block = 4096, 32, 256
	if b.world.Rank() == 0 {
		fmt.Printf("\nReduce-scatter, RMS norm, all-gather of %d rows of %d at each rank; bytes are those of a rank\n", each, n)
	}
	w, err := b.world.Symmetric(b.d, each*b.world.Size()*n, cuda.Float32)
	if err != nil {
		return err
	}
	rows, err := b.d.Alloc(each*n, cuda.Float32)
	if err := errors.Join(err, w.Local().Fill(float32(1), nil), b.d.Synchronize()); err != nil {
		return err
	}
	kernels := map[string]*cuda.Kernel{}
	for _, name := range []string{"fused_norm", "scatter_rows", "norm_rows", "gather_rows"} {
		if kernels[name], err = b.inCUDA.Kernel(name); err != nil {
			return err
		}
	}
	inGo, err := b.inGo.Kernel("fusedNorm")
	if err != nil {
		return err
	}
	grid, threads := cuda.Grid(each), cuda.Block(block)
	var ways []way
	for _, k := range []struct {
		name   string
		launch func() error
	}{
		{"fused", func() error { return kernels["fused_norm"].Launch(grid, threads, b.s, w, n) }},
		{"fused in Go", func() error { return inGo.Launch(grid, threads, b.s, w, n) }},
		{"three launches", func() error {
			return errors.Join(kernels["scatter_rows"].Launch(grid, threads, b.s, w, rows, n), kernels["norm_rows"].Launch(grid, threads, b.s, rows, n), kernels["gather_rows"].Launch(grid, threads, b.s, w, rows, n))
		}},
	} {
		if ways, err = b.both(ways, k.name, k.launch); err != nil {
			return err
		}
		got, err := w.Local().Float32s()
		if err == nil && (got[0] < 0.99 || got[0] > 1.01 || got[len(got)-1] < 0.99 || got[len(got)-1] > 1.01) {
			err = fmt.Errorf("%s: rows of equal numbers have %v and %v after their norm", k.name, got[0], got[len(got)-1])
		}
		if err := errors.Join(err, b.world.Barrier()); err != nil {
			return err
		}
	}
	all, err := b.measure(ways)
	if err != nil {
		return err
	}
	out := table{world: b.world, factor: 1}
	out.row(4*each*b.world.Size()*n, ways, all)
	return w.Close()
}
