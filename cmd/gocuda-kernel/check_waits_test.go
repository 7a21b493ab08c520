package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/hazard"
	"gocuda/cudaapi/sim"
	"gocuda/kernel/check"
	"gocuda/notebooks"
)

var allWaits = flag.Bool("waits", false, "take each wait out of each tutorial, not of one alone: half an hour")

// Each wait without which a tutorial has a hazard: where it is (a cell by its place in
// the notebook, a line), what stands in its place, and the lines of the two operations
// that the check names in its first run.
var waits = []struct {
	notebook      string
	cell, line    int
	text, instead string
	first, second string
}{
	{"01_streams", 7, 37, `must(errors.Join(err, dev.Synchronize()))`, `must(errors.Join(err, error(nil)))`,
		`held, copying = dev.DefaultStream(), func() error { return cuda.Memcpy(dst, src) }`, `held, copying := stream, func() error { return cuda.MemcpyAsync(dst, src, stream) }`},
	{"01_streams", 10, 8, `dev.Synchronize()`, "",
		`cuda.Axpy(1, warm, warm, stream)`, `warm.Free()`},
	{"01_streams", 16, 6, `must(dev.Synchronize())`, "",
		`must(b.Fill(value, nil))`, `addOne.Launch(grid, block, stream, x, elements)`},
	{"01_streams", 16, 29, `dev.Synchronize()`, "",
		`addOne.Launch(grid, block, stream, x, elements)`, `for i, v := range must(b.Int32s()) {`},
	{"01_streams", 18, 13, `must(dev.Synchronize())`, "",
		`must(onGPU.Memset(0xEE))`, `must(t.Do(lane, "copy in", s, func() error { return cuda.MemcpyAsync(x, in.Slice(from, to), s) }))`},
	{"01_streams", 23, 12, `must(ready.Record(stream))`, "",
		`must(scale.Launch(grid, block, stream, data, elements, 42))`, `must(cuda.MemcpyAsync(out, data, second))`},
	{"01_streams", 23, 14, `must(second.WaitEvent(ready))`, "",
		`must(scale.Launch(grid, block, stream, data, elements, 42))`, `must(cuda.MemcpyAsync(out, data, second))`},
	{"01_streams", 23, 19, `must(dev.Synchronize())`, "",
		`must(scale.Launch(grid, block, stream, data, elements, 42))`, `behind, right := consume(true)`},
	{"01_streams", 27, 11, `stream.Synchronize()`, "",
		`cuda.Axpy(1, temporary, sum, stream)`, `for i, v := range must(b.Int32s()) {`},
	{"02_several_gpus", 12, 37, `must(streams[k].Synchronize())`, "",
		`must(counts[k].MemsetAsync(0, streams[k]))`, `c := must(counts[k].Int32s())`},
	{"03_peer_access", 14, 15, `must(home.Synchronize()) // the counter is zero before any GPU adds to it`, "",
		`must(counter.Memset(0))`, `must(kernel.Launch(cuda.GridFor(n, block), cuda.Block(block), s, k, n, counter))`},
	{"03_peer_access", 16, 36, `must(devices[j].Synchronize())`, "",
		`must(target[j].Memset(0))`, `must(cuda.MemcpyPeerAsync(target[j].Slice(0, size), source[i].Slice(0, size), s))`},
	{"03_peer_access", 16, 44, `must(s.Synchronize())`, "",
		`must(cuda.MemcpyPeerAsync(target[j].Slice(0, size), source[i].Slice(0, size), s))`, `source[g].Free()`},
	{"04_inter_gpu_synchronization", 11, 29, `if err := s.src.WaitEvent(s.emptied[k]); err != nil {`, `if err := error(nil); err != nil {`,
		`empty := func() error { return cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst) }`, `fill := func() error { return cuda.MemcpyAsync(piece, src.Slice(off, off+n), s.src) }`},
	{"04_inter_gpu_synchronization", 11, 37, `if err := s.filled[k].Record(s.src); err != nil {`, `if err := error(nil); err != nil {`,
		`fill := func() error { return cuda.MemcpyAsync(piece, src.Slice(off, off+n), s.src) }`, `empty := func() error { return cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst) }`},
	{"04_inter_gpu_synchronization", 11, 43, `if err := s.dst.WaitEvent(s.filled[k]); err != nil {`, `if err := error(nil); err != nil {`,
		`fill := func() error { return cuda.MemcpyAsync(piece, src.Slice(off, off+n), s.src) }`, `empty := func() error { return cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst) }`},
	{"04_inter_gpu_synchronization", 11, 51, `if err := s.emptied[k].Record(s.dst); err != nil {`, `if err := error(nil); err != nil {`,
		`empty := func() error { return cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst) }`, `fill := func() error { return cuda.MemcpyAsync(piece, src.Slice(off, off+n), s.src) }`},
	{"04_inter_gpu_synchronization", 11, 59, `func (s *stager) wait() error { return errors.Join(s.src.Synchronize(), s.dst.Synchronize()) }`, `func (s *stager) wait() error { return errors.Join(s.src.Synchronize(), error(nil)) }`,
		`empty := func() error { return cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst) }`, `check(bytes.Equal(must(to.Uint8s()), want), "the copy of %d bytes is not the original", copyBytes)`},
	{"04_inter_gpu_synchronization", 13, 9, `func poisoned(b *cuda.Buffer) error { return errors.Join(b.Memset(poison), b.Device().Synchronize()) }`, `func poisoned(b *cuda.Buffer) error { return errors.Join(b.Memset(poison), error(nil)) }`,
		`func poisoned(b *cuda.Buffer) error { return errors.Join(b.Memset(poison), error(nil)) }`, `empty := func() error { return cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst) }`},
	{"04_inter_gpu_synchronization", 17, 8, `must(s.src.Synchronize())`, "",
		`must(s.drawn.Do("source", "A", s.src, func() error { return cuda.MemcpyAsync(piece, src.Slice(off, off+n), s.src) }))`, `must(s.drawn.Do("destination", "A", s.dst, func() error { return cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst) }))`},
	{"04_inter_gpu_synchronization", 17, 10, `must(s.dst.Synchronize())`, "",
		`must(s.drawn.Do("destination", "A", s.dst, func() error { return cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst) }))`, `must(s.drawn.Do("source", "A", s.src, func() error { return cuda.MemcpyAsync(piece, src.Slice(off, off+n), s.src) }))`},
	{"04_inter_gpu_synchronization", 21, 21, `must(done.Record(other))`, "",
		`empty := func() error { return cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst) }`, `check(bytes.Equal(must(to.Uint8s()), want), "staged copy with pieces of %d KiB is wrong", kib)`},
	{"04_inter_gpu_synchronization", 21, 22, `must(s.WaitEvent(done))`, "",
		`empty := func() error { return cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst) }`, `check(bytes.Equal(must(to.Uint8s()), want), "staged copy with pieces of %d KiB is wrong", kib)`},
	{"04_inter_gpu_synchronization", 21, 23, `must(end.Record(s))`, "",
		`fill := func() error { return cuda.MemcpyAsync(piece, src.Slice(off, off+n), s.src) }`, `from.Free()`},
	{"04_inter_gpu_synchronization", 21, 24, `must(end.Synchronize())`, "",
		`fill := func() error { return cuda.MemcpyAsync(piece, src.Slice(off, off+n), s.src) }`, `from.Free()`},
	{"05_mpi", 33, 14, `must(request.Wait())`, "",
		`request := must(world.Iallreduce(big, result, mpi.Sum))`, `check(!slices.ContainsFunc(result, func(v float64) bool { return v != want }), "a sum is not %v", want)`},
	{"06_cuda_aware_mpi", 12, 16, `must(stream.Synchronize()) // MPI knows nothing of streams: the work must be done before the message goes`, "",
		`must(counts.MemsetAsync(0, stream))`, `must(world.Reduce(counts, onHost, mpi.Sum, 0))`},
	{"06_cuda_aware_mpi", 21, 5, `must(stream.Synchronize())`, "",
		`must(ramp.Launch(cuda.Grid(32), cuda.Block(256), stream, mine, words, 1000+rank)) // every rank has numbers of its own`, `for i, v := range must(theirs.Int32s()) {`},
	{"06_cuda_aware_mpi", 21, 38, `must(world.Barrier()) // until rank 1 has read, rank 0's memory must stay as it is`, "",
		`for i, v := range must(theirs.Int32s()) {`, `must(mine.Fill(-1, nil))`},
	{"06_cuda_aware_mpi", 23, 23, `must(gpu.Synchronize())`, "",
		`must(mine.Fill(-1, nil))`, `must(ramp.Launch(cuda.Grid(32), cuda.Block(256), stream, mine, words, 1000*rank+round))`},
	{"06_cuda_aware_mpi", 23, 30, `must(stream.Synchronize()) // and here it is done`, "",
		`must(ramp.Launch(cuda.Grid(32), cuda.Block(256), stream, mine, words, 1000*rank+round))`, `_, err := world.Sendrecv(mine, right, 3, in, left, 3)`},
	{"06_cuda_aware_mpi", 26, 3, `must(gpu.Synchronize())`, "",
		`must(in.Fill(-2, nil))`, `must(world.RecvOn(in, left, 4, reader))`},
	{"06_cuda_aware_mpi", 26, 13, `must(reader.Synchronize()) // only to look at it`, "",
		`must(world.RecvOn(in, left, 4, reader))`, `for i, v := range must(in.Int32s()) {`},
	{"06_cuda_aware_mpi", 31, 9, `must(stream.Synchronize())`, "",
		`must(to.Fill(-1, stream))`, `must(world.Sendrecv(from, next, 6, to, last, 6))`},
	{"07_stream_aware_collectives", 9, 21, `return cuda.Synchronize()`, `return error(nil)`,
		`must(b.Fill(value, nil))`, `must(differ.Launch(cuda.Grid(64), cuda.Block(128), s, b, b.Len(), first, step, found))`},
	{"07_stream_aware_collectives", 11, 7, `must(s.Synchronize())`, "",
		`must(found.MemsetAsync(0, s))`, `counts := must(found.Int32s())`},
	{"07_stream_aware_collectives", 17, 5, `streams[0].Synchronize() // our part of the contract`, "",
		`bufs[0].Fill(0, streams[0])`, `collective.Broadcast(0, bufs, nil)`},
	{"07_stream_aware_collectives", 19, 25, `must(streams[0].Synchronize())`, "",
		`must(bufs[0].Fill(0, streams[0]))`, `must(collective.Broadcast(0, bufs, nil))`},
	{"07_stream_aware_collectives", 19, 33, `must(ready.Record(streams[last]))`, "",
		`must(collective.Broadcast(0, bufs, streams))`, `must(cuda.MemcpyAsync(seen, bufs[last], reader))`},
	{"07_stream_aware_collectives", 19, 34, `must(reader.WaitEvent(ready)) // the reader's stream waits, not the CPU`, "",
		`must(collective.Broadcast(0, bufs, streams))`, `must(cuda.MemcpyAsync(seen, bufs[last], reader))`},
	{"07_stream_aware_collectives", 25, 10, `must(done[i].Record(streams[i])) // all that member i did before this step`, "",
		`must(cuda.Combine(cuda.ReduceSum, mine, mine, taken, streams[i]))`, `must(cuda.MemcpyPeerAsync(mine, theirs, streams[i]))`},
	{"07_stream_aware_collectives", 25, 15, `must(streams[i].WaitEvent(done[left]))`, "",
		`must(cuda.Combine(cuda.ReduceSum, mine, mine, taken, streams[i]))`, `must(cuda.MemcpyPeerAsync(mine, theirs, streams[i]))`},
	{"07_stream_aware_collectives", 25, 31, `must(done[i].Record(streams[i]))`, "",
		`must(cuda.MemcpyPeerAsync(mine, theirs, streams[i]))`, `must(b.Fill(poison, streams[i])) // the next use`},
	{"07_stream_aware_collectives", 25, 35, `must(streams[i].WaitEvent(done[(i+1)%p])) // the right neighbour has read my last part`, "",
		`must(cuda.MemcpyPeerAsync(mine, theirs, streams[i]))`, `must(b.Fill(poison, streams[i])) // the next use`},
	{"07_stream_aware_collectives", 27, 43, `must(cuda.Synchronize())`, "",
		`must(cuda.MemcpyPeerAsync(mine, theirs, streams[i]))`, `must(b.Fill(value, nil))`},
	{"07_stream_aware_collectives", 41, 7, `must(gpu.Synchronize())`, "",
		`must(buffer.Fill(-7, nil))`, `must(buffer.Fill(0, stream))`},
	{"07_stream_aware_collectives", 41, 24, `must(stream.Synchronize())`, "",
		`must(buffer.Fill(0, stream))`, `for i, v := range must(b.Int32s()) {`},
	{"07_stream_aware_collectives", 41, 33, `must(stream.Synchronize())`, "",
		`must(group.Allreduce([]*cuda.Buffer{buffer}, []*cuda.Stream{stream}))`, `for i, v := range must(b.Int32s()) {`},
	{"08_signal_and_wait", 9, 34, `must(taker.Synchronize())`, "",
		`func consume() error { return cuda.MemcpyPeerAsync(taken, made, taker) }`, `v := must(taken.Float32s())`},
	{"08_signal_and_wait", 9, 51, `maker.Synchronize()`, "",
		`return errors.Join(spin.Launch(cuda.Grid(1), cuda.Block(1), maker, late), made.Fill(v, maker))`, `func consume() error { return cuda.MemcpyPeerAsync(taken, made, taker) }`},
	{"08_signal_and_wait", 9, 66, `sync.Wait()`, "",
		`return errors.Join(spin.Launch(cuda.Grid(1), cuda.Block(1), maker, late), made.Fill(v, maker))`, `func consume() error { return cuda.MemcpyPeerAsync(taken, made, taker) }`},
	{"08_signal_and_wait", 9, 70, `sync.Wait() // nothing is signalled yet`, "",
		`func consume() error { return cuda.MemcpyPeerAsync(taken, made, taker) }`, `return errors.Join(spin.Launch(cuda.Grid(1), cuda.Block(1), maker, late), made.Fill(v, maker))`},
	{"08_signal_and_wait", 16, 32, `must(must(c.Sync("reuse")).Wait()) // the blocks may still be in use`, "",
		`must(dots.Launch(cuda.Grid(rows), cuda.Block(128), taker, x, y, out, columns))`, `must(generate.Launch(cuda.Grid(64), cuda.Block(256), maker, x, y, rows*columns, columns, c.Tick()))`},
	{"08_signal_and_wait", 16, 59, `must(must(c.Sync("fence")).Wait())`, "",
		`must(generate.Launch(cuda.Grid(64), cuda.Block(256), maker, x, y, rows*columns, columns, c.Tick()))`, `must(dots.Launch(cuda.Grid(rows), cuda.Block(128), taker, x, y, out, columns))`},
	{"08_signal_and_wait", 16, 73, `must(taker.Synchronize())`, "",
		`must(dots.Launch(cuda.Grid(rows), cuda.Block(128), taker, x, y, out, columns))`, `return errors.Join(out.Free(), host.Free())`},
	{"08_signal_and_wait", 22, 7, `must(sync.Wait())`, "",
		`return errors.Join(spin.Launch(cuda.Grid(1), cuda.Block(1), maker, late), made.Fill(v, maker))`, `func consume() error { return cuda.MemcpyPeerAsync(taken, made, taker) }`},
	{"08_signal_and_wait", 24, 9, `must(reuse.Wait())`, "",
		`func consume() error { return cuda.MemcpyPeerAsync(taken, made, taker) }`, `must(picture.Do("producer", "produce", maker, func() error { return made.Fill(float32(6+round), maker) }))`},
	{"08_signal_and_wait", 24, 13, `must(sync.Wait())`, "",
		`must(picture.Do("producer", "produce", maker, func() error { return made.Fill(float32(6+round), maker) }))`, `func consume() error { return cuda.MemcpyPeerAsync(taken, made, taker) }`},
	{"08_signal_and_wait", 27, 6, `must(stream.Synchronize())`, "",
		`must(data.Fill(float32(-1), stream))`, `must(cuda.MemcpyAsync(data, theirs, stream)) // without a wait`},
	{"08_signal_and_wait", 27, 19, `must(fence.Signal())`, "",
		`must(cuda.MemcpyAsync(data, theirs, stream)) // with it`, `must(data.Fill(float32(7), stream))`},
	{"08_signal_and_wait", 27, 20, `must(world.Barrier()) // the signal is made ...`, "",
		`must(cuda.MemcpyAsync(data, theirs, stream)) // without a wait`, `must(data.Fill(float32(7), stream))`},
	{"08_signal_and_wait", 27, 21, `must(world.Barrier()) // ... and rank 1 has queued what it wants`, "",
		`must(cuda.MemcpyAsync(data, theirs, stream)) // without a wait`, `must(data.Fill(float32(7), stream))`},
	{"08_signal_and_wait", 27, 45, `must(stream.Synchronize())`, "",
		`must(cuda.MemcpyAsync(data, theirs, stream)) // without a wait`, `early = must(data.Float32s())[0]`},
	{"08_signal_and_wait", 27, 47, `must(fence.Wait())`, "",
		`must(cuda.MemcpyAsync(data, theirs, stream)) // with it`, `must(data.Fill(float32(7), stream))`},
	{"08_signal_and_wait", 27, 50, `must(stream.Synchronize())`, "",
		`must(cuda.MemcpyAsync(data, theirs, stream)) // with it`, `late = must(data.Float32s())[0]`},
	{"09_jacobi", 7, 13, `must(s.Synchronize())`, "",
		`must(result.MemsetAsync(0, s))`, `r := must(result.Uint64s())`},
	{"09_jacobi", 9, 21, `must(gpu.Synchronize())`, "",
		`must(product.Launch(grid(len(f), rows+2), cuda.Block(128), gpu.DefaultStream(), u, fs, len(f), rows, first, period))`, `p.now, p.next = onto(gpu, profile(width), rows, 1, period), onto(gpu, profile(width), rows, 1, period)`},
	{"09_jacobi", 9, 40, `must(s.Synchronize())`, "",
		`must(cuda.MemcpyAsync(row(p.next, width, 0), row(p.next, width, rows), s))`, `must(p.now.Free())`},
	{"09_jacobi", 19, 51, `must(s.done.Record(s.stream))`, "",
		`must(cuda.MemcpyPeerAsync(row(s.down.next, n, 0), row(s.next, n, s.rows), s.stream))`, `must(step.Launch(grid(n, s.rows), cuda.Block(128), s.stream, s.next, s.now, n, 1, s.rows+1))`},
	{"09_jacobi", 19, 56, `must(s.stream.Synchronize())`, "",
		`must(cuda.MemcpyPeerAsync(row(s.down.next, n, 0), row(s.next, n, s.rows), s.stream))`, `must(differ.Launch(cuda.Grid(64), cuda.Block(256), s, a, b, a.Len(), result))`},
	{"09_jacobi", 25, 28, `must(gpu.Synchronize())`, "",
		`must(product.Launch(grid(rows+2), cuda.Block(128), gpu.DefaultStream(), u, fs, n, rows, first, n))`, `p.now, p.next = plateau(p.rows, p.first), plateau(p.rows, p.first)`},
	{"09_jacobi", 29, 11, `must(p.edge.Synchronize()) // the rows are there: now they can go`, "",
		`return step.Launch(grid(to-from), cuda.Block(128), s, p.next, p.now, n, from, to)`, `must(p.comm.Sendrecv(row(p.next, 1), p.up, 0, row(p.next, p.rows+1), p.down, 0))`},
	{"09_jacobi", 29, 18, `must(p.edge.Synchronize())`, "",
		`must(sum.MemsetAsync(0, p.edge))`, `must(p.comm.Allreduce(sum, total, mpi.Sum))`},
	{"09_jacobi", 31, 7, `must(gpu.Synchronize())`, "",
		`must(cuda.Memcpy(whole, solo.now))`, `must(p.now.Free())`},
	{"09_jacobi", 31, 17, `must(gpu.Synchronize())`, "",
		`must(result.Memset(0))`, `must(differ.Launch(cuda.Grid(64), cuda.Block(256), p.edge, p.now, whole.Slice(from, from+p.now.Len()), p.now.Len(), result))`},
	{"09_jacobi", 31, 20, `must(p.edge.Synchronize())`, "",
		`must(differ.Launch(cuda.Grid(64), cuda.Block(256), p.edge, p.now, whole.Slice(from, from+p.now.Len()), p.now.Len(), result))`, `r := must(result.Uint64s())`},
	{"09_jacobi", 38, 11, `must(p.edge.WaitEvent(p.innerDone))`, "",
		`return step.Launch(grid(to-from), cuda.Block(128), s, p.next, p.now, n, from, to)`, `return step.Launch(grid(to-from), cuda.Block(128), s, p.next, p.now, n, from, to)`},
	{"09_jacobi", 38, 17, `must(p.innerDone.Record(p.inner))`, "",
		`return step.Launch(grid(to-from), cuda.Block(128), s, p.next, p.now, n, from, to)`, `return step.Launch(grid(to-from), cuda.Block(128), s, p.next, p.now, n, from, to)`},
	{"09_jacobi", 38, 19, `must(p.edge.Synchronize())`, "",
		`return step.Launch(grid(to-from), cuda.Block(128), s, p.next, p.now, n, from, to)`, `must(p.comm.Sendrecv(row(p.next, 1), p.up, 0, row(p.next, p.rows+1), p.down, 0))`},
	{"10_wave_equation", 21, 73, `must(p.stream.Synchronize()) // MPI knows nothing of streams`, "",
		`must(p.launch[p.steps%2].Launch())`, `must(p.comm.Sendrecv(u.Slice(h, 2*h), p.left, tag, u.Slice(h+p.own, h+p.own+h), p.right, tag))`},
	{"10_wave_equation", 21, 93, `must(p.stream.Synchronize())`, "",
		`must(p.launch[p.steps%2].Launch())`, `must(cuda.Memcpy(whole[i], u.Slice(1, intervals+2)))`},
	{"10_wave_equation", 23, 11, `must(gpu.Synchronize())`, "",
		`must(cuda.Memcpy(whole[i], u.Slice(1, intervals+2)))`, `must(p.u[0].Free())`},
	{"10_wave_equation", 23, 25, `must(p.stream.Synchronize())`, "",
		`must(result.MemsetAsync(0, p.stream))`, `r := must(result.Uint64s())`},
}

