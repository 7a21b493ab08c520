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
		"streams[k], k, n, counts[k]))", "streams[k], k, n*(1-k%2), counts[k]))", "share 1 threw 0 points"},
	{"02_several_gpus", "a kernel that counts no hits",
		"	if (i >= n) return; // the guard\n", "	return;\n", "0 points were thrown"},
	{"03_peer_access", "one GPU's share skipped",
		"block), s, k, n, counter))", "block), s, k, n*(1-k%2), counter))", "inside makes a pi that is off by"},
	{"03_peer_access", "a kernel that adds nothing",
		"if (threadIdx.x == 0) atomicAdd_system(counter, hits);", "", "perBlock, 4 share(s): 0 inside makes a pi that is off by 3.1"},
	{"04_inter_gpu_synchronization", "the destination does not wait for a full buffer",
		"if s.leaveOut != \"filled\" {", "if false {", "is not the original"},
	{"04_inter_gpu_synchronization", "the source does not wait for an empty buffer",
		"if s.leaveOut != \"emptied\" {", "if false {", "is not the original"},
	{"05_mpi", "one rank's share skipped",
		"mine := throw(rank, portion(samples, rank, size))", "mine := throw(rank, portion(samples, rank, size)*(1-rank))", "points were thrown, want 50003"},
	{"05_mpi", "a kernel that counts no hits",
		"if (x * x + y * y <= 1.0f) atomicAdd(&counts[0], 1);", "", "0 inside makes a pi that is off by 3.1"},
	{"05_mpi", "a rank that throws another's points",
		"mine := throw(rank, ", "mine := throw(0, ", "inside, want"},
	{"06_cuda_aware_mpi", "one rank's share skipped",
		"n := portion(samples, rank, size)\n", "n := portion(samples, rank, size)*(1-rank) + rank\n", "points were thrown, want 50003"},
	{"06_cuda_aware_mpi", "a kernel that counts no hits",
		"if (x * x + y * y <= 1.0f) atomicAdd(&counts[0], 1);", "", "0 inside makes a pi that is off by 3.1"},
	{"06_cuda_aware_mpi", "no wait for the stream before the message",
		"	if wait {\n", "	if false {\n", "elements are wrong although the stream was waited for"},
	{"06_cuda_aware_mpi", "no reduction to the device",
		"must(world.Reduce(counts, onDevice, mpi.Sum, 0))", "", "the Reduce to the device gave [-1 -1]"},
	{"06_cuda_aware_mpi", "a kernel that does nothing",
		"p[i] = first + i;", ";", "of 65536 words are wrong"},
	{"07_stream_aware_collectives", "a broadcast that is not given the streams",
		"collective.Broadcast(0, bufs, streams)\nfmt.Println(\"The broadcast", "collective.Broadcast(0, bufs, nil)\nfmt.Println(\"The broadcast", "elements are not zero"},
	{"07_stream_aware_collectives", "no wait before a step of the ring",
		"if leaveOut != \"before\" {", "if false {", "with all waits, and member 1 late at the start"},
	{"07_stream_aware_collectives", "no wait at the end of the ring",
		"if leaveOut != \"end\" {", "if false {", "with all waits, and member 1 late at the end"},
	{"07_stream_aware_collectives", "a check that does nothing",
		"		atomicAdd(&found[1], 1);\n", "", "the check looked at 0 elements"},
	{"08_signal_and_wait", "a consumer that does not wait for the fence",
		"				must(must(c.Sync(\"fence\")).Wait())\n", "", "messages are wrong"},
	{"08_signal_and_wait", "a process that does not wait for another's signal",
		"	must(fence.Wait())\n", "", "with the wait, rank 1 got -1, want 7"},
	{"08_signal_and_wait", "a kernel that does nothing",
		"	if (threadIdx.x == 0) out[blockIdx.x] = part[0];\n", "", "messages are wrong"},
	{"09_jacobi", "strips that do not wait for their neighbours",
		"				must(s.stream.WaitEvent(s.up.done))\n				must(s.stream.WaitEvent(s.down.done))\n", "", "strips are off by"},
	{"09_jacobi", "a rank's share skipped",
		"	if from < to {\n", "	if from < to && rank != 1 {\n", "off by"},
	{"09_jacobi", "rows sent before the GPU has made them",
		"		must(p.edge.Synchronize()) // the rows are there: now they can go\n", "", "off by"},
	{"09_jacobi", "outermost rows that do not wait for the inner ones",
		"		must(p.edge.WaitEvent(p.innerDone))\n", "", "late: inner: off by"},
	{"10_wave_equation", "a kernel that does nothing",
		"swing(stepDouble, intervals)", "swing(nothingDouble, intervals)", "at 1/16 of a period, the string is off by"},
	{"10_wave_equation", "a rank that does not swing",
		"		must(p.launch[p.steps%2].Launch())\n", "		if rank != 1 {\n			must(p.launch[p.steps%2].Launch())\n		}\n", "the ranks differ from one GPU"},
	{"10_wave_equation", "points sent before the GPU has made them",
		"	must(p.stream.Synchronize()) // MPI knows nothing of streams\n", "", "the ranks differ from one GPU"},
	{"11_kernels_in_go", "a judge that looks for no races",
		"k.With(cuda.FindRaces()).Emulate(", "k.Emulate(", "of a kernel that is wrong, want \"a race\""},
	{"11_kernels_in_go", "a judge that compares nothing",
		"if !slices.Equal(got, p.want) {\n		return \"the result is not", "if false {\n		return \"the result is not", "of a kernel that is wrong, want \"not what is wanted\""},
	{"10_wave_equation", "an exchange that comes a step too late",
		"p.steps%p.halo == 0 &&", "p.steps%(p.halo+1) == 0 &&", "with a halo of 1, the string is off by"},
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
