package device

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/ipctest"
	"gocuda/cudaapi/mpi/internal/transport"
	"gocuda/cudaapi/sim"
)

func ok(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		ok(t, err)
		return v
	}
}

// pair is two ranks (or more) of one process, each with an engine and a port; both
// use device 0.
type pair struct {
	*network
	l   *ipctest.Loopback
	dev *cuda.Device
	e   []*Engine
	p   []*Port
}

func newPair(t testing.TB, paths ...Path) *pair {
	t.Helper()
	if len(paths) == 0 {
		paths = []Path{Auto, Auto}
	}
	x := &pair{network: newNetwork(len(paths)), e: make([]*Engine, len(paths)), p: make([]*Port, len(paths))}
	l, devices := ipctest.New(t, sim.Options{Devices: 1, Memory: 1 << 30})
	x.l, x.dev = l, devices[0]
	ok(t, ipctest.Each(len(paths), func(r int) (err error) {
		if x.e[r], err = Open(x.world(r), paths[r]); err != nil {
			return err
		}
		x.p[r], err = x.port(r, 1)
		return err
	})...)
	return x
}

// port makes one of a new communicator.
func (x *pair) port(r, comm int) (*Port, error) {
	data := &fake{net: x.network, rank: r, comm: comm}
	side, err := data.Dup()
	if err != nil {
		return nil, err
	}
	return x.e[r].Port(data, side)
}

// clean checks that no message has left anything behind, within the time that the
// engine may take for what is left of it.
func (x *pair) clean(t testing.TB) {
	t.Helper()
	for r, e := range x.e {
		var left string
		for ends := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			e.progress.mu.Lock()
			active := len(e.progress.active)
			e.progress.mu.Unlock()
			e.mu.Lock()
			sends := len(e.sends)
			e.mu.Unlock()
			used := 0
			if e.pages != nil {
				e.pages.mu.Lock()
				used = slots - len(e.pages.slots)
				e.pages.mu.Unlock()
			}
			left = fmt.Sprintf("%d operations, %d sends, %d slots, %d withdrawn", active, sends, used, x.p[r].withdrawn.Load())
			if left == "0 operations, 0 sends, 0 slots, 0 withdrawn" {
				break
			}
			if time.Now().After(ends) {
				t.Errorf("rank %d is left with %s", r, left)
				break
			}
		}
	}
}

func (x *pair) close(t testing.TB) {
	t.Helper()
	x.clean(t)
	for _, e := range x.e {
		ok(t, e.Close())
	}
	if n := x.l.Open(); n != 0 {
		t.Errorf("%d allocations and events of others are left open", n)
	}
}

// filled is device memory of n bytes with a pattern.
func (x *pair) filled(t testing.TB, n int, seed byte) *cuda.Buffer {
	t.Helper()
	b := must(x.dev.Alloc(n, cuda.Uint8))(t)
	ok(t, b.Upload(pattern(n, seed)))
	return b
}

// pattern is n bytes, which are others for each seed; they are read only.
func pattern(n int, seed byte) []byte { return patterns()[13*int(seed):][:n] }

var patterns = sync.OnceValue(func() []byte {
	b := make([]byte, 256*13+11*fragmentBytes)
	rand.NewChaCha8([32]byte{}).Read(b)
	return b
})

// holds checks what has arrived.
func holds(t testing.TB, what string, b *cuda.Buffer, want []byte) {
	t.Helper()
	got := must(b.Uint8s())(t)
	if !slices.Equal(got[:len(want)], want) {
		t.Fatalf("%s: other data", what)
	}
}

// await waits for requests, with a time limit.
func await(t testing.TB, what string, all ...transport.Request) []error {
	t.Helper()
	errs := make([]error, len(all))
	over := make([]bool, len(all))
	for ends := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Microsecond) {
		left := 0
		for i, q := range all {
			if !over[i] {
				_, done, err := q.Test()
				if over[i] = done || err != nil; over[i] {
					errs[i] = err
				} else {
					left++
				}
			}
		}
		if left == 0 {
			return errs
		}
		if time.Now().After(ends) {
			t.Fatalf("%s: %v are over", what, over)
		}
	}
}