// Those that may go: what else promises the order.
var spare = []struct {
	notebook   string
	cell, line int
	text, why  string
}{
	{"01_streams", 25, 18, `must(dev.Synchronize())`,
		"no kernel of it touches memory"},
	{"02_several_gpus", 12, 32, `must(begin[k].Record(streams[k]))`,
		"it takes a time"},
	{"02_several_gpus", 12, 34, `must(end[k].Record(streams[k]))`,
		"it takes a time"},
	{"02_several_gpus", 15, 15, `must(s.Synchronize())`,
		"the default stream: cuMemcpy, by which the counts are read, is of the same stream (CUDA Driver API, API synchronization behavior)"},
	{"03_peer_access", 14, 29, `must(begin[k].Record(s))`,
		"it takes a time"},
	{"03_peer_access", 14, 31, `must(end[k].Record(s))`,
		"it takes a time"},
	{"03_peer_access", 16, 39, `must(begin.Record(s))`,
		"it takes a time"},
	{"03_peer_access", 16, 43, `must(end.Record(s))`,
		"it takes a time"},
	{"04_inter_gpu_synchronization", 9, 10, `work.Synchronize()`,
		"no kernel of it touches memory"},
	{"06_cuda_aware_mpi", 28, 52, `must(gpu.Synchronize())`,
		"a message comes after the default stream's work (package mpi, Memory of devices)"},
	{"09_jacobi", 7, 24, `must(s.Synchronize())`,
		"the default stream: cuMemcpy, by which the sum is read, is of the same stream"},
	{"09_jacobi", 19, 66, `must(s.gpu.Synchronize())`,
		"cuMemcpyPeer comes after all work of both contexts and before all that follows (CUDA Driver API, cuMemcpyPeer)"},
	{"09_jacobi", 38, 23, `must(p.inner.Synchronize())`,
		"compare waits for the whole GPU"},
	{"09_jacobi", 42, 26, `must(comm.Barrier())`,
		"it takes a time"},
	{"09_jacobi", 42, 33, `must(comm.Barrier())`,
		"it takes a time"},
	{"09_jacobi", 42, 48, `must(world.Barrier())`,
		"it takes a time"},
	{"09_jacobi", 45, 7, `must(world.Barrier())`,
		"it takes a time"},
	{"10_wave_equation", 21, 58, `must(p.stream.Synchronize())`,
		"all that follows is of the same stream, or behind another wait"},
	{"10_wave_equation", 27, 12, `must(world.Barrier())`,
		"it takes a time"},
	{"10_wave_equation", 27, 15, `must(world.Barrier())`,
		"it takes a time"},
}

