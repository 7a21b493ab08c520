package onesided

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

// post is a message system within the process: what a rank sends another with one tag
// arrives in order.
type post struct {
	mu      sync.Mutex
	sent    [][]message // by receiver
	arrived []int       // at barriers, by rank
	lost    error
}

type message struct {
	from, tag int
	data      []byte
}

// member is a rank of it.
type member struct {
	transport.Comm // what onesided does not use
	p              *post
	rank           int
}

func (m *member) Rank() int { return m.rank }
func (m *member) Size() int { return len(m.p.sent) }

func (m *member) Isend(buf transport.Memory, dest, tag int) (transport.Request, error) {
	m.p.mu.Lock()
	defer m.p.mu.Unlock()
	m.p.sent[dest] = append(m.p.sent[dest], message{m.rank, tag, slices.Clone(bytesOf(buf))})
	return asked(func() (transport.Status, bool, error) { return transport.Status{}, true, nil }), nil
}

func (m *member) Iprobe(int, int) (transport.Status, bool, error) {
	return transport.Status{}, false, nil
}

func (m *member) Irecv(buf transport.Memory, source, tag int) (transport.Request, error) {
	var st transport.Status
	done := false
	return asked(func() (transport.Status, bool, error) {
		m.p.mu.Lock()
		defer m.p.mu.Unlock()
		for i, x := range m.p.sent[m.rank] {
			if !done && x.tag == tag && (source == x.from || source == transport.AnySource) {
				copy(bytesOf(buf), x.data)
				m.p.sent[m.rank] = slices.Delete(m.p.sent[m.rank], i, i+1)
				st, done = transport.Status{Source: x.from, Tag: tag, Bytes: len(x.data)}, true
				break
			}
		}
		if !done && m.p.lost != nil {
			return st, false, m.p.lost
		}
		return st, done, nil
	}), nil
}

func (m *member) Start(*transport.Collective) (transport.Request, error) {
	m.p.mu.Lock()
	defer m.p.mu.Unlock()
	m.p.arrived[m.rank]++
	n := m.p.arrived[m.rank]
	return asked(func() (transport.Status, bool, error) {
		m.p.mu.Lock()
		defer m.p.mu.Unlock()
		return transport.Status{}, slices.Min(m.p.arrived) >= n, m.p.lost
	}), nil
}

func asked(test func() (transport.Status, bool, error)) transport.Request {
	return &testRequest{test: test}
}

type testRequest struct {
	test      func() (transport.Status, bool, error)
	cancelled atomic.Bool
}

func (r *testRequest) Test() (transport.Status, bool, error) {
	if r.cancelled.Load() {
		return transport.Status{Cancelled: true}, true, nil
	}
	return r.test()
}

func (r *testRequest) Cancel() error {
	r.cancelled.Store(true)
	return nil
}

// world makes a window of each of n ranks, of so many int64.
func world(t *testing.T, n, words int) (windows []*Window, mem [][]int64, p *post) {
	p = &post{sent: make([][]message, n), arrived: make([]int, n)}
	windows, mem = make([]*Window, n), make([][]int64, n)
	each(t, n, func(rank int) error {
		mem[rank] = make([]int64, words)
		var err error
		windows[rank], err = New(&member{p: p, rank: rank}, transport.Created, memoryOf(mem[rank]), nil)
		return err
	})
	return windows, mem, p
}

func memoryOf(s []int64) transport.Memory {
	return transport.Memory{P: unsafe.Pointer(unsafe.SliceData(s)), N: len(s), T: transport.Int64}
}