// busy gives a stream work that ends when the function it returns is called. nil is
// the default stream.
func busy(t testing.TB, d *cuda.Device, s *cuda.Stream) func() {
	t.Helper()
	if s == nil {
		s = d.DefaultStream()
	}
	end := make(chan struct{})
	ok(t, s.LaunchHostFunc(func() { <-end }))
	return func() { close(end) }
}

// TestOpen: what is wrong at one rank is said at all; ranks that cannot share memory
// have no notices.
func TestOpen(t *testing.T) {
	n := newNetwork(2)
	errs := ipctest.Each(2, func(r int) error {
		_, err := Open(n.world(r), []Path{Auto, "rings"}[r])
		return err
	})
	for _, err := range errs {
		if err == nil || !strings.Contains(err.Error(), `rank 1: GOCUDA_MPI_PATH="rings": want ipc, staged or cuda-aware`) {
			t.Errorf("a path that is none: %v", err)
		}
	}
	n = newNetwork(2)
	n.kill(1)
	if _, err := Open(n.world(0), Auto); err == nil || !strings.Contains(err.Error(), "is dead") {
		t.Errorf("a rank that is dead: %v", err)
	}
	x := newPair(t)
	if !x.p[0].Notices() || !x.p[1].Notices() || !x.p[0].OneHost() {
		t.Error("the ranks of one host have no notices")
	}
	if path, why := x.p[0].Path(1); path != "ipc" || why != "ranks 0 and 1 are on one host" {
		t.Errorf("the path is %s: %s", path, why)
	}
	x.close(t)
	x = newPair(t, Auto, Staged)
	if x.p[0].Notices() || x.p[1].Notices() {
		t.Error("there are notices, though one rank has no page")
	}
	if path, why := x.p[1].Path(0); path != "staged" || why != "GOCUDA_MPI_PATH says so" {
		t.Errorf("the path is %s: %s", path, why)
	}
	x.close(t)
}

// lengths are about the limits: of short offers, of the copy kernel, of fragments,
// of those that are under way at once.
var lengths = []int{0, 1, Inline - 1, Inline, Inline + 1, copyBytes, copyBytes + 1, fragmentBytes + 3, (mostFragments+1)*fragmentBytes + 5}

// TestMessages: each protocol carries all lengths, whichever side comes first,
// behind work of the default stream or none, in the order of streams or not, into
// device memory and the host's.
func TestMessages(t *testing.T) {
	for _, c := range []struct {
		name   string
		path   Path
		refuse error
	}{{"get", Auto, nil}, {"get or nothing", IPC, nil}, {"pipeline, refused", Auto, errors.New("it is a test")}, {"pipeline, wished", Staged, nil}} {
		t.Run(c.name, func(t *testing.T) {
			x := newPair(t, c.path, c.path)
			x.l.Refuse(c.refuse)
			in := must(x.dev.NewStream(cuda.NonBlocking))(t)
			out := must(x.dev.NewStream(cuda.NonBlocking))(t)
			for i, n := range lengths {
				for variant := range 32 {
					what := fmt.Sprintf("%d bytes, variant %05b", n, variant)
					first, work, streams, ordered, host := variant&1 > 0, variant&2 > 0, variant&4 > 0, variant&8 > 0, variant&16 > 0
					if testing.Short() && (variant+i)%3 > 0 {
						continue
					}
					if host && (ordered || work) {
						continue // pageable memory has no order of streams, and its copies wait for the data
					}
					source, target := x.filled(t, n+1, byte(i+variant)), x.filled(t, n+1, 99)
					from, to := source.Slice(0, n), target.Slice(0, n)
					memory := make([]byte, n)
					end := func() {}
					if work { // behind which the data come
						s := map[bool]*cuda.Stream{true: in}[streams]
						data := must(x.dev.Alloc(n+1, cuda.Uint8))(t)
						ok(t, cuda.MemcpyAsync(data, source, nil), source.Memset(0xee), x.dev.Synchronize())
						end = busy(t, x.dev, s)
						ok(t, cuda.MemcpyAsync(source, data, s))
						defer data.Free()
					}
					var reqs []transport.Request
					send := func() {
						if streams {
							reqs = append(reqs, must(x.p[0].IsendOn(from, 1, 5, in))(t))
						} else {
							if work && n <= Inline { // it would wait for the data
								end()
								end = func() {}
							}
							reqs = append(reqs, must(x.p[0].Isend(from, 1, 5, variant%3 == 0))(t))
						}
					}
					receive := func() {
						switch {
						case ordered:
							reqs = append(reqs, must(x.p[1].IrecvOn(to, 0, 5, out))(t))
						case host:
							reqs = append(reqs, must(x.p[1].IrecvHost(Host(memory), 0, 5))(t))
						default:
							reqs = append(reqs, must(x.p[1].Irecv(to, 0, 5))(t))
						}
					}
					if first {
						receive()
						send()
					} else {
						send()
						receive()
					}
					for range 3 { // as far as it goes while the data are not ready
						for _, q := range reqs {
							_, _, err := q.Test()
							ok(t, err)
						}
					}
					end()
					ok(t, await(t, what, reqs...)...)
					ok(t, out.Synchronize())
					if host {
						if !slices.Equal(memory, pattern(n, byte(i+variant))) {
							t.Fatalf("%s: other data", what)
						}
					} else {
						holds(t, what, to, pattern(n, byte(i+variant)))
					}
					ok(t, in.Synchronize(), source.Free(), target.Free())
				}
			}
			path, why := x.p[0].Path(1)
			if want := map[string]string{"get": "ipc", "get or nothing": "ipc"}[c.name]; path != want && (want != "" || path != "staged") {
				t.Errorf("the path is %s: %s", path, why)
			}
			if c.refuse != nil {
				if _, mine := x.p[1].Path(0); why != "the receiver could not open the sender's memory" || !strings.Contains(mine, "it is a test") {
					t.Errorf("the sender says %q, the receiver %q", why, mine)
				}
			}
			x.close(t)
		})
	}
}

