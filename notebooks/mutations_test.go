package notebooks

import (
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"

	"gocuda/kernel/notebook"
)

// mutations are faults put into the tutorials on purpose: a wait removed, a share
// skipped, a kernel that does nothing. The notebook's own checks must catch each.
var mutations = []struct {
	notebook, fault string
	old, new        string // old occurs once in the notebook's code
	says            string // part of the error by which the notebook notices
}{
	{"01_streams", "a consumer that does not wait for the event",
		"		must(second.WaitEvent(ready))\n", "", "with an event the consumer must not run ahead"},
	{"01_streams", "a kernel that does nothing",
		"if (i < n) p[i] *= factor;", "", "element 0 is 7, want 13"},
	{"01_streams", "a gate that is open",
		"must(s.WaitValue(word, 1, cuda.WaitGEQ))", "_ = s", "Synchronize returned"},
	{"01_streams", "a question that waits",
		"_, err := s.Query(); return err", "return s.Synchronize()", "Query did not return"},
	{"01_streams", "pinned memory that is not",
		"pin0 := must(cuda.AllocHost(largest, cuda.Uint8))", "pin0 := must(cuda.AllocPageable(largest, cuda.Uint8))", "not as documented: [MemcpyAsync pinned to device"},
	{"01_streams", "a memset that waits",
		"return d0.MemsetAsync(0, stream) })},", "return errors.Join(d0.MemsetAsync(0, stream), stream.Synchronize()) })},", "MemsetAsync waited"},
	{"01_streams", "a second stream that is the first",
		"second := must(dev.NewStream(cuda.NonBlocking))", "second := stream", "the second stream waited for the first"},
	{"01_streams", "a piece copied to the GPU twice",
		"must(cuda.MemcpyAsync(x, in.Slice(from, to), s))\n		must(addOnes", "must(cuda.MemcpyAsync(x, in.Slice(0, pieceBytes), s))\n		must(addOnes", "piece 1 is wrong"},
	{"01_streams", "several streams instead of one",
		"pipeline(stream)", "pipeline(several...)", "two parts of one stream ran at the same time"},
	{"01_streams", "pieces that are all in one stream",
		"several = append(several, must(dev.NewStream(cuda.NonBlocking)))", "several = append(several, stream)", "no copy ran beside a kernel in 4 streams"},
	{"01_streams", "two kernels in one stream",
		"several[1],\n	must(b.As", "several[0],\n	must(b.As", "two small kernels in two streams did not run"},
	{"01_streams", "a blocking stream in place of one that is not",
		"freeB := must(dev.NewStream(cuda.NonBlocking))", "freeB := must(dev.NewStream())", "want held back done"},
	{"01_streams", "an event where there is to be none",
		"	if withEvent {\n", "	if true {\n", "without an event the consumer must run ahead"},
	{"01_streams", "a missing wait that is not missing",
		"must(cuda.MemcpyAsync(copied, data, second))", "must(cuda.MemcpyAsync(copied, data, stream))", "0 reports, want one"},
	{"01_streams", "a second stream that takes no part in barriers",
		"a, b := must(dev.NewStream()), must(dev.NewStream())", "a, b := must(dev.NewStream()), must(dev.NewStream(cuda.NonBlocking))", "want held back"},
	{"01_streams", "a free that waits in place of one in a stream's order",
		"	return b.FreeAsync(second)\n", "	return b.Free()\n", "stream-ordered allocation synchronizes"},
	{"01_streams", "rounds that nothing holds",
		"hold(stream)\nfor round", "for round", "the rounds did not wait for the gate"},
	{"01_streams", "a buffer that is not on another device",
		"far := must(other.Alloc(", "far := must(dev.Alloc(", "a kernel may use memory of device 1"},
	{"01_streams", "temporaries that nobody frees",
		"	temporary.FreeAsync(stream)\n", "", "not freed"},
	{"02_several_gpus", "a share skipped",
		"j.queue(kernel, k, portion(samples, k, shares))", "j.queue(kernel, k, portion(samples, k, shares)*(1-k%2))", "share 1 threw 0 points"},
	{"02_several_gpus", "a kernel that counts no hits",
		"	if (i >= n) return; // the guard\n", "	return;\n", "0 points were thrown"},
	{"02_several_gpus", "another seed",
		"curand_init(seed, i, 0, &state);\n	*x", "curand_init(seed + 1, i, 0, &state);\n	*x", "from this generator"},
	{"02_several_gpus", "a wrong estimate",
		"pi := 4 * float64(inside)", "pi := 3.9 * float64(inside)", "standard deviations"},
	{"02_several_gpus", "a wait in the first loop",
		"lanes(false)", "lanes(true)", "1 kernels were queued after the CPU had begun to wait"},
	{"02_several_gpus", "no wait where one is shown",
		"		if waitInLoop {\n", "		if false {\n", "0 kernels were queued after a wait"},
	{"02_several_gpus", "a GPU left out of the timeline",
		"j.queue(count, g, portion(samples, g, gpus))", "j.queue(count, g, portion(samples, g, gpus)*(1-g))", "GPU 1 threw 0 points"},
	{"02_several_gpus", "counts that depend on the GPU",
		"v = append(v, s.Inside)", "v = append(v, s.Inside+s.GPU)", "3 shares: ["},
	{"02_several_gpus", "a guard where there is to be none",
		"	int i = blockIdx.x * blockDim.x + threadIdx.x;\n	float x, y;", "	int i = blockIdx.x * blockDim.x + threadIdx.x;\n	if (i >= n) return;\n	float x, y;", "0 points too many, want"},
	{"02_several_gpus", "a total that compares nothing",
		"if s.Points != want {", "if false {", "total did not notice"},
	{"02_several_gpus", "the same seed on each device",
		"nil, g, n, each[g])", "nil, 0, n, each[g])", "inside with SetDevice"},
	{"02_several_gpus", "another circle in Go",
		"if x*x+y*y <= 1 {", "if x*x+y*y <= 0.5 {", "in CUDA C++, ["},
	{"02_several_gpus", "counters that nobody frees",
		"must(errors.Join(j.counts.Free(), j.stream.Destroy()))", "must(j.stream.Destroy())", "not freed"},
	{"03_peer_access", "one GPU's share skipped",
		"share(kernel, s, k, portion(samples, k, shares), counter)", "share(kernel, s, k, portion(samples, k, shares)*(1-k%2), counter)", "4 share(s): pi is off by"},
	{"03_peer_access", "a kernel that adds nothing",
		"if (threadIdx.x == 0) atomicAdd_system(counter, hits);", "", "perBlock, 4 share(s): pi is off by 3.1"},
	{"03_peer_access", "all buffers on one device",
		"b := must(dev.Alloc(probe, cuda.Uint8))", "b := must(devices[0].Alloc(probe, cuda.Uint8))", "memory of GPU 1 is"},
	{"03_peer_access", "host memory that is a device's",
		"pinned := must(cuda.AllocHost(probe, cuda.Uint8))", "pinned := must(devices[0].Alloc(probe, cuda.Uint8))", "pinned memory is"},
	{"03_peer_access", "places that are too large",
		"says, address, address + probe}", "says, address, address + probe<<20}", "overlap"},
	{"03_peer_access", "access that is not enabled",
		"		must(dev.EnablePeerAccess(home))\n		team = append(team, dev)\n	}\n}\nfmt", "		team = append(team, dev)\n	}\n}\nfmt", "may not reach GPU 0"},
	{"03_peer_access", "another seed",
		"if (i < n && hit(seed, i)) atomicAdd_system(counter, 1);", "if (i < n && hit(seed + 1, i)) atomicAdd_system(counter, 1);", "inside, want 39312"},
	{"03_peer_access", "one addition for each block too few",
		"int hits = __syncthreads_count(i < n && hit(seed, i));", "int hits = __syncthreads_count(i < n && hit(seed, i)) - 1;", "perThread counts"},
	{"03_peer_access", "copies from the wrong GPU",
		"source[i].Slice(0, size), s))", "source[0].Slice(0, size), s))", "without peer access, copies arrive wrong: [1 to 0 1 to 1]"},
	{"03_peer_access", "sources that change before the second measurement",
		"peers(true)\non, wrongOn", "source[1].Memset(0)\npeers(true)\non, wrongOn", "with peer access, copies arrive wrong: [1 to 0 1 to 1]"},
	{"03_peer_access", "targets that nobody frees",
		"	target[g].Free()\n", "", "not freed"},
	{"04_inter_gpu_synchronization", "the destination does not wait for a full buffer",
		"if s.leaveOut != \"filled\" {", "if false {", "bytes is wrong"},
	{"04_inter_gpu_synchronization", "the source does not wait for an empty buffer",
		"if s.leaveOut != \"emptied\" {", "if false {", "bytes is wrong"},
	{"04_inter_gpu_synchronization", "a last byte that is not copied",
		"n := min(chunk, src.Len()-off)\n		piece := s.staging[k]", "n := min(chunk, (src.Len()-off)&^1)\n		piece := s.staging[k]", "wrong: {From"},
	{"04_inter_gpu_synchronization", "a CPU that waits for each piece",
		"		must(s.filled[k].Record(s.src))\n\n", "		must(s.filled[k].Record(s.src))\n		must(s.src.Synchronize())\n\n", "the CPU waited for the source's stream"},
	{"04_inter_gpu_synchronization", "a gate that is open",
		"must(copier.src.WaitValue(word, 1, cuda.WaitGEQ))", "must(copier.src.WaitValue(word, 0, cuda.WaitGEQ))", "nothing held the source's stream"},
	{"04_inter_gpu_synchronization", "a held copy that lacks a byte",
		"copier.enqueue(to.Slice(0, part), from.Slice(0, part))", "copier.enqueue(to.Slice(0, part-1), from.Slice(0, part-1))", "the held copy is wrong"},
	{"04_inter_gpu_synchronization", "a picture of another copy",
		"pictured.copy(to.Slice(0, six), from.Slice(0, six))", "pictured.copy(to.Slice(0, six), from.Slice(1, six+1))", "the GPUs' copy is wrong"},
	{"04_inter_gpu_synchronization", "a picture of another copy in turns",
		"pictured.inTurns(to.Slice(0, six), from.Slice(0, six))", "pictured.inTurns(to.Slice(0, six), from.Slice(1, six+1))", "the CPU's copy is wrong"},
	{"04_inter_gpu_synchronization", "a CPU that waits where GPUs are to",
		"pictured.copy(to.", "pictured.inTurns(to.", "no two copies ran at the same time"},
	{"04_inter_gpu_synchronization", "two copies abreast where the CPU waits",
		"pictured.inTurns(to.", "pictured.copy(to.", "two copies ran at the same time although the CPU waited"},
	{"04_inter_gpu_synchronization", "a wait left out where none is to be",
		"	s.leaveOut = leaveOut\n", "	s.leaveOut = \"filled\"\n", "with both waits"},
	{"04_inter_gpu_synchronization", "the wait for filled that is not left out",
		"	s.leaveOut = leaveOut\n", "	if s.leaveOut = leaveOut; leaveOut == \"filled\" {\n		s.leaveOut = \"\"\n	}\n", "no damage without the wait for filled"},
	{"04_inter_gpu_synchronization", "the wait for emptied that is not left out",
		"	s.leaveOut = leaveOut\n", "	if s.leaveOut = leaveOut; leaveOut == \"emptied\" {\n		s.leaveOut = \"\"\n	}\n", "no damage without the wait for emptied"},
	{"04_inter_gpu_synchronization", "a fault that is none",
		"faulty.leaveOut = \"emptied\"\n", "", "the check found nothing"},
	{"04_inter_gpu_synchronization", "a graph that copies one piece again and again",
		"from.Slice(off, off+n), s.src))\n			must(s.filled", "from.Slice(0, n), s.src))\n			must(s.filled", "as a graph, pieces of 64 KiB: the copy is wrong"},
	{"04_inter_gpu_synchronization", "a direct copy of one byte",
		"cuda.MemcpyPeerAsync(to, from, work)", "cuda.MemcpyPeerAsync(to.Slice(0, 1), from.Slice(0, 1), work)", "peer access off: the copy is wrong"},
	{"04_inter_gpu_synchronization", "a staged copy that lacks a byte",
		"func() { s.enqueue(to, from) }", "func() { s.enqueue(to.Slice(0, copyBytes-1), from.Slice(0, copyBytes-1)) }", "staged, pieces of 64 KiB: the copy is wrong"},
	{"04_inter_gpu_synchronization", "a stager that nobody frees",
		"copier.free()\n", "", "not freed"},
	{"05_mpi", "one rank's share skipped",
		"mine := throw(rank, portion(samples, rank, size))", "mine := throw(rank, portion(samples, rank, size)*(1-rank))", "points were thrown, want 50003"},
	{"05_mpi", "a kernel that counts no hits",
		"if (x * x + y * y <= 1.0f) atomicAdd(&counts[0], 1);", "", "0 inside makes a pi that is off by 3.1"},
	{"05_mpi", "a rank that throws another's points",
		"mine := throw(rank, ", "mine := throw(0, ", "inside, want"},
	{"06_cuda_aware_mpi", "one rank's share skipped",
		"n := portion(samples, rank, size)\n", "n := portion(samples, rank, size)*(1-rank) + rank\n", "points were thrown, want 50003"},
	{"06_cuda_aware_mpi", "a kernel that counts no hits",
		"if (x * x + y * y <= 1.0f) atomicAdd(&counts[0], 1);", "", "0 inside, want 39339"},
	{"06_cuda_aware_mpi", "a rank that throws other points",
		"stream, rank, n, counts))", "stream, rank+7, n, counts))", "inside, want 39339"},
	{"06_cuda_aware_mpi", "a circle that is too large",
		"{8, all}: 823648, {2, 50_003}: 39339}\nwant", "{8, all}: 823648}\ninside += 5000\nwant", "inside: pi is off by"},
	{"06_cuda_aware_mpi", "no reduction to the host",
		"must(world.Reduce(counts, onHost, mpi.Sum, 0))\n", "", "the Reduce to the host gave [0 0]"},
	{"06_cuda_aware_mpi", "no reduction to the device",
		"must(world.Reduce(counts, onDevice, mpi.Sum, 0))\n", "", "the Reduce to the device gave [-1 -1]"},
	{"06_cuda_aware_mpi", "a rank that does not ask for its roads",
		"roads[peer], reasons[peer] = mpi.Path", "_, reasons[peer] = mpi.Path", "the road is \"\""},
	{"06_cuda_aware_mpi", "a kernel that does nothing",
		"		p[i] = first + i;", "		;", "of 65536 words are wrong"},
	{"06_cuda_aware_mpi", "no wait for the stream before the message",
		"	if wait {\n", "	if false {\n", "with the wait, "},
	{"06_cuda_aware_mpi", "a message that is not late",
		"	must(stream.WaitValue(gate, 1, cuda.WaitGEQ))\n	must(ramp.Launch(cuda.Grid(32), cuda.Block(256), stream, mine, words, first))\n", "	must(ramp.Launch(cuda.Grid(32), cuda.Block(256), stream, mine, words, first))\n	must(stream.Synchronize())\n", "without the wait, "},
	{"06_cuda_aware_mpi", "a message in the order of another stream",
		"SendOn(mine, right, 4, stream)", "SendOn(mine, right, 4, reader)", "in the order of the streams, "},
	{"06_cuda_aware_mpi", "nothing copied before a message by hand",
		"errors.Join(cuda.Memcpy(stop, buf), push())", "push()", "messages are not what was sent"},
	{"06_cuda_aware_mpi", "a length that is left out",
		"{1, 63, 64, 65, 1000, 20_001}", "{1, 63, 64, 1000, 20_001}", "numbers were compared, want 42388"},
	{"06_cuda_aware_mpi", "messages that are not sent",
		"		must(world.Sendrecv(from, next, 6, to, last, 6))\n", "", "numbers are wrong, want none"},
	{"06_cuda_aware_mpi", "memory that is not freed",
		", in.Free(), gate.Free()))", ", in.Free()))", "not freed: "},
	{"07_stream_aware_collectives", "a package that is not given the mutex",
		"collective.SetMutex(memory) // gloo::CudaShared::setMutex: before any other call\n", "", "the package allocated while you held the mutex"},
	{"07_stream_aware_collectives", "a check that does nothing",
		"		atomicAdd(&found[1], 1);\n", "", "0 elements were compared"},
	{"07_stream_aware_collectives", "no poison",
		"		must(b.Fill(value, nil))\n", "		must(b.Fill(0, nil))\n", "elements are not zero, want 16384: no poison?"},
	{"07_stream_aware_collectives", "a broadcast that is not given the streams",
		"collective.Broadcast(0, bufs, streams)\nfmt.Println(\"The broadcast", "collective.Broadcast(0, bufs, nil)\nfmt.Println(\"The broadcast", "with streams, "},
	{"07_stream_aware_collectives", "no wait before a broadcast without streams",
		"streams[0].Synchronize() // your part of the contract\n", "", "without streams, "},
	{"07_stream_aware_collectives", "a reader that does not wait",
		"		reader.WaitEvent(ready) // the reader's stream waits, not the CPU\n", "", "done right, "},
	{"07_stream_aware_collectives", "a root that is not late",
		"	hold(streams[0])\n	bufs[0].Fill(0, streams[0])\n	if waitBefore {", "	bufs[0].Fill(0, streams[0])\n	streams[0].Synchronize()\n	if waitBefore {", "want all: was nobody late?"},
	{"07_stream_aware_collectives", "a poison where every member should zero its own",
		"set(bufs, 0) // every member", "set(bufs, poison) // every member", "without a broadcast, "},
	{"07_stream_aware_collectives", "a count that is taken for what it is",
		"Slice(0, elements).MemsetAsync(", "Slice(0, 4*elements).MemsetAsync(", "wrong elements, want"},
	{"07_stream_aware_collectives", "no wait before a step of the ring",
		"if leaveOut != \"before\" {", "if false {", "all waits, member 1 late at step 0"},
	{"07_stream_aware_collectives", "no wait at the end of the ring",
		"if leaveOut != \"end\" {", "if false {", "all waits, member 1 late at step"},
	{"07_stream_aware_collectives", "a wait in the ring that is left out in name only",
		"byHand(\"before\", first)", "byHand(\"none\", first)", "without the wait \"before\" nothing is wrong"},
	{"07_stream_aware_collectives", "a wait at the end that is left out in name only",
		"byHand(\"end\", last)", "byHand(\"none\", last)", "without the wait \"end\" nothing is wrong"},
	{"07_stream_aware_collectives", "all-reduces that are not given the streams",
		"must(collective.Allreduce(bufs, streams, collective.Using(a)))", "must(collective.Allreduce(bufs, nil, collective.Using(a)))", "elements are wrong, want none"},
	{"07_stream_aware_collectives", "the greatest instead of the sum",
		"collective.Allreduce(views, streams, collective.Using(algorithm))", "collective.Allreduce(views, streams, collective.Using(algorithm), collective.Combining(cuda.ReduceMax))", "4096 bytes: "},
	{"07_stream_aware_collectives", "a first half that waits for nothing",
		"	hold(streams[0])\n	halfway <- true\n", "	halfway <- true\n", "want a deadlock"},
	{"07_stream_aware_collectives", "a mutex that is held for the allocation alone",
		"inHalves(first, allocate, second, true)", "inHalves(first, allocate, second, false)", "the operation held the mutex throughout, and did not end"},
	{"07_stream_aware_collectives", "ranks' broadcast that is not given the streams",
		"group.Broadcast(0, one, its)", "group.Broadcast(0, one, nil)", "after the broadcast, "},
	{"07_stream_aware_collectives", "no all-reduce among ranks",
		"must(group.Allreduce(one, its))\n", "", "after the all-reduce, "},
	{"07_stream_aware_collectives", "memory that is not freed",
		"free(slices.Concat(bufs, results, big, scratch)...)", "free(slices.Concat(bufs, results, big)...)", "not freed: "},
	{"08_signal_and_wait", "a wait that does nothing",
		"hold(maker)\nproduce(2)\nsync.Signal()\nsync.Wait()\n", "hold(maker)\nproduce(2)\n", "Signal, then Wait: the consumer got"},
	{"08_signal_and_wait", "a producer that is not late",
		"onPurpose := hazard.OnPurpose()\ntaker.WaitEvent(event) // never recorded: counts as done\nhold(maker)\nconsume()\nproduce(4)\n", "taker.WaitEvent(event)\nproduce(4)\nmaker.Synchronize()\nconsume()\nonPurpose := hazard.OnPurpose()\n", "want 3, the old value"},
	{"08_signal_and_wait", "a device id that is right",
		"[]int{99, (takerID + 1) % len(devices)}", "[]int{99, takerID}", "1 graphs were refused, want 2"},
	{"08_signal_and_wait", "results of one message less",
		"	for i := range messages {\n		row :=", "	for i := range messages - 1 {\n		row :=", "19 messages arrived, want 20"},
	{"08_signal_and_wait", "a kernel that does nothing",
		"	if (threadIdx.x == 0) out[blockIdx.x] = part[0];\n", "", "messages are wrong, want none"},
	{"08_signal_and_wait", "a waiter that does not wait",
		"		must(fence.Wait()) // waitSemaphore\n", "		_ = fence\n", "messages are wrong, want none"},
	{"08_signal_and_wait", "a fence that is left out in name only",
		"leaveOut = \"fence\"\n", "leaveOut = \"nothing\"\n", "this test cannot fail"},
	{"08_signal_and_wait", "a CPU that waits after Signal",
		"produce(5)\nlaunched := micros(begin)\nsync.Signal()\n", "produce(5)\nlaunched := micros(begin)\nsync.Signal()\nmaker.Synchronize()\n", "the CPU waited"},
	{"08_signal_and_wait", "a consumer that does not wait",
		"sync.Wait()\nconsume()\nqueued :=", "consume()\nqueued :=", "the consumer got"},
	{"08_signal_and_wait", "a round that is left out",
		"for round := range 4 {", "for round := range 3 {", "after four rounds the consumer has"},
	{"08_signal_and_wait", "a process that does not wait for another's signal",
		"	must(fence.Wait())\n	must(cuda.MemcpyAsync(data, theirs, stream)) // with it", "	must(cuda.MemcpyAsync(data, theirs, stream)) // with it", "with the wait, rank 1 got -1, want 7"},
	{"08_signal_and_wait", "a process whose data is not late",
		"	must(stream.WaitValue(gate, 1, cuda.WaitGEQ))\n	must(data.Fill(float32(7), stream))\n", "	must(data.Fill(float32(7), stream))\n	must(stream.Synchronize())\n", "without a wait, rank 1 got 7, want -1"},
	{"08_signal_and_wait", "memory that is not freed",
		"taken.Free()\n", "", "not freed: "},
	{"09_jacobi", "a step that forgets a neighbour",
		"now[i - width] + now[i + width]);\n}\n\n// spin", "now[i - width] + now[i - width]);\n}\n\n// spin", "one GPU is off by"},
	{"09_jacobi", "a comparison that looks at nothing",
		"	atomicAdd(&result[1], seen);", "	", "0 points of one GPU were compared, want 4224"},
	{"09_jacobi", "a plate that is not at rest",
		"small, small, small, 2_000)", "small, small, small, 200)", "the plate at rest is off by"},
	{"09_jacobi", "a norm of half the rows",
		"inner := func(b *cuda.Buffer) *cuda.Buffer { return b.Slice(width, (rows+1)*width) }", "inner := func(b *cuda.Buffer) *cuda.Buffer { return b.Slice(width, rows/2*width) }", "the norm of step 0 is"},
	{"09_jacobi", "strips that do not wait for their neighbours",
		"				must(s.stream.WaitEvent(s.up.done))\n				must(s.stream.WaitEvent(s.down.done))\n", "", "strips are off by"},
	{"09_jacobi", "a strip that is not late",
		"s.delay(t, late)\n			if !careless {", "must(cuda.Synchronize())\n			if !careless {", "without the waits nothing is wrong"},
	{"09_jacobi", "a strip that is not compared",
		"	for _, s := range strips {\n		expected :=", "	for _, s := range strips[1:] {\n		expected :=", "2176 points of strips were compared, want 4352"},
	{"09_jacobi", "a rank's share skipped",
		"	if from < to {\n", "	if from < to && rank != 1 {\n", "the ranks are off by"},
	{"09_jacobi", "rows sent before the GPU has made them",
		"		must(p.edge.Synchronize()) // the rows are there: now they can go\n", "", "the ranks are off by"},
	{"09_jacobi", "ranks that compare half of their rows",
		"right.Len(), result))", "right.Len()/2, result))", "points of ranks were compared, want"},
	{"09_jacobi", "norms that are not kept",
		"		if late != \"\" && t%10 == 0 {", "		if late != \"\" && t%20 == 0 {", "the ranks have 2 norms, want 4"},
	{"09_jacobi", "a norm of one rank",
		"must(p.comm.Allreduce(sum, total, mpi.Sum))", "must(p.comm.Allreduce(sum, total, mpi.Max))", "the ranks' norm of step 0 is"},
	{"09_jacobi", "outermost rows that do not wait for the inner ones",
		"		must(p.edge.WaitEvent(p.innerDone))\n", "", "late: inner: off by"},
	{"09_jacobi", "inner rows that are skipped when nobody is late",
		"		p.compute(2, p.rows, p.inner)\n", "		if late != \"\" || p.comm.Size() == 1 {\n			p.compute(2, p.rows, p.inner)\n		}\n", "2 ranks are off by"},
	{"09_jacobi", "a step in Go that forgets a neighbour",
		"now[i-1] + now[i+1] + now[i-width] + now[i+width]", "now[i-1] + now[i+1] + now[i-width] + now[i-width]", "Go and CUDA C++ differ by"},
	{"09_jacobi", "two plates of which half is compared",
		"apart, looked := difference(inCpp, inGo, ", "apart, looked := difference(inCpp.Slice(0, n*n), inGo, ", "points of two plates were compared"},
	{"09_jacobi", "a rank that keeps memory",
		"%%mpi\nmust(whole.Free())\n", "%%mpi\n", "not freed by a rank"},
	{"09_jacobi", "memory that is not freed",
		"alone.free()\n", "", "not freed: "},
	{"10_wave_equation", "the course's program in double precision",
		"theirs, moved := course(stepFloat)", "theirs, moved := course(nothingFloat)\nmoved[3] = 5", "5 points still move, want none"},
	{"10_wave_equation", "an error of nothing",
		"theirs, moved := course(stepFloat)", "theirs, moved := course(nothingFloat)", "the error of the frozen string is 0"},
	{"10_wave_equation", "a program that does more than nothing",
		"idle, still := course(nothingFloat)", "idle, still := course(stepFloat)", "doing nothing has an error of 7.2"},
	{"10_wave_equation", "a crest in single precision",
		"y = crest(stepDouble, sineDouble, cuda.Float64, 1<<k, 512, c2)", "y = crest(stepFloat, sineFloat, cuda.Float32, 1<<k, 512, c2)", "double precision: the crest went"},
	{"10_wave_equation", "a crest that is not lost",
		"y := crest(stepFloat, sineFloat, cuda.Float32, 1<<k, 512, c2)", "y := crest(stepDouble, sineDouble, cuda.Float64, 1<<k, 512, c2)", "single precision: the crest went"},
	{"10_wave_equation", "a kernel that does nothing",
		"swing(stepDouble, intervals)", "swing(nothingDouble, intervals)", "at 1/16 of a period, the string is off by"},
	{"10_wave_equation", "a comparison that looks at nothing",
		"	atomicAdd(&result[1], seen);", "	", "0 points were compared, want 513"},
	{"10_wave_equation", "a wave in the place of doing nothing",
		"swing(nothingDouble, intervals)", "swing(stepDouble, intervals)", "can this test fail?"},
	{"10_wave_equation", "a rank that does not swing",
		"		must(p.launch[p.steps%2].Launch())\n", "		if rank != 1 {\n			must(p.launch[p.steps%2].Launch())\n		}\n", "the ranks differ from one GPU"},
	{"10_wave_equation", "points sent before the GPU has made them",
		"	must(p.stream.Synchronize()) // MPI knows nothing of streams\n", "", "the ranks differ from one GPU"},
	{"10_wave_equation", "ranks that compare their own points only",
		"from := max(0, p.first-p.halo) // the", "from := max(0, p.first) // the", "1090 points were compared, want 1154"},
	{"10_wave_equation", "all strings too high",
		"	p.wave(p.u[0], p.first-halo, 1)\n", "	p.wave(p.u[0], p.first-halo, 1.001)\n", "the ranks' string is off by"},
	{"10_wave_equation", "an exchange that comes a step too late",
		"p.steps%p.halo == 0 &&", "p.steps%(p.halo+1) == 0 &&", "the string is off by"},
	{"10_wave_equation", "a halo that is not exchanged at the end",
		"	d := mpi.Wtime() - start\n	p.exchange()\n", "	d := mpi.Wtime() - start\n", "with a halo of 1, the string is off by"},
	{"10_wave_equation", "an exchange that is not left out",
		"p.deaf = halo\n", "p.deaf = -1\n", "an exchange was left out, and nothing is wrong"},
	{"10_wave_equation", "more steps than the halo is wide",
		"p.swing(2*halo, false)\nwhole := alone(2 * halo)\n", "p.swing(2*halo, false)\nwhole := alone(2*halo - 2)\n", "the error has come"},
	{"10_wave_equation", "a step in Go that does nothing",
		"		older[i] = 2*now[i] - older[i] + c2*", "		older[i] = now[i] + 0*c2*", "Go and CUDA C++ differ by"},
	{"10_wave_equation", "two strings of which half is compared",
		"apart, looked := difference(inCpp, inGo)", "apart, looked := difference(inCpp.Slice(0, 512), inGo)", "512 points of the two strings were compared"},
	{"10_wave_equation", "a rank that keeps memory",
		"	must(errors.Join(p.u[0].Free(), p.u[1].Free(), p.stream.Destroy()))", "	must(errors.Join(p.u[0].Free(), p.stream.Destroy()))", "not freed by a rank"},
	{"10_wave_equation", "memory that is not freed",
		"inCpp.Free()\n", "", "not freed: "},
	{"11_kernels_in_go", "a judge that looks for no races",
		"k.With(cuda.FindRaces()).Emulate(", "k.Emulate(", "of a kernel that is wrong, want \"a race\""},
	{"11_kernels_in_go", "a judge that compares nothing",
		"if !slices.Equal(got, p.want) {\n		return \"the result is not", "if false {\n		return \"the result is not", "of a kernel that is wrong, want \"not what is wanted\""},
}