// each runs f as each rank.
func each(t *testing.T, n int, f func(rank int) error) {
	t.Helper()
	ended := make(chan error, n)
	for rank := range n {
		go func() { ended <- f(rank) }()
	}
	late := time.After(time.Minute)
	for range n {
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-late:
			t.Fatal("the ranks do not end")
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

func free(t *testing.T, windows []*Window) {
	t.Helper()
	each(t, len(windows), func(rank int) error { return windows[rank].Free() })
}

func (w *Window) must(t *testing.T, kind transport.SyncKind, target int, exclusive bool) {
	if _, err := w.Sync(transport.Sync{Kind: kind, Target: target, Exclusive: exclusive}, nil); err != nil {
		t.Errorf("synchronization %d: %v", kind, err)
	}
}

func (w *Window) add(t *testing.T, target, at int, op transport.Op, v ...int64) {
	if _, err := w.Access(&transport.Access{Kind: transport.Accumulate, Target: target, At: 8 * at, Origin: memoryOf(v), Op: op}, false); err != nil {
		t.Error(err)
	}
}

func TestAccumulatesAreAtomic(t *testing.T) {
	const ranks, goroutines, times = 3, 8, 50
	windows, mem, _ := world(t, ranks, 2)
	each(t, ranks, func(rank int) error {
		w := windows[rank]
		var all sync.WaitGroup
		for range goroutines {
			all.Go(func() {
				for range times {
					w.add(t, 0, 0, transport.Sum, 1, 2)
				}
				w.must(t, transport.Flush, 0, false)
			})
		}
		all.Wait()
		return nil
	})
	free(t, windows)
	if n := int64(ranks * goroutines * times); mem[0][0] != n || mem[0][1] != 2*n {
		t.Errorf("got %v of %d and %d", mem[0], n, 2*n)
	}
}

func TestAccumulatesOfARankAreInOrder(t *testing.T) {
	windows, mem, _ := world(t, 2, 1)
	for i := int64(1); i <= 200; i++ {
		windows[1].add(t, 0, 0, transport.Replace, i)
		windows[1].add(t, 0, 0, transport.Prod, 3)
		windows[1].add(t, 0, 0, transport.Sum, 1)
	}
	windows[1].must(t, transport.Flush, 0, false)
	free(t, windows)
	if mem[0][0] != 601 {
		t.Errorf("got %d, not 200*3 + 1", mem[0][0])
	}
}

// Readers share a lock; a writer that waits comes before readers that ask later.
func TestLocksAreFair(t *testing.T) {
	l := &lockState{}
	got := func() (list []int) {
		for r, ok := l.next(); ok; r, ok = l.next() {
			list = append(list, r.from)
		}
		return list
	}
	expect := func(what string, want ...int) {
		t.Helper()
		if list := got(); !slices.Equal(list, want) {
			t.Errorf("%s: %v got it, not %v", what, list, want)
		}
	}
	l.ask(request{from: 0})
	l.ask(request{from: 1})
	l.ask(request{from: 2, exclusive: true})
	l.ask(request{from: 3})
	expect("at first", 0, 1)
	l.leave(0)
	expect("one reader is left")
	l.leave(3)
	expect("one left that does not hold it")
	l.leave(1)
	expect("no reader is left", 2)
	l.leave(2)
	expect("the writer has left", 3)
}

// An interrupted wait for a lock gives it back when it comes.
func TestInterruptedLock(t *testing.T) {
	windows, _, _ := world(t, 3, 1)
	for _, holder := range []int{0, 1} { // of rank 0's lock: itself, and another
		windows[holder].must(t, transport.Lock, 0, true)
		stop := make(chan struct{})
		time.AfterFunc(5*time.Millisecond, func() { close(stop) })
		if _, err := windows[2].Sync(transport.Sync{Kind: transport.Lock, Exclusive: true}, stop); err != transport.ErrStopped {
			t.Fatalf("the wait ended with %v", err)
		}
		windows[holder].must(t, transport.Unlock, 0, false)
		each(t, 2, func(rank int) error {
			windows[rank].must(t, transport.Lock, 0, true)
			windows[rank].must(t, transport.Unlock, 0, false)
			return nil
		})
	}
	free(t, windows)
}

func TestEpochs(t *testing.T) {
	windows, mem, _ := world(t, 3, 3)
	each(t, 3, func(rank int) error {
		w := windows[rank]
		for range 20 { // each posts to all, itself too
			if _, err := w.Sync(transport.Sync{Kind: transport.Post, Group: []int{0, 1, 2}}, nil); err != nil {
				return err
			}
			if _, err := w.Sync(transport.Sync{Kind: transport.StartAccess, Group: []int{2, 1, 0}}, nil); err != nil {
				return err
			}
			for to := range 3 {
				w.add(t, to, rank, transport.Sum, 1)
			}
			w.must(t, transport.Complete, 0, false)
			w.must(t, transport.WaitExposure, 0, false)
		}
		return nil
	})
	free(t, windows)
	for rank, m := range mem {
		if !slices.Equal(m, []int64{20, 20, 20}) {
			t.Errorf("rank %d has %v", rank, m)
		}
	}
}

// What is outside a rank's memory is an error of the next flush, and of that only.
func TestOutsideIsSaidByTheFlush(t *testing.T) {
	windows, mem, _ := world(t, 2, 1)
	windows[1].add(t, 0, 1, transport.Sum, 1)
	_, err := windows[1].Sync(transport.Sync{Kind: transport.Flush}, nil)
	if e := (*transport.Error)(nil); !errors.As(err, &e) || e.Class != transport.RMARange {
		t.Errorf("the flush ends with %v", err)
	}
	windows[1].must(t, transport.Flush, 0, false)
	windows[1].add(t, 0, 0, transport.Sum, 1)
	windows[1].must(t, transport.Flush, 0, false)
	free(t, windows)
	if mem[0][0] != 1 {
		t.Errorf("got %d", mem[0][0])
	}
}

// A lost rank ends the waits of the others.
func TestALostRankEndsWaits(t *testing.T) {
	windows, _, p := world(t, 2, 1)
	windows[1].must(t, transport.Lock, 0, true)
	why := errors.New("rank 1 was lost")
	time.AfterFunc(5*time.Millisecond, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.lost = why
	})
	each(t, 1, func(int) error {
		if _, err := windows[0].Sync(transport.Sync{Kind: transport.Lock, Exclusive: true}, nil); err != why {
			t.Errorf("the lock ends with %v", err)
		}
		if _, err := windows[0].Sync(transport.Sync{Kind: transport.Fence}, nil); err != why {
			t.Errorf("a fence after it ends with %v", err)
		}
		return nil
	})
}

// FuzzServe: no message of another rank makes this one panic or write elsewhere.
func FuzzServe(f *testing.F) {
	add := func(h header, payload int) {
		b := make([]byte, headBytes+payload)
		h.put(b)
		f.Add(b)
	}
	add(header{doAccess, transport.CompareAndSwap, transport.NoOp, transport.Int64, 5, 0, 8}, 0)
	add(header{doAccess, transport.CompareAndSwap, 0, transport.Int64, 5, 0, 8}, 16)
	add(header{doAccess, transport.Accumulate, transport.Sum, 0, 0, 0, 8}, 8)
	add(header{doAccess, transport.Accumulate, transport.Sum, transport.Float64, 0, 3, 7}, 7)
	add(header{doAccess, transport.Accumulate, 99, transport.Int64, 0, 8, 8}, 8)
	add(header{doAccess, transport.Put, 0, transport.Byte, 0, 1 << 63, chunk}, chunk)
	add(header{doAccess, transport.Put, 0, transport.Byte, 0, 1<<63 - 1, 8}, 8)
	add(header{doAccess, 77, 0, transport.Int64, 5, 0, 8}, 8)
	add(header{command: doFlush}, 0)
	add(header{command: doFlush, tag: -5}, 0)
	add(header{command: doLock, tag: 1 << 30}, 0)
	add(header{command: 200}, 0)
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > headBytes+2*chunk {
			return
		}
		around := make([]int64, 12)
		p := &post{sent: make([][]message, 2), arrived: make([]int, 2)}
		w := &Window{c: &member{p: p}, mem: memoryOf(around[4:8]), posts: make([]int, 2), dones: make([]int, 2),
			failures: make([]error, 2), changed: make(chan struct{})}
		text := aligned(len(b))
		copy(text, b)
		if h, ok := readHeader(text); ok {
			w.take(1, &h, text[headBytes:])
		}
		for _, v := range slices.Concat(around[:4], around[8:]) {
			if v != 0 {
				t.Fatalf("wrote elsewhere: %v", around)
			}
		}
		for _, x := range p.sent[1] {
			if x.tag < tagFirst || x.tag > tagLast {
				t.Fatalf("an answer has tag %d", x.tag)
			}
		}
	})
}