// answers are the messages by which receivers answer, fragments those with data.
func answers(m *message) bool   { return m.tag == replyTag }
func fragments(m *message) bool { return m.tag >= firstFragmentTag && m.tag < FreeTag }

// TestShortOffer: the sender of a short message does not wait for its receive, and
// may overwrite the buffer once it is done.
func TestShortOffer(t *testing.T) {
	x := newPair(t)
	to := x.filled(t, 100, 99)
	overwritten := func(b *cuda.Buffer) { ok(t, b.Memset(0xee), x.dev.Synchronize()) }

	// Withdrawn before the receive is there.
	from := x.filled(t, 100, 1)
	ok(t, await(t, "a short send", must(x.p[0].Isend(from, 1, 0, false))(t))...)
	if n := x.p[0].withdrawn.Load(); n != 1 {
		t.Fatalf("%d messages are withdrawn", n)
	}
	overwritten(from)
	ok(t, await(t, "its receive", must(x.p[1].Irecv(to, 0, 0))(t))...)
	holds(t, "received late", to, pattern(100, 1))
	x.clean(t)

	// Withdrawn while the receiver copies: what it copied is not the message.
	ok(t, from.Upload(pattern(100, 2)))
	end := busy(t, x.dev, nil)
	r := must(x.p[1].Irecv(to, 0, 0))(t)
	s := must(x.p[0].send(from, 1, 0, nil, shortOffer{slot: x.p[0].takeSlot(from, 1, false)}))(t)
	x.hold(answers)
	for !x.matched(r) { // it has matched, and copies behind the stream's work
		_, _, err := r.Test()
		ok(t, err)
	}
	time.AfterFunc(time.Millisecond, end) // the sender reads its copy behind the stream, too
	ok(t, await(t, "a send that is withdrawn", s)...)
	overwritten(from)
	x.hold(nil)
	ok(t, await(t, "the receive that copied too late", r)...)
	holds(t, "copied too late", to, pattern(100, 2))
	x.clean(t)

	// A stream-ordered receive cannot look behind the copy, so it takes the data.
	out := must(x.dev.NewStream(cuda.NonBlocking))(t)
	ok(t, from.Upload(pattern(100, 3)))
	ok(t, await(t, "a stream-ordered receive", must(x.p[1].IrecvOn(to, 0, 0, out))(t), must(x.p[0].Isend(from, 1, 0, false))(t))...)
	ok(t, out.Synchronize())
	holds(t, "in a stream's order", to, pattern(100, 3))

	// More than can be offered: what is above goes as it is.
	var sends []transport.Request
	for tag := range slots + 5 {
		ok(t, from.Upload(pattern(100, byte(tag))))
		sends = append(sends, must(x.p[0].Isend(from, 1, tag, false))(t))
		ok(t, await(t, "one of many", sends[tag])...)
	}
	for tag := slots + 4; tag >= 0; tag-- {
		ok(t, await(t, "received backwards", must(x.p[1].Irecv(to, 0, tag))(t))...)
		holds(t, fmt.Sprint("message ", tag), to, pattern(100, byte(tag)))
	}

	// Settle waits for what is not received yet.
	ok(t, await(t, "before Settle", must(x.p[0].Isend(from, 1, 0, false))(t))...)
	ok(t, ipctest.Each(2, func(r int) error {
		if r == 1 {
			q, err := x.p[1].Irecv(to, 0, 0)
			if err := errors.Join(err, Wait(q)); err != nil {
				return err
			}
		}
		return x.p[r].Settle()
	})...)
	if n := x.p[0].withdrawn.Load(); n != 0 {
		t.Errorf("%d messages are left after Settle", n)
	}
	x.close(t)
}

