//go:build linux && (amd64 || arm64)

package libmpi

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gocuda/cudaapi/mpi/internal/transport"
)

// checker runs collectives on int32s and remembers what was wrong.
type checker struct{ wrong []error }

func (c *checker) run(name string, r transport.Request, err error, got, want []int32) {
	if _, err := wait(r, err); err != nil {
		c.wrong = append(c.wrong, fmt.Errorf("%s: %w", name, err))
	} else if !slices.Equal(got, want) {
		c.wrong = append(c.wrong, fmt.Errorf("%s: got %v, want %v", name, got, want))
	}
}

// series is n values from first on.
func series(n int, value func(i int) int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(value(i))
	}
	return s
}

func init() {
	programs["communicators"] = func(t transport.Transport) error {
		if level := os.Getenv("GOCUDA_MPI_THREAD"); level != "" && !strings.EqualFold(t.Info().Thread, "MPI_THREAD_"+level) {
			fmt.Println("granted", t.Info().Thread)
		}
		three, err := split(t.World())
		if err != nil || three == nil {
			return err
		}
		if s := os.Getenv("GOCUDA_TEST_MAXCOUNT"); s != "" {
			maxCount, _ = strconv.Atoi(s)
		}
		return errors.Join(collectives(three), three.Free())
	}
}

// collectives runs every collective once or twice on three ranks: are the
// arguments where the library expects them? The rest is the conformance
// suite's.
func collectives(w transport.Comm) error {
	me, n := w.Rank(), w.Size()
	var c checker
	const N = 20
	ints := func(s []int32) transport.Memory { return memory(transport.Int32, s) }
	part := func(s []int32, n int) transport.Memory { m := ints(s); m.N = n; return m }
	place := transport.Memory{}
	mine := func(rank int) []int32 { return series(N, func(i int) int { return 100*rank + i }) }
	at := func(rank int, values []int32) []int32 {
		if me == rank {
			return values
		}
		return make([]int32, len(values))
	}
	all := slices.Concat(mine(0), mine(1), mine(2))
	sum := series(N, func(i int) int { return 300 + 3*i })
	upTo := func(r int) []int32 { return series(N, func(i int) int { return 100*(r*(r+1)/2) + (r+1)*i }) }

	buf := at(1, mine(1))
	r, err := w.Start(&transport.Collective{Kind: transport.Bcast, Recv: ints(buf), Root: 1})
	c.run("Ibcast", r, err, buf, mine(1))
	got := make([]int32, N)
	r, err = w.Start(&transport.Collective{Kind: transport.Reduce, Send: ints(mine(me)), Recv: ints(got), Op: transport.Sum, Root: 2})
	c.run("Ireduce", r, err, got, at(2, sum))
	got = mine(me)
	r, err = w.Start(&transport.Collective{Kind: transport.Allreduce, Send: place, Recv: ints(got), Op: transport.Sum})
	c.run("Iallreduce in place", r, err, got, sum)
	got = make([]int32, N)
	r, err = w.Start(&transport.Collective{Kind: transport.Allreduce, Send: ints(mine(me)), Recv: ints(got), Op: transport.Max})
	c.run("Iallreduce max", r, err, got, mine(2))
	got = make([]int32, N)
	r, err = w.Start(&transport.Collective{Kind: transport.Scan, Send: ints(mine(me)), Recv: ints(got), Op: transport.Sum})
	c.run("Iscan", r, err, got, upTo(me))
	got = make([]int32, N)
	r, err = w.Start(&transport.Collective{Kind: transport.Exscan, Send: ints(mine(me)), Recv: ints(got), Op: transport.Sum})
	want := make([]int32, N)
	if me > 0 {
		want = upTo(me - 1)
	}
	c.run("Iexscan", r, err, got, want)
	got = make([]int32, 3*N)
	r, err = w.Start(&transport.Collective{Kind: transport.Gather, Send: ints(mine(me)), Recv: part(got, N), Root: 1})
	c.run("Igather", r, err, got, at(1, all))
	got = make([]int32, N)
	send := place
	if me == 1 {
		send = part(all, N)
	}
	r, err = w.Start(&transport.Collective{Kind: transport.Scatter, Send: send, Recv: ints(got), Root: 1})
	c.run("Iscatter", r, err, got, mine(me))
	got = make([]int32, 3*N)
	r, err = w.Start(&transport.Collective{Kind: transport.Allgather, Send: ints(mine(me)), Recv: part(got, N)})
	c.run("Iallgather", r, err, got, all)
	got = make([]int32, 3*N)
	copy(got[me*N:], mine(me))
	r, err = w.Start(&transport.Collective{Kind: transport.Allgather, Send: place, Recv: part(got, N)})
	c.run("Iallgather in place", r, err, got, all)
	out := make([]int32, 0, 3*N)
	want = nil
	for to := range n {
		out = append(out, mine(10*me+to)...)
		want = append(want, mine(10*to+me)...)
	}
	got = make([]int32, 3*N)
	r, err = w.Start(&transport.Collective{Kind: transport.Alltoall, Send: part(out, N), Recv: part(got, N)})
	c.run("Ialltoall", r, err, got, want)

	// One, two and three elements, in order.
	counts, displs := []int{1, 2, 3}, []int{0, 1, 3}
	bit := mine(me)[:me+1]
	bits := slices.Concat(mine(0)[:1], mine(1)[:2], mine(2)[:3])
	got = make([]int32, 6)
	r, err = w.Start(&transport.Collective{Kind: transport.Gatherv, Send: ints(bit), Recv: ints(got), RecvCounts: counts, RecvDispls: displs, Root: 0})
	c.run("Igatherv", r, err, got, at(0, bits))
	got = make([]int32, me+1)
	r, err = w.Start(&transport.Collective{Kind: transport.Scatterv, Send: ints(bits), SendCounts: counts, SendDispls: displs, Recv: ints(got), Root: 0})
	c.run("Iscatterv", r, err, got, bit)
	got = make([]int32, 6)
	r, err = w.Start(&transport.Collective{Kind: transport.Allgatherv, Send: ints(bit), Recv: ints(got), RecvCounts: counts, RecvDispls: displs})
	c.run("Iallgatherv", r, err, got, bits)
	// Rank i sends i+1 elements to each.
	k := me + 1
	got = make([]int32, 6)
	r, err = w.Start(&transport.Collective{Kind: transport.Alltoallv, Send: ints(bit), SendCounts: []int{k, k, k}, SendDispls: []int{0, 0, 0}, Recv: ints(got), RecvCounts: counts, RecvDispls: displs})
	c.run("Ialltoallv", r, err, got, bits)
	got = make([]int32, k)
	r, err = w.Start(&transport.Collective{Kind: transport.ReduceScatter, Send: ints(series(6, func(i int) int { return i + me })), Recv: ints(got), RecvCounts: counts, Op: transport.Sum})
	c.run("IreduceScatter", r, err, got, series(k, func(i int) int { return 3*(displs[me]+i) + 3 }))
	r, err = w.Start(&transport.Collective{Kind: transport.Barrier})
	c.run("Ibarrier", r, err, nil, nil)

	// Point to point, with the same counts.
	got = make([]int32, N)
	in, err := w.Irecv(ints(got), (me+2)%3, 5)
	if err != nil {
		return err
	}
	r, err = w.Issend(ints(mine(me)), (me+1)%3, 5)
	c.run("Issend", r, err, nil, nil)
	c.run("Irecv", in, nil, got, mine((me+2)%3))
	return errors.Join(c.wrong...)
}

