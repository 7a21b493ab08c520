package oneshot_test

import (
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/allreduce"
	"gocuda/cudaapi/internal/ipc"
	"gocuda/cudaapi/internal/ipctest"
	"gocuda/cudaapi/internal/oneshot"
	"gocuda/cudaapi/sim"
)

func ok(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// team is a device for each rank, and the ranks.
type team struct {
	l       *ipctest.Loopback
	devices []*cuda.Device
	ranks   []*ipctest.Ranks
	members []*oneshot.Members
}

func newTeam(t testing.TB, n int) *team {
	t.Helper()
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("simulated kernels need a C++ compiler")
	}
	x := &team{ranks: ipctest.NewRanks(n)}
	x.l, x.devices = ipctest.New(t, sim.Options{Devices: n, Memory: 1 << 30})
	for range n {
		x.members = append(x.members, &oneshot.Members{})
	}
	return x
}

// each calls f at every rank with its member, with a time limit: what waits for ever
// is a failure.
func (x *team) each(t testing.TB, f func(rank int, m *oneshot.Member, d *cuda.Device) error) []error {
	t.Helper()
	done := make(chan []error, 1)
	go func() {
		done <- ipctest.Each(len(x.ranks), func(r int) error {
			d := x.devices[r]
			if err := oneshot.Ready(d, cuda.Float32); err != nil {
				return err
			}
			m, err := x.members[r].Of(x.ranks[r], d, ordinals(len(x.ranks)))
			if err != nil {
				return err
			}
			return f(r, m, d)
		})
	}()
	select {
	case errs := <-done:
		return errs
	case <-time.After(2 * time.Minute):
		t.Fatal("the ranks wait for ever")
		return nil
	}
}