// matched reports whether a receive has.
func (x *pair) matched(r transport.Request) bool {
	o := r.(*operation)
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.status.Bytes > 0
}

// oneSend is the only one under way.
func (e *Engine) oneSend() *sending {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sends {
		return s
	}
	return nil
}

// TestOneself: messages to oneself, which CUDA opens no memory for.
func TestOneself(t *testing.T) {
	x := newPair(t)
	s := must(x.dev.NewStream(cuda.NonBlocking))(t)
	for _, n := range []int{10, 1000, copyBytes + 1} {
		from, to := x.filled(t, n, 1), x.filled(t, n, 2)
		ok(t, await(t, "to oneself", must(x.p[0].Irecv(to, 0, 0))(t), must(x.p[0].Isend(from, 0, 0, false))(t))...)
		holds(t, "to oneself", to, pattern(n, 1))
		ok(t, to.Memset(0), x.dev.Synchronize())
		ok(t, await(t, "to oneself, on a stream", must(x.p[0].IrecvOn(to, 0, 0, s))(t), must(x.p[0].IsendOn(from, 0, 0, s))(t))...)
		ok(t, s.Synchronize())
		holds(t, "to oneself, on a stream", to, pattern(n, 1))
	}
	for _, q := range []transport.Request{must(x.p[0].Isend(x.filled(t, 9, 1), transport.ProcNull, 0, false))(t),
		must(x.p[0].IsendOn(x.filled(t, 9, 1), transport.ProcNull, 0, s))(t), must(x.p[0].Irecv(x.filled(t, 9, 1), transport.ProcNull, 0))(t)} {
		ok(t, await(t, "nobody", q)...)
	}
	x.close(t)
}

// TestRefused: with IPC and nothing else, memory that cannot be opened is an error at
// both ends; memory of pools is copied first.
func TestRefused(t *testing.T) {
	x := newPair(t, IPC, IPC)
	x.l.Refuse(errors.New("it is a test"))
	from, to := x.filled(t, 1000, 1), x.filled(t, 1000, 2)
	errs := await(t, "refused", must(x.p[0].Isend(from, 1, 0, false))(t), must(x.p[1].Irecv(to, 0, 0))(t))
	for r, want := range []string{"the receiver cannot open the memory: cuIpcOpenMemHandle", "it is a test"} {
		if errs[r] == nil || !strings.Contains(errs[r].Error(), want) {
			t.Errorf("rank %d: %v", r, errs[r])
		}
	}
	x.l.Refuse(nil)
	s := must(x.dev.NewStream(cuda.NonBlocking))(t)
	pool := must(s.AllocAsync(1000, cuda.Uint8))(t)
	ok(t, s.Synchronize(), pool.Upload(pattern(1000, 3)))
	for _, stream := range []bool{false, true} {
		ok(t, to.Memset(0), x.dev.Synchronize())
		r := must(x.p[1].Irecv(to, 0, 0))(t)
		if stream {
			ok(t, await(t, "pool", r, must(x.p[0].IsendOn(pool, 1, 0, s))(t))...)
		} else {
			ok(t, await(t, "pool", r, must(x.p[0].Isend(pool, 1, 0, false))(t))...)
		}
		holds(t, "a pool's memory", to, pattern(1000, 3))
	}
	ok(t, s.Synchronize(), pool.Free())
	x.close(t)
}

