package device

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"gocuda/cudaapi/mpi/internal/transport"
)

// TestLateReceive: a message whose receive comes after thousands of others is not
// taken for received before, by whatever path it goes.
func TestLateReceive(t *testing.T) {
	for _, path := range []Path{Auto, Staged} {
		t.Run(string(path), func(t *testing.T) {
			x := newPair(t, path, path)
			late, other := x.filled(t, 1000, 1), x.filled(t, 500, 2)
			to := x.filled(t, 1000, 99)
			s := must(x.p[0].Isend(late, 1, 7, false))(t)
			for range 4096 {
				ok(t, await(t, "another", must(x.p[1].Irecv(to, 0, 8))(t), must(x.p[0].Isend(other, 1, 8, false))(t))...)
			}
			if _, done, err := s.Test(); done || err != nil {
				t.Fatalf("the send is over before its receive: %v", err)
			}
			ok(t, await(t, "the late receive", must(x.p[1].Irecv(to, 0, 7))(t), s)...)
			holds(t, "the late message", to, pattern(1000, 1))
			x.close(t)
		})
	}
}

// TestProbeBesideReceive: a probe takes no message away from a receive of another
// goroutine.
func TestProbeBesideReceive(t *testing.T) {
	x := newPair(t)
	from, to := x.filled(t, 1000, 1), x.filled(t, 1000, 2)
	stop := make(chan struct{})
	var probes sync.WaitGroup
	for range 2 {
		probes.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, _, err := x.p[1].Iprobe(0, 3); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 3000 {
		s := must(x.p[0].Isend(from, 1, 3, false))(t)
		ok(t, await(t, fmt.Sprint("message ", i), must(x.p[1].Irecv(to, 0, 3))(t), s)...)
	}
	close(stop)
	probes.Wait()
	x.close(t)
}

// TestBusyStream: neither Isend nor Test waits for a default stream that is busy, and
// other messages go on meanwhile.
func TestBusyStream(t *testing.T) {
	for _, paths := range [][]Path{{Auto, Auto}, {Staged, Staged}} {
		for _, n := range []int{100, 1000} {
			t.Run(fmt.Sprintf("%s %d", paths[0], n), func(t *testing.T) {
				x := newPair(t, paths...)
				slow, quick := x.filled(t, n, 1), x.filled(t, n, 2)
				to, toQuick := x.filled(t, n, 98), x.filled(t, n, 99)
				stream := must(x.dev.NewStream(1))(t)
				into := must(x.dev.NewStream(1))(t)
				end := busy(t, x.dev, nil)
				watch := time.AfterFunc(20*time.Second, func() { t.Error("a call waited for the stream"); end() })
				s := must(x.p[0].Isend(slow, 1, 1, false))(t)
				r := must(x.p[1].Irecv(to, 0, 1))(t)
				for range 1000 {
					for _, q := range []transport.Request{s, r} {
						if _, _, err := q.Test(); err != nil {
							t.Fatal(err)
						}
					}
				}
				// Another one, in the order of streams that are not busy.
				ok(t, await(t, "a quick one", must(x.p[0].IsendOn(quick, 1, 2, stream))(t), must(x.p[1].IrecvOn(toQuick, 0, 2, into))(t))...)
				ok(t, into.Synchronize())
				if !watch.Stop() {
					t.FailNow()
				}
				end()
				ok(t, await(t, "the slow one", s, r)...)
				holds(t, "the slow one", to, pattern(n, 1))
				holds(t, "the quick one", toQuick, pattern(n, 2))
				// A message of the host's into device memory.
				end = busy(t, x.dev, nil)
				watch = time.AfterFunc(20*time.Second, func() { t.Error("a call waited for the stream"); end() })
				r = must(x.p[1].Irecv(to, 0, 3))(t)
				s = must(x.p[0].data.Isend(Host(pattern(n, 3)), 1, 3))(t)
				for range 1000 {
					if _, _, err := r.Test(); err != nil {
						t.Fatal(err)
					}
				}
				if !watch.Stop() {
					t.FailNow()
				}
				end()
				ok(t, await(t, "the host's", s, r)...)
				holds(t, "the host's", to, pattern(n, 3))
				x.close(t)
			})
		}
	}
}