func ordinals(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func (x *team) close(t testing.TB) {
	t.Helper()
	for _, m := range x.members {
		ok(t, m.Close())
	}
	if n := x.l.Open(); n != 0 {
		t.Errorf("%d of the others' allocations are left open", n)
	}
}

func value(rank, i int) float32 { return float32(math.Sin(float64(rank*7919 + i))) }

// TestProtocols: both protocols, lengths that fill packs and blocks and that do not,
// several steps of Simple, in and out of place, aligned and not, with and without
// streams. All members get the same bits.
func TestProtocols(t *testing.T) {
	for _, n := range []int{2, 3, 4} {
		t.Run(fmt.Sprint(n, " members"), func(t *testing.T) {
			x := newTeam(t, n)
			lengths := []int{1, 3, 4, 5, 1000, 4097, 65_536}
			if n == 3 {
				lengths = append(lengths, 65_537, 300_000) // LL has no room; two steps of Simple
			}
			for _, a := range []allreduce.Algorithm{allreduce.LL, allreduce.Simple} {
				for i, length := range lengths {
					results := make([][]float32, n)
					ok(t, x.each(t, func(r int, m *oneshot.Member, d *cuda.Device) error {
						got, err := reduce(m, d, a, r, length, i%2, i%3 == 2)
						results[r] = got
						return err
					})...)
					for j := range length {
						want := value(0, j)
						for r := 1; r < n; r++ {
							want += value(r, j)
						}
						for r := range results {
							if results[r][j] != want {
								t.Fatalf("%s of %d: rank %d has %g at %d, want %g", a, length, r, results[r][j], j, want)
							}
						}
					}
				}
			}
			x.close(t)
		})
	}
}

// reduce sums length elements that begin at element shift of a buffer.
func reduce(m *oneshot.Member, d *cuda.Device, a allreduce.Algorithm, rank, length, shift int, stream bool) ([]float32, error) {
	whole, err := d.Alloc(2*length+2, cuda.Float32)
	if err != nil {
		return nil, err
	}
	defer whole.Free()
	in, out := whole.Slice(shift, shift+length), whole.Slice(shift+length, shift+2*length)
	if shift > 0 {
		out = in // in place
	}
	host := make([]float32, length)
	for i := range host {
		host[i] = value(rank, i)
	}
	if err := in.Upload(host); err != nil {
		return nil, err
	}
	if stream {
		s, err := d.NewStream(cuda.NonBlocking)
		if err != nil {
			return nil, err
		}
		// Two on a stream, of which the second is of the same data.
		again, err := d.Alloc(length, cuda.Float32)
		if err != nil {
			return nil, err
		}
		err = errors.Join(cuda.MemcpyAsync(again, in, s), m.StartOn(s, a, cuda.ReduceSum, out, in), m.StartOn(s, a, cuda.ReduceSum, out, again), s.Synchronize(), s.Destroy(), again.Free())
		if err != nil {
			return nil, err
		}
	} else {
		if err := m.Start(a, cuda.ReduceSum, out, in); err != nil {
			return nil, err
		}
		if length%2 == 1 {
			err = m.Wait()
		} else {
			for done := false; !done && err == nil; done, err = m.Done() {
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return out.Float32s()
}

// TestStreamsFollow: reductions of two streams, and one that no stream orders, come
// one after the other.
func TestStreamsFollow(t *testing.T) {
	x := newTeam(t, 2)
	ok(t, x.each(t, func(r int, m *oneshot.Member, d *cuda.Device) error {
		b, err := d.Alloc(100, cuda.Float32)
		if err != nil {
			return err
		}
		first, err1 := d.NewStream(cuda.NonBlocking)
		second, err2 := d.NewStream(cuda.NonBlocking)
		err = errors.Join(err1, err2, b.Fill(float32(1), nil), d.Synchronize())
		err = errors.Join(err, m.StartOn(first, allreduce.LL, cuda.ReduceSum, b, b), m.StartOn(second, allreduce.Simple, cuda.ReduceSum, b, b))
		err = errors.Join(err, m.Start(allreduce.LL, cuda.ReduceSum, b, b), m.Wait())
		got, err3 := b.Float32s()
		if err = errors.Join(err, err3); err == nil && (got[0] != 8 || got[99] != 8) {
			err = fmt.Errorf("three sums of two give %g and %g, not 8", got[0], got[99])
		}
		return errors.Join(err, b.Free(), first.Destroy(), second.Destroy())
	})...)
	x.close(t)
}

// TestCannotOpen: what stands against it, all ranks are told, and hold nothing.
func TestCannotOpen(t *testing.T) {
	x := newTeam(t, 3)
	x.l.Refuse(errors.New("it is a test"))
	for _, err := range x.each(t, nil) {
		if err == nil || !strings.Contains(err.Error(), "memory cannot be opened") || !strings.Contains(err.Error(), "it is a test") {
			t.Errorf("refused: %v", err)
		}
	}
	x.l.Refuse(nil)
	for _, err := range x.each(t, nil) {
		if err == nil || !strings.Contains(err.Error(), "it is a test") {
			t.Errorf("what was tried in vain is not tried again: %v", err)
		}
	}
	open := func(ranks []*ipctest.Ranks, device func(r int) int) []error {
		return ipctest.Each(len(ranks), func(r int) error {
			var im ipc.Imports
			m, err := oneshot.Open(ranks[r], x.devices[device(r)], &im)
			if err == nil {
				err = errors.Join(errors.New("it opened"), m.Close())
			}
			return err
		})
	}
	for _, err := range open(ipctest.NewRanks(2), func(int) int { return 0 }) {
		if !strings.Contains(err.Error(), "share a device") {
			t.Errorf("one device for two: %v", err)
		}
	}
	for _, err := range open(ipctest.NewRanks(9), func(r int) int { return r % 3 }) {
		if !strings.Contains(err.Error(), "9 members; at most 8 are allowed") {
			t.Errorf("nine members: %v", err)
		}
	}
	lost := ipctest.NewRanks(2)
	lost[1].Lose()
	errs := ipctest.Each(1, func(int) error {
		var im ipc.Imports
		_, err := oneshot.Open(lost[0], x.devices[0], &im)
		return err
	})
	if !errors.Is(errs[0], ipctest.ErrLost) {
		t.Errorf("a rank that is lost: %v", errs[0])
	}
	x.close(t)
	if left := cuda.Leaks(); len(left) > 0 {
		t.Errorf("not freed: %v", left)
	}
}

// TestLostRank: a reduction whose other member never comes ends when that is lost,
// and says so; so does the next.
func TestLostRank(t *testing.T) {
	for _, a := range []allreduce.Algorithm{allreduce.LL, allreduce.Simple} {
		t.Run(a.String(), func(t *testing.T) {
			x := newTeam(t, 2)
			both := make(chan struct{}) // are members: a rank may be lost before the other has heard all
			errs := x.each(t, func(r int, m *oneshot.Member, d *cuda.Device) error {
				if r == 1 {
					<-both
					x.ranks[1].Lose()
					return nil
				}
				close(both)
				b, err := d.Alloc(1000, cuda.Float32)
				if err != nil {
					return err
				}
				if err := errors.Join(b.Memset(0), m.Start(a, cuda.ReduceSum, b, b)); err != nil {
					return err
				}
				for done := false; !done; {
					if done, err = m.Done(); err != nil {
						break
					}
				}
				if again := errors.Join(m.Start(a, cuda.ReduceSum, b, b), m.Wait()); !errors.Is(again, oneshot.ErrStopped) {
					return fmt.Errorf("the next one: %v", again)
				}
				return errors.Join(err, b.Free())
			})
			if !errors.Is(errs[0], oneshot.ErrStopped) || errs[1] != nil {
				t.Errorf("the ranks were told %v", errs)
			}
			x.close(t)
		})
	}
}

// TestSpoil: what is out of step is not used again.
func TestSpoil(t *testing.T) {
	x := newTeam(t, 2)
	ok(t, x.each(t, func(r int, m *oneshot.Member, _ *cuda.Device) error {
		if !x.members[r].Known(ordinals(2)) || x.members[r].Known([]int{1, 0}) {
			return errors.New("members are not known by their devices")
		}
		x.members[r].Spoil(m, errors.New("out of step"))
		return nil
	})...)
	for _, err := range x.each(t, nil) {
		if err == nil || err.Error() != "out of step" {
			t.Errorf("the next call: %v", err)
		}
	}
	x.close(t)
}

// TestLaunchFails: a rank whose launch fails is told so, and the others' kernels,
// which wait for it, can be ended.
func TestLaunchFails(t *testing.T) {
	x := newTeam(t, 2)
	failed := make(chan struct{})
	errs := x.each(t, func(r int, m *oneshot.Member, d *cuda.Device) error {
		b, err := d.Alloc(10, cuda.Float32)
		if err != nil {
			return err
		}
		defer b.Free()
		if r == 1 {
			x.l.FailLaunches(d, errors.New("it is a test"))
			defer close(failed)
			return m.Start(allreduce.LL, cuda.ReduceSum, b, b)
		}
		if err := errors.Join(b.Memset(0), m.Start(allreduce.LL, cuda.ReduceSum, b, b)); err != nil {
			return err
		}
		<-failed
		x.members[r].Spoil(m, errors.New("out of step"))
		return m.Wait()
	})
	if !errors.Is(errs[0], oneshot.ErrStopped) || errs[1] == nil || !strings.Contains(errs[1].Error(), "it is a test") {
		t.Errorf("the ranks were told %v", errs)
	}
	x.close(t)
}