// TestTooLong: a message that is longer than the buffer is an error of the receiver,
// and the sender's message is over; a receive that has not matched can be cancelled.
func TestTooLong(t *testing.T) {
	for _, path := range []Path{Auto, Staged} {
		x := newPair(t, path, path)
		for _, n := range []int{20, 200, 1000, fragmentBytes + 1} {
			from, to, host := x.filled(t, n, 1), x.filled(t, 10, 2), make([]byte, 10)
			for i, r := range []transport.Request{must(x.p[1].Irecv(to, 0, 0))(t), must(x.p[1].IrecvHost(Host(host), 0, 1))(t)} {
				errs := await(t, "too long", must(x.p[0].Isend(from, 1, i, false))(t), r)
				var e *transport.Error
				if !errors.As(errs[1], &e) || e.Class != transport.Truncate || errs[0] != nil {
					t.Errorf("%s: %d bytes for 10: %v", path, n, errs)
				}
				if st, _, _ := r.Test(); st.Bytes != 10 {
					t.Errorf("%s: the status says %d bytes", path, st.Bytes)
				}
			}
		}
		for _, r := range []transport.Request{must(x.p[1].Irecv(x.filled(t, 10, 2), 0, 7))(t), must(x.p[1].IrecvHost(Host(make([]byte, 300)), 0, 7))(t),
			must(x.p[1].IrecvHost(Host(make([]byte, 3)), 0, 7))(t)} {
			ok(t, r.Cancel())
			ok(t, await(t, "cancelled", r)...)
			if st, _, _ := r.Test(); !st.Cancelled {
				t.Errorf("%s: the receive was not cancelled: %+v", path, st)
			}
			ok(t, r.Cancel())
		}
		x.close(t)
	}
}

// TestWait: a receive of host memory that its transport knows how to wait for is
// waited for so, whatever comes.
func TestWait(t *testing.T) {
	for _, path := range []Path{Auto, Staged} {
		x := newPair(t, path, path)
		x.waits = true
		from := x.filled(t, 1000, 1)
		host := make([]byte, 1000)
		for _, n := range []int{10, 200, 1000} {
			for _, device := range []bool{false, true} {
				clear(host)
				r := must(x.p[1].IrecvHost(Host(host[:n]), 0, 0))(t).(transport.Waiter)
				stop := make(chan struct{})
				close(stop)
				if _, done, err := r.Wait(stop); done || err != nil {
					t.Fatalf("%d bytes: a wait that is stopped: %v, %v", n, done, err)
				}
				send := func() (transport.Request, error) { return x.p[0].data.Isend(Host(pattern(1000, 1)[:n]), 1, 0) }
				if device {
					send = func() (transport.Request, error) { return x.p[0].Isend(from.Slice(0, n), 1, 0, false) }
				}
				s := must(send())(t)
				<-r.Done()
				done, err := false, error(nil)
				for ends := time.Now().Add(time.Minute); !done && err == nil && time.Now().Before(ends); {
					_, _, fail := s.Test()
					ok(t, fail)
					_, done, err = r.Wait(make(chan struct{}))
				}
				ok(t, err)
				ok(t, await(t, "the send", s)...)
				if !done || !slices.Equal(host[:n], pattern(1000, 1)[:n]) {
					t.Errorf("%d bytes, device %v: %v, other data", n, device, done)
				}
				r.(transport.Releaser).Release()
			}
		}
		x.waits = false
		r := must(x.p[1].IrecvHost(Host(host), 0, 0))(t)
		r.(transport.Releaser).Release() // under way: nothing
		ok(t, r.Cancel(), r.Cancel())
		ok(t, await(t, "cancelled", r)...)
		r.(transport.Releaser).Release()
		x.close(t)
	}
}

