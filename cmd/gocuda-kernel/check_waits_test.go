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
	"time"

	"gocuda/cudaapi/hazard"
	"gocuda/cudaapi/sim"
	"gocuda/kernel/check"
	"gocuda/notebooks"
)

var allWaits = flag.Bool("waits", false, "take each wait out of each tutorial, not of one alone: half an hour of a processor, by as many as -parallel says")

// Each wait without which a tutorial has a hazard: its line and which of the equal lines
// it is, what stands in its place, and the lines of two operations that the check names
// in its first run.
var waits = []struct {
	notebook, text         string
	nth                    int // of the lines of this text
	instead, first, second string
}{
	{"04_inter_gpu_synchronization", `func poisoned() { must(errors.Join(to.Memset(poison), dstDev.Synchronize())) }`, 1, `func poisoned() { must(to.Memset(poison)) }`,
		`func poisoned() { must(to.Memset(poison)) }`, `must(cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst))`},
	{"04_inter_gpu_synchronization", `must(s.src.WaitEvent(s.emptied[k]))`, 1, "",
		`must(cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst))`, `must(cuda.MemcpyAsync(piece, src.Slice(off, off+n), s.src))`},
	{"04_inter_gpu_synchronization", `must(s.filled[k].Record(s.src))`, 1, "",
		`must(cuda.MemcpyAsync(piece, src.Slice(off, off+n), s.src))`, `must(cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst))`},
	{"04_inter_gpu_synchronization", `must(s.dst.WaitEvent(s.filled[k]))`, 1, "",
		`must(cuda.MemcpyAsync(piece, src.Slice(off, off+n), s.src))`, `must(cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst))`},
	{"04_inter_gpu_synchronization", `must(s.emptied[k].Record(s.dst))`, 1, "",
		`must(cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst))`, `must(cuda.MemcpyAsync(piece, src.Slice(off, off+n), s.src))`},
	{"04_inter_gpu_synchronization", `func (s *stager) wait() { must(errors.Join(s.src.Synchronize(), s.dst.Synchronize())) }`, 1, `func (s *stager) wait() { must(s.src.Synchronize()) }`,
		`must(cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst))`, `check(bytes.Equal(must(to.Uint8s()), want), "the copy of %d bytes is wrong", copyBytes)`},
	{"04_inter_gpu_synchronization", `s.wait()`, 1, "",
		`must(cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst))`, `check(bytes.Equal(must(to.Uint8s()), want), "the copy of %d bytes is wrong", copyBytes)`},
	{"04_inter_gpu_synchronization", `copier.wait()`, 1, "",
		`must(cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst))`, `check(bytes.Equal(must(to.Uint8s())[:part], want[:part]), "the held copy is wrong")`},
	{"04_inter_gpu_synchronization", `must(s.src.Synchronize())`, 1, "",
		`must(cuda.MemcpyAsync(piece, src.Slice(off, off+n), s.src))`, `must(cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst))`},
	{"04_inter_gpu_synchronization", `must(s.dst.Synchronize())`, 1, "",
		`must(cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst))`, `must(cuda.MemcpyAsync(piece, src.Slice(off, off+n), s.src))`},
	{"04_inter_gpu_synchronization", `must(done.Record(other))`, 1, "",
		`must(cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst))`, `check(bytes.Equal(must(to.Uint8s()), want), "%s: the copy is wrong", way)`},
	{"04_inter_gpu_synchronization", `return s.WaitEvent(done)`, 1, `return nil`,
		`must(cuda.MemcpyAsync(dst.Slice(off, off+n), piece, s.dst))`, `check(bytes.Equal(must(to.Uint8s()), want), "%s: the copy is wrong", way)`},
	{"04_inter_gpu_synchronization", `must(s.src.WaitEvent(s.emptied[k]))`, 2, "",
		`must(cuda.MemcpyAsync(to.Slice(off, off+n), piece, s.dst))`, `must(cuda.MemcpyAsync(piece, from.Slice(off, off+n), s.src))`},
	{"02_several_gpus", `must(j.stream.Synchronize())`, 1, "",
		`must(j.counts.MemsetAsync(0, j.stream))`, `c := must(j.counts.Int32s())`},
	{"03_peer_access", `must(s.Synchronize())`, 1, "",
		`must(kernel.Launch(cuda.GridFor(n, block), cuda.Block(block), s, k, n, counter))`, `defer counter.Free()`},
	{"03_peer_access", `must(home.Synchronize()) // the counter is zero before any GPU adds to it`, 1, "",
		`must(counter.Memset(0))`, `must(kernel.Launch(cuda.GridFor(n, block), cuda.Block(block), s, k, n, counter))`},
	{"03_peer_access", `must(devices[j].Synchronize())`, 1, "",
		`must(target[j].Memset(0xA5)) // something else`, `must(cuda.MemcpyPeerAsync(target[j].Slice(0, size),`},
	{"10_wave_equation", `must(p.stream.Synchronize()) // MPI knows nothing of streams`, 1, "",
		`must(p.launch[p.steps%2].Launch())`, `must(p.comm.Sendrecv(first, p.left, tag, u.Slice(end, end+h), p.right, tag))`},
	{"10_wave_equation", `must(p.stream.Synchronize())`, 2, "",
		`must(p.launch[k%2].Launch())`, `must(cuda.Memcpy(whole[i], u.Slice(1, intervals+2)))`},
	{"10_wave_equation", `must(p.stream.Synchronize())`, 5, "",
		`must(p.launch[p.steps%2].Launch())`, `mine := must(p.u[p.steps%2].Slice(p.halo+i, p.halo+j).Float64s())`},
	{"10_wave_equation", `must(gpu.Synchronize())`, 1, "",
		`must(cuda.Memcpy(whole[i], u.Slice(1, intervals+2)))`, `must(errors.Join(p.u[0].Free(), p.u[1].Free(), p.stream.Destroy()))`},
	{"10_wave_equation", `must(p.stream.Synchronize())`, 3, "",
		`must(result.MemsetAsync(0, p.stream))`, `r := must(result.Uint64s())`},
	{"01_streams", `must(errors.Join(<-done, dev.Synchronize()))`, 1, `must(<-done)`,
		`copying := func() error { return cuda.Memcpy(d, s) }`, `copying = func() error { return cuda.MemcpyAsync(d, s, stream) }`},
	{"01_streams", `dev.Synchronize()`, 1, "",
		`cuda.Axpy(1, warm, warm, stream)`, `warm.Free()`},
	{"01_streams", `must(dev.Synchronize())`, 1, "",
		`must(b.Fill(value, nil))`, `addOne.Launch(grid, block, stream, warm, elements)`},
	{"01_streams", `dev.Synchronize()`, 2, "",
		`addOne.Launch(grid, block, stream, x, elements)`, `for i, v := range must(b.Int32s()) {`},
	{"01_streams", `must(dev.Synchronize())`, 2, "",
		`must(onGPU.Memset(0xEE))`, `must(cuda.MemcpyAsync(onGPU, in, s))`},
	{"01_streams", `must(ready.Record(stream))`, 1, "",
		`must(scale.Launch(grid, block, stream, data, elements, 42))`, `must(cuda.MemcpyAsync(out, data, second))`},
	{"01_streams", `must(second.WaitEvent(ready))`, 1, "",
		`must(scale.Launch(grid, block, stream, data, elements, 42))`, `must(cuda.MemcpyAsync(out, data, second))`},
	{"01_streams", `must(dev.Synchronize())`, 3, "",
		`must(scale.Launch(grid, block, stream, data, elements, 42))`, `defer data.Free()`},
	{"01_streams", `stream.Synchronize()`, 1, "",
		`cuda.Axpy(1, temporary, sum, stream)`, `for i, v := range must(b.Int32s()) {`},
	{"06_cuda_aware_mpi", `must(stream.Synchronize()) // MPI knows nothing of streams: the work must be done first`, 1, "",
		`must(counts.MemsetAsync(0, stream))`, `must(world.Reduce(counts, onHost, mpi.Sum, 0))`},
	{"06_cuda_aware_mpi", `must(stream.Synchronize())`, 1, "",
		`must(ramp.Launch(cuda.Grid(32), cuda.Block(256), stream, mine, words, 1000+rank))`, `for i, v := range must(theirs.Int32s()) {`},
	{"06_cuda_aware_mpi", `must(world.Barrier()) // until rank 1 has read, rank 0's memory must stay as it is`, 1, "",
		`for i, v := range must(theirs.Int32s()) {`, `must(mine.Fill(-1, nil))`},
	{"06_cuda_aware_mpi", `must(gpu.Synchronize())`, 3, "",
		`must(mine.Fill(-1, nil))`, `must(ramp.Launch(cuda.Grid(32), cuda.Block(256), stream, mine, words, first))`},
	{"06_cuda_aware_mpi", `must(stream.Synchronize()) // and here it is done`, 1, "",
		`must(ramp.Launch(cuda.Grid(32), cuda.Block(256), stream, mine, words, first))`, `_, err := world.Sendrecv(mine, right, 3, in, left, 3)`},
	{"06_cuda_aware_mpi", `must(gpu.Synchronize())`, 4, "",
		`must(in.Fill(-2, nil))`, `must(world.RecvOn(in, left, 4, reader))`},
	{"06_cuda_aware_mpi", `must(reader.Synchronize()) // only to look at it`, 1, "",
		`must(world.RecvOn(in, left, 4, reader))`, `for i, v := range must(in.Int32s()) {`},
	{"06_cuda_aware_mpi", `must(stream.Synchronize())`, 2, "",
		`must(to.Fill(-1, stream))`, `must(world.Sendrecv(from, next, 6, to, last, 6))`},
	{"08_signal_and_wait", `must(taker.Synchronize())`, 1, "",
		`func consume() { must(cuda.MemcpyPeerAsync(taken, made, taker)) }`, `v := must(taken.Float32s())`},
	{"08_signal_and_wait", `maker.Synchronize()`, 1, "",
		`must(made.Fill(v, maker))`, `func consume() { must(cuda.MemcpyPeerAsync(taken, made, taker)) }`},
	{"08_signal_and_wait", `sync.Wait()`, 1, "",
		`must(made.Fill(v, maker))`, `func consume() { must(cuda.MemcpyPeerAsync(taken, made, taker)) }`},
	{"08_signal_and_wait", `sync.Wait() // nothing is signalled yet`, 1, "",
		`func consume() { must(cuda.MemcpyPeerAsync(taken, made, taker)) }`, `must(made.Fill(v, maker))`},
	{"08_signal_and_wait", `must(back.Wait()) // the blocks may still be in use`, 1, "",
		`must(dots.Launch(cuda.Grid(rows), cuda.Block(128), taker, x, y, out, columns))`, `must(generate.Launch(grid, block, maker, x, y, rows*columns, columns, c.Tick()))`},
	{"08_signal_and_wait", `must(fence.Wait()) // waitSemaphore`, 1, "",
		`must(generate.Launch(grid, block, maker, x, y, rows*columns, columns, c.Tick()))`, `must(dots.Launch(cuda.Grid(rows), cuda.Block(128), taker, x, y, out, columns))`},
	{"08_signal_and_wait", `must(taker.Synchronize())`, 3, "",
		`must(cuda.MemcpyAsync(host.Slice(from, to), out, taker))`, `results = append(results, slices.Clone(row))`},
	{"08_signal_and_wait", `sync.Wait()`, 2, "",
		`must(made.Fill(v, maker))`, `func consume() { must(cuda.MemcpyPeerAsync(taken, made, taker)) }`},
	{"08_signal_and_wait", `must(back.Wait())`, 1, "",
		`func consume() { must(cuda.MemcpyPeerAsync(taken, made, taker)) }`, `must(made.Fill(float32(6+round), maker))`},
	{"08_signal_and_wait", `must(sync.Wait())`, 1, "",
		`must(made.Fill(float32(6+round), maker))`, `func consume() { must(cuda.MemcpyPeerAsync(taken, made, taker)) }`},
	{"08_signal_and_wait", `must(stream.Synchronize())`, 3, "",
		`must(data.Fill(float32(7), stream))`, `must(cuda.MemcpyAsync(data, theirs, stream)) // without a wait`},
	{"08_signal_and_wait", `must(world.Barrier()) // the signal is made ...`, 1, "",
		`must(cuda.MemcpyAsync(data, theirs, stream)) // without a wait`, `must(data.Fill(float32(7), stream))`},
	{"08_signal_and_wait", `must(world.Barrier()) // ... and rank 1 has queued what it wants`, 1, "",
		`must(cuda.MemcpyAsync(data, theirs, stream)) // without a wait`, `must(data.Fill(float32(7), stream))`},
	{"08_signal_and_wait", `must(stream.Synchronize())`, 5, "",
		`must(cuda.MemcpyAsync(data, theirs, stream)) // without a wait`, `early = must(data.Float32s())[0]`},
	{"08_signal_and_wait", `must(fence.Wait())`, 1, "",
		`must(cuda.MemcpyAsync(data, theirs, stream)) // with it`, `must(data.Fill(float32(7), stream))`},
	{"08_signal_and_wait", `must(stream.Synchronize())`, 6, "",
		`must(cuda.MemcpyAsync(data, theirs, stream)) // with it`, `late = must(data.Float32s())[0]`},
	{"07_stream_aware_collectives", `must(cuda.Synchronize())`, 1, "",
		`must(b.Fill(value, nil))`, `must(differ.Launch(grid, block, s, b, b.Len(), first, step, found))`},
	{"07_stream_aware_collectives", `must(s.Synchronize())`, 1, "",
		`must(found.MemsetAsync(0, s))`, `counts := must(found.Int32s())`},
	{"07_stream_aware_collectives", `must(cuda.Synchronize())`, 2, "",
		`returned <- collective.Allreduce(bufs, streams, collective.Using(collective.Ring))`, `collective.Broadcast(0, bufs, nil)`},
	{"07_stream_aware_collectives", `streams[0].Synchronize() // your part of the contract`, 1, "",
		`bufs[0].Fill(0, streams[0])`, `collective.Broadcast(0, bufs, nil)`},
	{"07_stream_aware_collectives", `streams[0].Synchronize()`, 1, "",
		`bufs[0].Fill(0, streams[0])`, `must(collective.Broadcast(0, bufs, nil))`},
	{"07_stream_aware_collectives", `ready.Record(streams[last])`, 1, "",
		`must(collective.Broadcast(0, bufs, streams))`, `cuda.MemcpyAsync(seen, bufs[last], reader)`},
	{"07_stream_aware_collectives", `reader.WaitEvent(ready) // the reader's stream waits, not the CPU`, 1, "",
		`must(collective.Broadcast(0, bufs, streams))`, `cuda.MemcpyAsync(seen, bufs[last], reader)`},
	{"07_stream_aware_collectives", `must(done[i].Record(streams[i])) // all that member i did before this step`, 1, "",
		`must(cuda.Combine(cuda.ReduceSum, mine, mine, taken, streams[i]))`, `must(cuda.MemcpyPeerAsync(mine, theirs, streams[i]))`},
	{"07_stream_aware_collectives", `must(streams[i].WaitEvent(done[left]))`, 1, "",
		`must(cuda.Combine(cuda.ReduceSum, mine, mine, taken, streams[i]))`, `must(cuda.MemcpyPeerAsync(mine, theirs, streams[i]))`},
	{"07_stream_aware_collectives", `must(done[i].Record(streams[i]))`, 1, "",
		`must(cuda.MemcpyPeerAsync(mine, theirs, streams[i]))`, `must(b.Fill(poison, streams[i])) // the next use`},
	{"07_stream_aware_collectives", `must(streams[i].WaitEvent(done[right]))`, 1, "",
		`must(cuda.MemcpyPeerAsync(mine, theirs, streams[i]))`, `must(b.Fill(poison, streams[i])) // the next use`},
	{"07_stream_aware_collectives", `must(cuda.Synchronize())`, 4, "",
		`must(cuda.MemcpyPeerAsync(mine, theirs, streams[i]))`, `must(b.Fill(value, nil))`},
	{"07_stream_aware_collectives", `s.Synchronize()`, 2, "",
		`must(cuda.MemcpyPeerAsync(mine, theirs, streams[i]))`, `must(b.Fill(value, nil))`},
	{"07_stream_aware_collectives", `must(gpu.Synchronize())`, 1, "",
		`must(buffer.Fill(-7, nil))`, `must(buffer.Fill(0, stream))`},
	{"07_stream_aware_collectives", `must(stream.Synchronize())`, 1, "",
		`must(buffer.Fill(0, stream))`, `for i, v := range must(b.Int32s()) {`},
	{"07_stream_aware_collectives", `must(stream.Synchronize())`, 2, "",
		`must(buffer.Iota(rank, size, stream))`, `for i, v := range must(b.Int32s()) {`},
	{"05_mpi", `must(request.Wait())`, 1, "",
		`request := must(world.Iallreduce(big, result, mpi.Sum))`, `for _, v := range result {`},
	{"09_jacobi", `must(s.Synchronize())`, 1, "",
		`must(result.MemsetAsync(0, s))`, `r := must(result.Uint64s())`},
	{"09_jacobi", `must(gpu.Synchronize())`, 1, "",
		`must(product.Launch(grid(len(f), rows+2), cuda.Block(128), gpu.DefaultStream(),`, `defer fs.Free()`},
	{"09_jacobi", `must(s.Synchronize())`, 3, "",
		`must(cuda.MemcpyAsync(row(p.next, width, 0), row(p.next, width, rows), s))`, `func (p *plate) free() { must(errors.Join(p.now.Free(), p.next.Free())) }`},
	{"09_jacobi", `must(s.done.Record(s.stream))`, 1, "",
		`must(cuda.MemcpyPeerAsync(below, row(s.next, n, s.rows), s.stream))`, `must(step.Launch(grid(n, s.rows), block, s.stream, s.next, s.now, n, 1, s.rows+1))`},
	{"09_jacobi", `must(s.stream.Synchronize())`, 1, "",
		`must(cuda.MemcpyPeerAsync(below, row(s.next, n, s.rows), s.stream))`, `must(differ.Launch(cuda.Grid(64), cuda.Block(256), s, a, b, a.Len(), result))`},
	{"09_jacobi", `must(gpu.Synchronize())`, 2, "",
		`must(product.Launch(grid(rows+2), cuda.Block(128), gpu.DefaultStream(),`, `defer fs.Free()`},
	{"09_jacobi", `must(p.edge.Synchronize())`, 1, "",
		`must(sum.MemsetAsync(0, p.edge))`, `must(p.comm.Allreduce(sum, total, mpi.Sum))`},
	{"09_jacobi", `must(p.edge.Synchronize()) // the rows are there: now they can go`, 1, "",
		`must(step.Launch(rows, cuda.Block(128), s, p.next, p.now, n, from, to))`, `must(p.comm.Sendrecv(first, p.up, 0, row(p.next, p.rows+1), p.down, 0))`},
	{"09_jacobi", `must(gpu.Synchronize())`, 4, "",
		`must(cuda.Memcpy(whole, solo.now))`, `must(errors.Join(p.now.Free(), p.next.Free()))`},
	{"09_jacobi", `must(gpu.Synchronize())`, 5, "",
		`must(result.Memset(0))`, `must(differ.Launch(cuda.Grid(64), block, p.edge, p.now, right, right.Len(), result))`},
	{"09_jacobi", `must(p.edge.Synchronize())`, 2, "",
		`must(differ.Launch(cuda.Grid(64), block, p.edge, p.now, right, right.Len(), result))`, `r := must(result.Uint64s())`},
	{"09_jacobi", `must(p.edge.WaitEvent(p.innerDone))`, 1, "",
		`must(step.Launch(rows, cuda.Block(128), s, p.next, p.now, n, from, to))`, `must(step.Launch(rows, cuda.Block(128), s, p.next, p.now, n, from, to))`},
	{"09_jacobi", `must(p.innerDone.Record(p.inner))`, 1, "",
		`must(step.Launch(rows, cuda.Block(128), s, p.next, p.now, n, from, to))`, `must(step.Launch(rows, cuda.Block(128), s, p.next, p.now, n, from, to))`},
	{"09_jacobi", `must(p.edge.Synchronize())`, 3, "",
		`must(step.Launch(rows, cuda.Block(128), s, p.next, p.now, n, from, to))`, `must(p.comm.Sendrecv(first, p.up, 0, row(p.next, p.rows+1), p.down, 0))`},
	{"09_jacobi", `must(p.inner.Synchronize())`, 1, "",
		`must(step.Launch(rows, cuda.Block(128), s, p.next, p.now, n, from, to))`, `must(errors.Join(p.now.Free(), p.next.Free()))`},
}

