package device

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"gocuda/cudaapi/cuda"
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

// TestBusyStreamHoldsNothingElse: whatever a message or what follows it waits for on a
// stream, no call waits with it, and messages of other streams go on.
func TestBusyStreamHoldsNothingElse(t *testing.T) {
	const long = 100_000 // more than a driver takes from pageable memory at once
	for _, path := range []Path{Auto, Staged} {
		for name, begin := range map[string]func(x *pair, from, to *cuda.Buffer, held *cuda.Stream) (ask func() (bool, error), check func(), err error){
			"a receive into the host's memory": func(x *pair, from, _ *cuda.Buffer, held *cuda.Stream) (func() (bool, error), func(), error) {
				into := make([]byte, long)
				s, err := x.p[0].IsendOn(from, 1, 1, held)
				r, err2 := x.p[1].IrecvHost(Host(into), 0, 1)
				check := func() {
					if !slices.Equal(into, pattern(long, 1)) {
						t.Error("other data")
					}
				}
				return both(s, r), check, errors.Join(err, err2)
			},
			"a receive of the host's on a stream": func(x *pair, _, to *cuda.Buffer, held *cuda.Stream) (func() (bool, error), func(), error) {
				s, err := x.p[0].data.Isend(Host(pattern(long, 1)), 1, 1)
				r, err2 := x.p[1].IrecvOn(to, 0, 1, held)
				return both(s, r), func() { holds(t, "the host's", to, pattern(long, 1)) }, errors.Join(err, err2)
			},
			"what is received is unpacked": func(x *pair, from, to *cuda.Buffer, _ *cuda.Stream) (func() (bool, error), func(), error) {
				done, err := x.e[1].UnpackDevice(&Shape{Block: 10, Runs: []Run{{N: 100, Step: 10}}}, to, from, 1000)
				return done, func() { holds(t, "what was packed", to, pattern(1000, 1)) }, err
			},
		} {
			t.Run(fmt.Sprint(path, " ", name), func(t *testing.T) {
				x := newPair(t, path, path)
				a, b := x.filled(t, long, 1), x.filled(t, long, 99)
				quick, into := x.filled(t, 1000, 2), x.filled(t, 1000, 98)
				held := must(x.dev.NewStream(cuda.NonBlocking))(t)
				from := must(x.dev.NewStream(cuda.NonBlocking))(t)
				to := must(x.dev.NewStream(cuda.NonBlocking))(t)
				end, endHeld := busy(t, x.dev, nil), busy(t, x.dev, held)
				over := sync.OnceFunc(func() { end(); endHeld() })
				watch := time.AfterFunc(20*time.Second, func() { t.Error("a call waited for the stream, or another message did"); over() })
				ask, check, err := begin(x, a, b, held)
				ok(t, err)
				for range 1000 {
					_, err := ask()
					ok(t, err)
				}
				ok(t, await(t, "a quick one", must(x.p[0].IsendOn(quick, 1, 2, from))(t), must(x.p[1].IrecvOn(into, 0, 2, to))(t))...)
				ok(t, to.Synchronize())
				if !watch.Stop() {
					t.FailNow()
				}
				over()
				for ends := time.Now().Add(time.Minute); ; time.Sleep(time.Microsecond) {
					done, err := ask()
					ok(t, err)
					if done {
						break
					}
					if time.Now().After(ends) {
						t.Fatal("it is not over when the stream is idle")
					}
				}
				ok(t, x.dev.Synchronize())
				check()
				holds(t, "the quick one", into, pattern(1000, 2))
				x.close(t)
			})
		}
	}
}

// both asks whether two requests are over.
func both(a, b transport.Request) func() (bool, error) {
	var over [2]bool
	return func() (bool, error) {
		var errs error
		for i, q := range []transport.Request{a, b} {
			if !over[i] {
				_, done, err := q.Test()
				over[i], errs = done, errors.Join(errs, err)
			}
		}
		return over[0] && over[1], errs
	}
}

// TestBusyStreamOfCopies: memory that others cannot open is copied to some that they
// can. That holds back no other message, and no call waits with it.
func TestBusyStreamOfCopies(t *testing.T) {
	const slow = 2 * mostTurns
	x := newPair(t, IPC, IPC)
	s := must(x.dev.NewStream(cuda.NonBlocking))(t)
	var from, to []*cuda.Buffer
	for i := range slow {
		b := must(s.AllocAsync(1000, cuda.Uint8))(t)
		ok(t, b.UploadAsync(pattern(1000, byte(i)), s))
		from, to = append(from, b), append(to, x.filled(t, 1000, 99))
	}
	ok(t, s.Synchronize())
	quick := must(s.AllocAsync(1000, cuda.Uint8))(t)
	ok(t, quick.UploadAsync(pattern(1000, 50), s), s.Synchronize())
	into := x.filled(t, 1000, 98)
	send := func(b *cuda.Buffer, tag int, on *cuda.Stream) transport.Request {
		if on == nil {
			return must(x.p[0].Isend(b, 1, tag, false))(t)
		}
		return must(x.p[0].IsendOn(b, 1, tag, on))(t)
	}
	for _, busyWhenSent := range []bool{true, false} {
		end := func() {}
		if busyWhenSent {
			end = busy(t, x.dev, nil)
		}
		all := make([]transport.Request, 0, 2*slow)
		for i := range from {
			all = append(all, send(from[i], i, nil), must(x.p[1].Irecv(to[i], 0, i))(t))
		}
		if !busyWhenSent {
			end = busy(t, x.dev, nil)
		}
		over := sync.OnceFunc(end)
		watch := time.AfterFunc(20*time.Second, func() { t.Error("another message waited for the stream"); over() })
		for _, q := range all {
			_, _, err := q.Test()
			ok(t, err)
		}
		ok(t, await(t, "a quick one", send(quick, 1000, s), must(x.p[1].IrecvOn(into, 0, 1000, s))(t))...)
		ok(t, s.Synchronize())
		if !watch.Stop() {
			t.FailNow()
		}
		over()
		ok(t, await(t, "the slow ones", all...)...)
		holds(t, "the quick one", into, pattern(1000, 50))
		for i := range to {
			holds(t, "a slow one", to[i], pattern(1000, byte(i)))
		}
	}
	for _, b := range append(from, quick) {
		ok(t, b.FreeAsync(s))
	}
	ok(t, s.Synchronize())
	x.close(t)
}

// TestKernelsAreMadeByTheProgram: to compile takes long, and is done where a receive is
// begun, not where messages are moved on.
func TestKernelsAreMadeByTheProgram(t *testing.T) {
	x := newPair(t)
	from, to := x.filled(t, 1000, 1), x.filled(t, 1000, 2)
	r := must(x.p[1].Irecv(to, 0, 1))(t)
	x.e[1].mu.Lock()
	l := x.e[1].lanes[x.dev]
	x.e[1].mu.Unlock()
	if l == nil || l.copies.kernel == nil {
		if _, err := exec.LookPath("g++"); err == nil {
			t.Error("a receive was begun, and its kernels are not there")
		}
	}
	ok(t, await(t, "the message", r, must(x.p[0].Isend(from, 1, 1, false))(t))...)
	x.close(t)
}