// TestProbe: probes tell the lengths of messages of device memory as they are, and
// what they have looked into can be received in any way.
func TestProbe(t *testing.T) {
	x := newPair(t)
	p := x.p[1]
	if _, found, err := p.Iprobe(0, transport.AnyTag); found || err != nil {
		t.Errorf("a message that is not there: %v, %v", found, err)
	}
	if _, _, found, err := p.Improbe(transport.AnySource, 3); found || err != nil {
		t.Errorf("a message that is not there: %v, %v", found, err)
	}
	for _, n := range []int{9, 1000} {
		for way := range 6 {
			from, to, host := x.filled(t, n, byte(way)), x.filled(t, n, 99), make([]byte, n)
			s := must(x.p[0].Isend(from, 1, 3, false))(t)
			var st transport.Status
			found := false
			for !found && way < 4 {
				var err error
				st, found, err = p.Iprobe(transport.AnySource, 3)
				ok(t, err)
			}
			again, _, err := p.Iprobe(0, transport.AnyTag)
			ok(t, err)
			if way < 4 && (st.Bytes != n || st.Source != 0 || st.Tag != 3 || again != st) {
				t.Errorf("probes tell %+v and %+v of %d bytes", st, again, n)
			}
			var r transport.Request
			switch way {
			case 0:
				r = must(p.Irecv(to, 0, 3))(t)
			case 1:
				r = must(p.IrecvHost(Host(host), 0, 3))(t)
			default:
				m, st, found, err := p.Improbe(0, 3)
				ok(t, err)
				if !found || st.Bytes != n {
					t.Fatalf("Improbe tells %+v, %v", st, found)
				}
				if way%2 == 0 {
					r = must(p.Imrecv(m, to))(t)
				} else {
					r = must(p.ImrecvHost(m, Host(host)))(t)
				}
			}
			ok(t, await(t, "probed", s, r)...)
			if way%2 == 0 {
				holds(t, "probed", to, pattern(n, byte(way)))
			} else if !slices.Equal(host, pattern(n, byte(way))) {
				t.Errorf("%d bytes in way %d: other data", n, way)
			}
		}
	}
	// Not an RTS, though as long as one; and one that is too long for the receive.
	plain := pattern(Inline, 5)
	must(x.p[0].data.Isend(Host(plain), 1, 4))(t)
	m, st, _, err := p.Improbe(0, 4)
	ok(t, err)
	short := must(p.ImrecvHost(m, Host(make([]byte, 10))))(t)
	if errs := await(t, "short", short); st.Bytes != Inline || errs[0] == nil {
		t.Errorf("%d bytes into 10: %v", st.Bytes, errs)
	}
	x.close(t)
}

// TestFaults: in each state in which a message can be, its peer dies. The message
// ends with an error, and leaves nothing behind.
func TestFaults(t *testing.T) {
	const long = 10 * fragmentBytes
	for _, c := range []struct {
		name  string
		path  Path
		bytes int
		post  bool // the receive is there, too
		held  func(*message) bool
		dies  int
		reach func(x *pair, s, r *operation) bool // whether the state is there
	}{
		{name: "send, offered", bytes: 1000, dies: 1, reach: func(x *pair, _, _ *operation) bool { return x.e[0].oneSend().state == sendOffered }},
		{name: "send, a reply is on its way", bytes: 1000, post: true, held: answers, dies: 1, reach: func(x *pair, _, _ *operation) bool { return x.sent.Load() >= 2 }},
		{name: "send, pipelining", path: Staged, bytes: long, post: true, held: fragments, dies: 1, reach: func(x *pair, _, _ *operation) bool { return x.e[0].oneSend().state == sendPipelining }},
		{name: "send, withdrawn", bytes: 100, dies: 1, reach: func(x *pair, s, _ *operation) bool { return s.done && x.p[0].withdrawn.Load() == 1 }},
		{name: "receive, matching", bytes: 1000, post: true, held: func(m *message) bool { return m.tag == 0 }, dies: 0, reach: func(x *pair, _, _ *operation) bool { return x.sent.Load() > 0 }},
		{name: "receive, pipelining", path: Staged, bytes: long, post: true, held: fragments, dies: 0, reach: func(x *pair, _, _ *operation) bool { return x.e[0].oneSend().state == sendPipelining }},
		{name: "receive, replying", bytes: 1000, post: true, held: answers, dies: 0, reach: func(x *pair, _, _ *operation) bool { return x.sent.Load() >= 2 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newPair(t, c.path, c.path)
			from, to := x.filled(t, c.bytes, 1), x.filled(t, c.bytes, 2)
			x.sent.Store(0)
			x.hold(c.held)
			s := must(x.p[0].Isend(from, 1, 0, false))(t).(*operation)
			var r *operation
			if c.post {
				r = must(x.p[1].Irecv(to, 0, 0))(t).(*operation)
			}
			for ends := time.Now().Add(time.Minute); !x.reached(s, func() bool { return c.reach(x, s, r) }); {
				s.Test()
				if r != nil {
					r.Test()
				}
				if time.Now().After(ends) {
					t.Fatal("the state is not reached")
				}
			}
			x.kill(c.dies)
			survivor := s
			if c.dies == 0 {
				survivor = r
			}
			errs := await(t, "after the death", survivor)
			var e *transport.Error
			if withdrawn := c.bytes <= Inline; !withdrawn && (!errors.As(errs[0], &e) || e.Class != transport.ProcLost) {
				t.Errorf("it ended with %v", errs[0])
			}
			// The dead rank's half of this process is let go, too.
			x.kill(1 - c.dies)
			if r != nil {
				await(t, "both", s, r)
			}
			x.close(t)
		})
	}
}