// Those that may go: what else promises the order.
var spare = []struct {
	notebook, text string
	nth            int
	why            string
}{
	{"04_inter_gpu_synchronization", `work.Synchronize()`, 1,
		"the stream is a blocking one: the copy by which the bytes are read is of the default stream, which waits for it"},
	{"10_wave_equation", `must(p.stream.Synchronize())`, 1,
		"all that follows is of the same stream, or behind another wait"},
	{"10_wave_equation", `must(world.Barrier())`, 1,
		"it takes a time"},
	{"10_wave_equation", `must(world.Barrier())`, 2,
		"it takes a time"},
	{"09_jacobi", `must(s.Synchronize())`, 2,
		"the default stream: cuMemcpy, by which the sum is read, is of the same stream"},
	{"09_jacobi", `must(s.gpu.Synchronize())`, 1,
		"cuMemcpyPeer comes after all work of both contexts and before all that follows (CUDA Driver API, cuMemcpyPeer)"},
	{"09_jacobi", `must(comm.Barrier())`, 1,
		"it takes a time"},
	{"09_jacobi", `must(comm.Barrier())`, 2,
		"it takes a time"},
	{"09_jacobi", `must(world.Barrier())`, 1,
		"it takes a time"},
	{"09_jacobi", `must(world.Barrier())`, 2,
		"it takes a time"},
	{"09_jacobi", `must(world.Barrier())`, 3,
		"it takes a time"},
	{"09_jacobi", `must(world.Barrier())`, 4,
		"it takes a time"},
}