// split makes communicators out of four ranks, and gives the first three one of
// their own, in reverse order.
func split(w transport.Comm) (transport.Comm, error) {
	me, color := w.Rank(), 7
	if me == 3 {
		color = transport.Undefined
	}
	part, err := w.Split(color, -me)
	if err != nil {
		return nil, err
	}
	if (part == nil) != (me == 3) || part != nil && (part.Size() != 3 || part.Rank() != 2-me) {
		return nil, fmt.Errorf("rank %d got %+v", me, part)
	}
	host, err := w.SplitShared(0)
	if err != nil {
		return nil, err
	}
	again, err := host.Dup()
	if err != nil {
		return nil, err
	}
	if again.Size() != w.Size() || again.Rank() != me {
		return nil, fmt.Errorf("rank %d of %d", again.Rank(), again.Size())
	}
	return part, errors.Join(again.Free(), host.Free())
}

// TestLargeCounts lowers what counts as large, so that every call takes the way
// of large ones: a variant with wide counts, a type of many elements, or parts.
func TestLargeCounts(t *testing.T) {
	onEach(t, func(t *testing.T, lib installed) { lib.mpirun(t, 4, "communicators", "GOCUDA_TEST_MAXCOUNT=6") })
}

// TestThreadLevels runs with less than MPI_THREAD_MULTIPLE: calls from many
// threads must still reach the library as it allows.
func TestThreadLevels(t *testing.T) {
	onEach(t, func(t *testing.T, lib installed) {
		for _, level := range []string{"funneled", "serialized"} {
			if out := lib.mpirun(t, 4, "communicators", "GOCUDA_MPI_THREAD="+level); out != "" {
				t.Log(out)
			}
		}
	})
}
