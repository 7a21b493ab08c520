package device

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/ipctest"
	"gocuda/cudaapi/mpi/internal/transport"
)

// soakMessages is how many messages TestSoak sends: GOCUDA_SOAK=1000000.
func soakMessages() int {
	if n, err := strconv.Atoi(os.Getenv("GOCUDA_SOAK")); err == nil {
		return n
	}
	return 4000
}

// TestSoak sends messages of two ranks to each other from 200 buffers: short and
// long, some received late, some probed, some by host memory at one end, some in the
// order of streams, behind work and not, with two tags for data in fragments. Each
// message's data are its own.
func TestSoak(t *testing.T) {
	const buffers, mostLate, most = 200, 150, 3000
	for _, paths := range [][]Path{{Auto, Auto}, {Staged, Staged}} {
		t.Run(string(paths[0]), func(t *testing.T) {
			x := newPair(t, paths...)
			for _, p := range x.p {
				p.tags = 2
			}
			var pool [2][]*cuda.Buffer
			for r := range pool {
				for range buffers {
					pool[r] = append(pool[r], x.filled(t, most, 0))
				}
			}
			type sent struct {
				tag, n int
				seed   byte
				s      transport.Request
				from   *cuda.Buffer
			}
			each := soakMessages() / 4 // of two ranks, on two paths
			ok(t, ipctest.Each(2, func(me int) error {
				rng := rand.New(rand.NewPCG(1, uint64(me)))
				to := x.filled(t, most, 0)
				stream, err := x.dev.NewStream(cuda.NonBlocking)
				if err != nil {
					return err
				}
				receive := func(m *sent) error {
					host := make([]byte, most)
					var r transport.Request
					var err error
					way := rng.IntN(8)
					if way < 2 {
						for found := false; !found && err == nil; {
							_, found, err = x.p[1-me].Iprobe(me, m.tag)
							if _, over, err := m.s.Test(); over && err != nil {
								return err
							}
						}
					}
					if err != nil {
						return err
					}
					switch {
					case way%4 == 0:
						r, err = x.p[1-me].IrecvHost(Host(host), me, m.tag)
					case way%4 == 1:
						r, err = x.p[1-me].IrecvOn(to, me, m.tag, stream)
					default:
						r, err = x.p[1-me].Irecv(to, me, m.tag)
					}
					if err != nil {
						return err
					}
					if err := errors.Join(Wait(r), Wait(m.s), stream.Synchronize()); err != nil {
						return err
					}
					if way%4 > 0 {
						if host, err = to.Uint8s(); err != nil {
							return err
						}
					}
					if !slices.Equal(host[:m.n], pattern(m.n, m.seed)) {
						return fmt.Errorf("message %d of %d bytes has other data", m.tag, m.n)
					}
					pool[me] = append(pool[me], m.from)
					return nil
				}
				var late []*sent
				for i := range each {
					last := len(pool[me]) - 1
					m := &sent{tag: i, n: 1 + rng.IntN(most), seed: byte(i), from: pool[me][last]}
					if rng.IntN(2) == 0 {
						m.n = 1 + rng.IntN(Inline)
					}
					pool[me] = pool[me][:last]
					err := m.from.Slice(0, m.n).Upload(pattern(m.n, m.seed))
					if err != nil {
						return err
					}
					if rng.IntN(5) == 0 {
						m.s, err = x.p[me].IsendOn(m.from.Slice(0, m.n), 1-me, m.tag, stream)
					} else {
						m.s, err = x.p[me].Isend(m.from.Slice(0, m.n), 1-me, m.tag, rng.IntN(4) == 0)
					}
					if err != nil {
						return err
					}
					if late = append(late, m); len(late) < mostLate && rng.IntN(3) > 0 {
						continue
					}
					for range 1 + rng.IntN(3) {
						if len(late) > 0 {
							k := len(late) - 1
							if rng.IntN(4) == 0 || len(late) > mostLate-2 {
								k = rng.IntN(len(late))
							}
							if err := receive(late[k]); err != nil {
								return fmt.Errorf("rank %d: %w", me, err)
							}
							late = slices.Delete(late, k, k+1)
						}
					}
				}
				for _, m := range late {
					if err := receive(m); err != nil {
						return fmt.Errorf("rank %d: %w", me, err)
					}
				}
				return nil
			})...)
			x.close(t)
		})
	}
}

// TestLostUnderLoad: a rank is lost while many messages are under way in all states.
// Each ends, and nothing is left.
func TestLostUnderLoad(t *testing.T) {
	for round := range 20 {
		x := newPair(t, [][]Path{{Auto, Auto}, {Staged, Staged}}[round%2]...)
		for _, p := range x.p {
			p.tags = 1
		}
		rng := rand.New(rand.NewPCG(2, uint64(round)))
		var all []transport.Request
		for i := range 60 {
			n := []int{50, 2000, 3 * fragmentBytes}[rng.IntN(3)]
			if rng.IntN(3) > 0 {
				all = append(all, must(x.p[1].Irecv(x.filled(t, n, 1), 0, i))(t))
			}
			all = append(all, must(x.p[0].Isend(x.filled(t, n, 2), 1, i, false))(t))
		}
		for range rng.IntN(30) {
			for _, q := range all {
				q.Test()
			}
		}
		x.kill(0)
		x.kill(1)
		await(t, "after the death", all...)
		x.close(t)
	}
}

// TestFewTags: more messages ask for data than there are tags for; each gets its own.
func TestFewTags(t *testing.T) {
	x := newPair(t, Staged, Staged)
	x.p[1].tags = 1
	var all []transport.Request
	var into []*cuda.Buffer
	for i := range 20 {
		into = append(into, x.filled(t, fragmentBytes+5, 99))
		all = append(all, must(x.p[1].Irecv(into[i], 0, i))(t), must(x.p[0].Isend(x.filled(t, fragmentBytes+5, byte(i)), 1, i, false))(t))
	}
	ok(t, await(t, "all of them", all...)...)
	for i, b := range into {
		holds(t, fmt.Sprint("message ", i), b, pattern(fragmentBytes+5, byte(i)))
	}
	x.close(t)
}

// TestSenderFails: when the data of a message cannot be read, its sender and its
// receiver both end with an error, and the next message with the same tags is right.
func TestSenderFails(t *testing.T) {
	x := newPair(t, Staged, Staged)
	x.p[1].tags = 1
	from, to := x.filled(t, 6*fragmentBytes, 1), x.filled(t, 6*fragmentBytes, 2)
	s := must(x.p[0].Isend(from, 1, 0, false))(t)
	why := errors.New("it is a test")
	o := s.(*operation)
	sender := x.e[0].oneSend()
	o.mu.Lock()
	inner := o.step
	o.step = func() (bool, error) {
		if sender.state != sendPipelining {
			return inner()
		}
		sender.pipeline.ready = func() (bool, error) { return false, why }
		return inner()
	}
	o.mu.Unlock()
	r := must(x.p[1].Irecv(to, 0, 0))(t)
	errs := await(t, "a sender that fails", s, r)
	var short *shortFragment
	if !errors.Is(errs[0], why) || !errors.As(errs[1], &short) {
		t.Errorf("they ended with %v", errs)
	}
	from, to = x.filled(t, 2*fragmentBytes, 3), x.filled(t, 2*fragmentBytes, 4)
	ok(t, await(t, "the next", must(x.p[0].Isend(from, 1, 0, false))(t), must(x.p[1].Irecv(to, 0, 0))(t))...)
	holds(t, "the next", to, pattern(2*fragmentBytes, 3))
	x.close(t)
}