// oneTutorial is how long the longest takes with the check, with much to spare.
const oneTutorial = time.Minute

// lacking is a tutorial's file with another line in the place of one.
func lacking(t *testing.T, name, text string, nth int, instead string) []byte {
	t.Helper()
	data, err := notebooks.FS.ReadFile(name + ".ipynb")
	if err != nil {
		t.Fatal(err)
	}
	var nb map[string]any
	if err := json.Unmarshal(data, &nb); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, c := range nb["cells"].([]any) {
		c := c.(map[string]any)
		if c["cell_type"] != "code" {
			continue
		}
		source := c["source"].([]any)
		for i, line := range source {
			if strings.TrimSpace(line.(string)) != text {
				continue
			}
			if seen++; seen == nth {
				source[i] = instead + "\n"
			}
		}
	}
	if seen < nth {
		t.Fatalf("%s has %d lines %q, not %d: the table is older than the notebook", name, seen, text, nth)
	}
	if data, err = json.Marshal(nb); err != nil {
		t.Fatal(err)
	}
	return data
}

// Lines of a capture without which CUDA itself refuses it: the second stream is no part
// of the capture, so the first cannot wait for it.
var refused = []struct {
	notebook, text string
	nth            int
	err            string
}{
	{"04_inter_gpu_synchronization", `must(s.filled[k].Record(s.src))`, 2, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
	{"04_inter_gpu_synchronization", `must(s.dst.WaitEvent(s.filled[k]))`, 2, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
}

// The tables are not older than the notebooks.
func TestWaitsAreThere(t *testing.T) {
	for _, w := range waits {
		t.Run(fmt.Sprintf("%s/%s/%d", w.notebook, w.text, w.nth), func(t *testing.T) { lacking(t, w.notebook, w.text, w.nth, w.instead) })
	}
	for _, w := range spare {
		t.Run(fmt.Sprintf("%s/%s/%d", w.notebook, w.text, w.nth), func(t *testing.T) { lacking(t, w.notebook, w.text, w.nth, "") })
	}
	for _, w := range refused {
		t.Run(fmt.Sprintf("%s/%s/%d", w.notebook, w.text, w.nth), func(t *testing.T) { lacking(t, w.notebook, w.text, w.nth, "") })
	}
}

// without runs a tutorial that lacks a line, and gives what is reported outside of cells
// that ask for a check of their own: those have hazards on purpose. failed are the names of
// the errors of all cells.
func without(t *testing.T, name, text string, nth int, instead string) (list hazard.List, failed []string) {
	t.Helper()
	if end, ok := t.Deadline(); ok && time.Until(end) < oneTutorial {
		t.Skip("no time is left")
	}
	data := lacking(t, name, text, nth, instead)
	folder := t.TempDir()
	in, out := filepath.Join(folder, "in.ipynb"), filepath.Join(folder, "out.ipynb")
	if err := os.WriteFile(in, data, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := gocudaKernel(t, "run", "-q", "--check", "--allow-errors", "-o", out, in)
	cmd.Env = append(cmd.Env, "GOCUDA_SIM_DEVICES=2")
	_, said, errs := run(t, cmd)
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err, said, errs)
	}
	var ran struct {
		Cells []struct {
			Source  []string
			Outputs []struct {
				Ename    string
				Metadata map[string]json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(data, &ran); err != nil {
		t.Fatal(err)
	}
	for _, c := range ran.Cells {
		for _, o := range c.Outputs {
			if o.Ename != "" {
				failed = append(failed, o.Ename)
			}
		}
		if len(c.Source) > 0 && strings.HasPrefix(c.Source[0], "%%check") {
			continue
		}
		for _, o := range c.Outputs {
			var found hazard.List
			if text := o.Metadata[check.Metadata]; text != nil {
				if err := json.Unmarshal(text, &found); err != nil {
					t.Fatal(err)
				}
			}
			list = append(list, found...)
		}
	}
	return list, failed
}

func TestRemovedWaits(t *testing.T) {
	if _, err := sim.Compiler(); err != nil {
		t.Skip(err)
	}
	for _, w := range waits {
		if !*allWaits && !(w.notebook == "04_inter_gpu_synchronization" && w.nth == 1 && strings.HasPrefix(w.text, "must(s.dst.")) {
			continue
		}
		t.Run(fmt.Sprintf("%s/%s/%d", w.notebook, w.text, w.nth), func(t *testing.T) {
			t.Parallel()
			list, _ := without(t, w.notebook, w.text, w.nth, w.instead)
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
		t.Run(fmt.Sprintf("%s/%s/%d", w.notebook, w.text, w.nth), func(t *testing.T) {
			t.Parallel()
			if list, _ := without(t, w.notebook, w.text, w.nth, ""); len(list) > 0 {
				t.Errorf("%s, but:\n%v", w.why, list)
			}
		})
	}
	for _, w := range refused {
		if !*allWaits {
			break
		}
		t.Run(fmt.Sprintf("%s/%s/%d", w.notebook, w.text, w.nth), func(t *testing.T) {
			t.Parallel()
			if _, failed := without(t, w.notebook, w.text, w.nth, ""); !slices.Contains(failed, w.err) {
				t.Errorf("no cell failed with %s, but with %q", w.err, failed)
			}
		})
	}
}