// reached looks while the send does not move.
func (x *pair) reached(s *operation, f func() bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return x.e[0].oneSend() != nil && f()
}

// TestDevicesFail: an error of a device ends the message at its end, and the other
// end is not left waiting by the engine once its peer is known to be lost.
func TestDevicesFail(t *testing.T) {
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("simulated kernels need a C++ compiler")
	}
	x := newPair(t)
	from, to := x.filled(t, 1000, 1), x.filled(t, 1000, 2)
	end := busy(t, x.dev, nil) // so that a kernel copies
	s := must(x.p[0].Isend(from, 1, 0, false))(t)
	r := must(x.p[1].Irecv(to, 0, 0))(t)
	x.l.FailLaunches(x.dev, errors.New("it is a test"))
	end()
	errs := await(t, "a launch that fails", s, r)
	ok(t, errs...) // the data go through the host
	holds(t, "through the host", to, pattern(1000, 1))
	// Where a copy had begun before launches failed, none of them was needed.
	if path, why := x.p[1].Path(0); path != string(IPC) && !strings.Contains(why, "it is a test") {
		t.Errorf("%s, why: %s", path, why)
	}
	x.close(t)
}

// TestOpens: it finds out whether ranks can open each other's memory.
func TestOpens(t *testing.T) {
	for _, refuse := range []error{nil, errors.New("it is a test")} {
		x := newPair(t, Auto, Auto, Auto)
		x.l.Refuse(refuse)
		whys := make([]string, 3)
		ok(t, ipctest.Each(3, func(r int) (err error) {
			p, err := x.port(r, 2)
			if err == nil {
				whys[r], err = p.Opens(x.dev)
				p.Free()
			}
			return err
		})...)
		for r, why := range whys {
			if (why == "") != (refuse == nil) {
				t.Errorf("rank %d: %q, refused by %v", r, why, refuse)
			}
		}
		x.close(t)
	}
}