// without runs a tutorial that lacks a line, and gives what is reported.
func without(t *testing.T, name string, cell, line int, text, instead string) (list hazard.List) {
	t.Helper()
	data, err := notebooks.FS.ReadFile(name + ".ipynb")
	if err != nil {
		t.Fatal(err)
	}
	var nb map[string]any
	if err := json.Unmarshal(data, &nb); err != nil {
		t.Fatal(err)
	}
	source := nb["cells"].([]any)[cell].(map[string]any)["source"].([]any)
	if got := strings.TrimSpace(source[line-1].(string)); got != text {
		t.Fatalf("the line is %q, not %q", got, text)
	}
	source[line-1] = instead + "\n"
	if data, err = json.Marshal(nb); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	in, out := filepath.Join(folder, "in.ipynb"), filepath.Join(folder, "out.ipynb")
	if err := os.WriteFile(in, data, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := gocudaKernel(t, "run", "-q", "--check", "--allow-errors", "-o", out, in)
	cmd.Env = append(cmd.Env, "GOCUDA_SIM_DEVICES=2")
	_, said, errs := run(t, cmd)
	if data, err = os.ReadFile(out); err != nil {
		t.Fatal(err, said, errs)
	}
	var ran struct {
		Cells []struct {
			Outputs []struct {
				Data map[string]json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(data, &ran); err != nil {
		t.Fatal(err)
	}
	for _, c := range ran.Cells {
		for _, o := range c.Outputs {
			var found hazard.List
			if text := o.Data[check.MIME]; text != nil {
				if err := json.Unmarshal(text, &found); err != nil {
					t.Fatal(err)
				}
			}
			list = append(list, found...)
		}
	}
	return list
}

func TestRemovedWaits(t *testing.T) {
	if _, err := sim.Compiler(); err != nil {
		t.Skip(err)
	}
	for i, w := range waits {
		if !*allWaits && !(w.notebook == "04_inter_gpu_synchronization" && w.cell == 11 && i%2 == 0) {
			continue
		}
		t.Run(fmt.Sprintf("%s/%d/%d", w.notebook, w.cell, w.line), func(t *testing.T) {
			list := without(t, w.notebook, w.cell, w.line, w.text, w.instead)
			if !slices.ContainsFunc(list, func(r hazard.Report) bool {
				return pair(r.First.Source, r.Second.Source) == pair(w.first, w.second)
			}) {
				t.Errorf("no report of %q and %q, but:\n%v", w.first, w.second, list)
			}
		})
	}
	for _, w := range spare {
		if !*allWaits {
			break
		}
		t.Run(fmt.Sprintf("%s/%d/%d", w.notebook, w.cell, w.line), func(t *testing.T) {
			if list := without(t, w.notebook, w.cell, w.line, w.text, ""); len(list) > 0 {
				t.Errorf("%s, but:\n%v", w.why, list)
			}
		})
	}
}