var allMutations = flag.Bool("mutations", false, "try every mutation, not the first two of each tutorial: some minutes")

func TestMutations(t *testing.T) {
	if testing.Short() {
		t.Skip("runs each tutorial several times")
	}
	tried := map[string]int{}
	for _, m := range mutations {
		if tried[m.notebook]++; tried[m.notebook] > 2 && !*allMutations {
			continue
		}
		t.Run(m.notebook+"/"+strings.ReplaceAll(m.fault, " ", "_"), func(t *testing.T) {
			inTurn(t)
			nb := readSmall(t, m.notebook+".ipynb")
			found := 0
			for _, c := range nb.Cells {
				if c.Kind == notebook.Code {
					found += strings.Count(c.Source, m.old)
					c.Source = strings.ReplaceAll(c.Source, m.old, m.new)
				}
			}
			if found != 1 {
				t.Fatalf("%q occurs %d times", m.old, found)
			}
			// A wait that is missing does not show in every order of work.
			var err error
			for try := 0; err == nil && try < 3; try++ {
				err = run(t, nb, 2)
			}
			failure := (*notebook.Failure)(nil)
			switch {
			case err == nil:
				t.Error("no check of the notebook noticed")
			case !errors.As(err, &failure) || !strings.Contains(failure.Step.Err.Message, m.says):
				t.Errorf("the notebook says %q, want %q", err, m.says)
			default:
				t.Logf("caught in cell %d of %d: %s", failure.Step.Number, failure.Step.Count, failure.Step.Err.Message)
			}
		})
	}
}

// Every tutorial of the second edition has at least six mutations.
func TestEveryTutorialIsMutated(t *testing.T) {
	count := map[string]int{}
	for _, m := range mutations {
		count[m.notebook+".ipynb"]++
	}
	for _, name := range names(t) {
		if n := count[name]; n < 2 || n < 6 && !slices.Contains(firstEdition, name) {
			t.Errorf("%s has %d mutations, want six or more", name, n)
		}
	}
}