// TestNotices: ranks see what the others give to a call.
func TestNotices(t *testing.T) {
	x := newPair(t)
	mine := Notice{Device: true, Number: 3, Shared: true, N: 10, Kind: 5}
	look := func(r int, call uint64, own Notice) (Notices, bool, error) { return x.p[r].Look(call, own) }
	x.p[0].Post(1, mine)
	if _, all, err := look(0, 1, mine); all || err != nil {
		t.Errorf("before the other: %v, %v", all, err)
	}
	other := mine
	other.Number, other.Shared = 4, false
	x.p[1].Post(1, other)
	for r := range 2 {
		n, all, err := look(r, 1, mine)
		if !all || err != nil || n.OnHost || n.Shared || !slices.Equal(n.Devices, []int{3, 4}) {
			t.Errorf("rank %d sees %+v, %v, %v", r, n, all, err)
		}
	}
	other.Failed = true
	x.p[1].Post(1, other)
	for r := range 2 {
		if n, all, err := look(r, 1, mine); !all || err != nil || !n.Failed {
			t.Errorf("rank %d does not see that an earlier call has failed at rank 1: %+v, %v", r, n, err)
		}
	}
	other.Failed = false
	x.p[0].Post(2, mine)
	x.p[1].Post(2, Notice{})
	if n, all, err := look(0, 2, mine); !n.OnHost || all || err != nil {
		t.Errorf("host memory: %+v, %v, %v", n, all, err)
	}
	x.p[0].Post(3, mine)
	other.N = 11
	x.p[1].Post(3, other)
	var m *Mismatch
	if _, _, err := look(0, 3, mine); !errors.As(err, &m) || m.Rank != 1 || m.N != 11 || m.Kind != 5 {
		t.Errorf("another length: %v", err)
	}
	x.p[1].Fail(3)
	if r, failed := x.p[0].Failed(3); !failed || r != 1 {
		t.Errorf("who failed is %d, %v", r, failed)
	}
	if _, failed := x.p[0].Failed(2); failed {
		t.Error("call 2 has failed")
	}
	x.p[1].Post(3+noticesKept, other)
	if _, _, err := look(0, 3, mine); err == nil || !strings.Contains(err.Error(), "rank 1 is 8 calls ahead") {
		t.Errorf("a rank that is ahead: %v", err)
	}
	before := len(x.e[0].pages.free)
	x.p[0].Free()
	if len(x.e[0].pages.free) != before+1 {
		t.Error("Free did not give the notices back")
	}
	// As many communicators as there is room for, and one more.
	e := x.e[0]
	for len(e.pages.free) > 0 {
		e.pages.take()
	}
	if at := e.pages.take(); at != noPlace {
		t.Errorf("a place in a page that is full: %d", at)
	}
	x.close(t)
}

// TestStrided: blocks of host and of device memory are packed and unpacked, whole
// and in part.
func TestStrided(t *testing.T) {
	x := newPair(t)
	for _, s := range []Shape{{First: 3, Block: 4, Runs: []Run{{5, 9}}}, {First: 0, Block: 8, Runs: []Run{{2, 40}, {3, 10}}}, {First: 1, Block: 5, Runs: []Run{{2, 90}, {2, 30}, {3, 7}}}} {
		whole := pattern(200, 1)
		n := s.Bytes()
		packed := make([]byte, n)
		s.Pack(packed, unsafe.Pointer(&whole[0]))
		at := 0
		ok(t, s.rows(func(first, _ int, run Run) error {
			for i := range run.N {
				if want := whole[first+i*run.Step:][:s.Block]; !slices.Equal(packed[at:][:s.Block], want) {
					t.Errorf("%+v: block at %d", s, at)
				}
				at += s.Block
			}
			return nil
		}))
		from := x.filled(t, 200, 1)
		b, give := must2(x.e[0].Staging(x.dev, n))(t)
		ok(t, s.PackDevice(b, from), x.dev.Synchronize())
		holds(t, "packed by the device", b, packed)
		for _, m := range []int{n, n - 1, s.Block + 1, 1, 0} {
			host := make([]byte, 200)
			s.Unpack(unsafe.Pointer(&host[0]), packed[:m])
			to := x.filled(t, 200, 1)
			ok(t, to.Memset(0), x.dev.Synchronize())
			done := must(x.e[0].UnpackDevice(&s, to, b, m))(t)
			for over := false; !over; {
				var err error
				over, err = done()
				ok(t, err)
			}
			holds(t, fmt.Sprintf("%d of %d bytes unpacked", m, n), to, host)
			again := make([]byte, n)
			s.Pack(again, unsafe.Pointer(&host[0]))
			if !slices.Equal(again[:m], packed[:m]) {
				t.Errorf("%+v: %d bytes unpacked: other data", s, m)
			}
		}
		give()
		if c, _ := must2(x.e[0].Staging(x.dev, n))(t); c.Address() != b.Address() {
			t.Error("staging memory is not used again")
		}
	}
	x.close(t)
}

func must2[A, B any](a A, b B, err error) func(testing.TB) (A, B) {
	return func(t testing.TB) (A, B) {
		t.Helper()
		ok(t, err)
		return a, b
	}
}
