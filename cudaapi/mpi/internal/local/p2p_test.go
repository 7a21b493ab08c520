package local

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"gocuda/cudaapi/mpi/internal/transport"
)

// sizes are numbers of int64: in the header's line, in the ring, around the
// eager limit, and large ones.
var sizes = []int{0, 1, 3, 4, 100, eagerBytes/8 - 1, eagerBytes / 8, eagerBytes/8 + 1, 40000, 3 << 20 / 8}

func TestMessagesOfAllSizes(t *testing.T) {
	eachWay(t, 2, func(w transport.Comm) error {
		for round := range 3 {
			for _, n := range sizes {
				if w.Rank() == 0 {
					if _, err := waitFor(w.Isend(words(count(int64(n), n)), 1, round)); err != nil {
						return err
					}
					continue
				}
				got := make([]int64, n+2)
				got[n] = -7
				s, err := waitFor(w.Irecv(words(got[:n+1]), 0, round))
				if err != nil {
					return err
				}
				if s.Source != 0 || s.Tag != round || s.Bytes != 8*n || got[n] != -7 {
					return fmt.Errorf("%d elements: %+v, and %d after them", n, s, got[n])
				}
				if err := checkCount(got[:n], int64(n)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func TestManyMessagesKeepTheirOrder(t *testing.T) {
	const many = 3000 // more than a ring holds
	eachWay(t, 2, func(w transport.Comm) error {
		size := func(i int) int { return (i * 7919) % 1500 }
		if w.Rank() == 0 {
			var all []transport.Request
			for i := range many {
				r, err := w.Isend(words(count(int64(i), size(i))), 1, 5)
				if err != nil {
					return err
				}
				all = append(all, r)
			}
			for _, r := range all {
				if _, err := waitFor(r, nil); err != nil {
					return err
				}
			}
			return nil
		}
		got := make([]int64, 1500)
		for i := range many {
			s, err := waitFor(w.Irecv(words(got), 0, transport.AnyTag))
			if err != nil {
				return err
			}
			if s.Bytes != 8*size(i) {
				return fmt.Errorf("message %d has %d bytes, not %d", i, s.Bytes, 8*size(i))
			}
			if err := checkCount(got[:size(i)], int64(i)); err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
		}
		return nil
	})
}

// TestManyRanks: in a world in which only the rings are read whose writers have said
// so, all that is written comes, more than is read of a ring at a time as well.
func TestManyRanks(t *testing.T) {
	const each = 2*drainFrames + 3
	everywhere(t, inOneProcess(t, 3*fewRanks+1, false), func(w transport.Comm) error {
		for _, step := range []int{1, fewRanks} {
			to, from := (w.Rank()+step)%w.Size(), (w.Rank()-step+w.Size())%w.Size()
			sent, got := count(int64(1000*w.Rank()), each), make([]int64, each)
			for i := range sent {
				if _, err := waitFor(w.Isend(word(&sent[i]), to, i)); err != nil {
					return err
				}
			}
			for i := range got {
				if _, err := waitFor(w.Irecv(word(&got[i]), from, i)); err != nil {
					return err
				}
			}
			if err := checkCount(got, int64(1000*from)); err != nil {
				return err
			}
		}
		mine, all := int64(w.Rank()), make([]int64, w.Size())
		into := words(all)
		into.N = 1
		if _, err := waitFor(w.Start(&transport.Collective{Kind: transport.Allgather, Send: word(&mine), Recv: into})); err != nil {
			return err
		}
		return checkCount(all, 0)
	})
}

func TestMatching(t *testing.T) {
	eachWay(t, 3, func(w transport.Comm) error {
		var v [4]int64
		if w.Rank() != 0 {
			for tag := range 4 {
				if tag == 2 {
					if _, err := waitFor(w.Start(&transport.Collective{Kind: transport.Barrier})); err != nil {
						return err
					}
				}
				v := int64(10*w.Rank() + tag)
				if _, err := waitFor(w.Isend(word(&v), 0, tag)); err != nil {
					return err
				}
			}
			return nil
		}
		expect := func(r transport.Request, err error, v *int64, want int64) error {
			s, err := waitFor(r, err)
			if err != nil {
				return err
			}
			if *v != want || s.Source != int(want/10) || s.Tag != int(want%10) {
				return fmt.Errorf("%d came, status %+v; expected %d", *v, s, want)
			}
			return nil
		}
		// By tag, not in the order of coming.
		for _, want := range []int64{21, 10, 11, 20} {
			r, err := w.Irecv(word(&v[0]), int(want/10), int(want%10))
			if err := expect(r, err, &v[0], want); err != nil {
				return err
			}
		}
		// Posted before they come: the first that fits takes the message.
		var r [4]transport.Request
		for i, p := range [][2]int{{2, transport.AnyTag}, {transport.AnySource, 3}, {1, transport.AnyTag}, {transport.AnySource, transport.AnyTag}} {
			var err error
			if r[i], err = w.Irecv(word(&v[i]), p[0], p[1]); err != nil {
				return err
			}
		}
		if _, err := waitFor(w.Start(&transport.Collective{Kind: transport.Barrier})); err != nil {
			return err
		}
		var got [4]transport.Status
		for i := range r {
			var err error
			if got[i], err = waitFor(r[i], nil); err != nil {
				return err
			}
			if v[i] != int64(10*got[i].Source+got[i].Tag) {
				return fmt.Errorf("receive %d: %d with status %+v", i, v[i], got[i])
			}
		}
		if v[0] != 22 || v[2] != 12 || v[1]+v[3] != 13+23 || v[1]%10 != 3 {
			return fmt.Errorf("the receives got %v", v)
		}
		return nil
	})
}

func TestSynchronousSends(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 100000} {
		eachWay(t, 2, func(w transport.Comm) error {
			b := count(0, n)
			if w.Rank() == 1 {
				if _, err := waitFor(w.Irecv(transport.Memory{}, 0, 2)); err != nil { // the sender has looked
					return err
				}
				s, err := waitFor(w.Irecv(words(make([]int64, n)), 0, 1))
				if err == nil && s.Bytes != 8*n {
					return fmt.Errorf("%d bytes came", s.Bytes)
				}
				return err
			}
			r, err := w.Issend(words(b), 1, 1)
			if err != nil {
				return err
			}
			for range 100 {
				if _, over, _ := r.Test(); over {
					return errors.New("the send is over, and nobody has received")
				}
			}
			if _, err := waitFor(w.Isend(transport.Memory{}, 1, 2)); err != nil {
				return err
			}
			_, err = waitFor(r, nil)
			return err
		})
	}
}

func TestTruncationIsAnErrorAndWritesNothingBeyond(t *testing.T) {
	for _, n := range []int{2, 4, 1000, 100000} {
		eachWay(t, 2, func(w transport.Comm) error {
			// To the other rank, and to itself.
			for _, peer := range []int{1 - w.Rank(), w.Rank()} {
				for _, before := range []bool{true, false} {
					got := make([]int64, n)
					var r, s transport.Request
					var err error
					if before {
						if r, err = w.Irecv(words(got[:n-1]), peer, 1); err != nil {
							return err
						}
					}
					if s, err = w.Isend(words(count(1, n)), peer, 1); err != nil {
						return err
					}
					if !before {
						if r, err = w.Irecv(words(got[:n-1]), peer, 1); err != nil {
							return err
						}
					}
					_, err = waitFor(r, nil)
					if err := ofClass(err, transport.Truncate, fmt.Sprint(8*n), fmt.Sprint(8*n-8)); err != nil {
						return err
					}
					if got[n-1] != 0 {
						return errors.New("the receive wrote past its memory")
					}
					if _, err := waitFor(s, nil); err != nil {
						return fmt.Errorf("the send: %w", err)
					}
				}
			}
			return nil
		})
	}
}

func TestToItself(t *testing.T) {
	eachWay(t, 1, func(w transport.Comm) error {
		for _, n := range sizes {
			for _, first := range []string{"send", "receive"} {
				got := make([]int64, n)
				var s, r transport.Request
				var err error
				if first == "receive" {
					r, err = w.Irecv(words(got), 0, 3)
				}
				if err == nil {
					s, err = w.Issend(words(count(5, n)), 0, 3)
				}
				if err == nil && first == "send" {
					if _, over, _ := s.Test(); over {
						return errors.New("the synchronous send did not wait")
					}
					r, err = w.Irecv(words(got), transport.AnySource, transport.AnyTag)
				}
				for _, q := range []transport.Request{s, r} {
					if err == nil {
						_, err = waitFor(q, nil)
					}
				}
				if err == nil {
					err = checkCount(got, 5)
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func TestProcNull(t *testing.T) {
	eachWay(t, 1, func(w transport.Comm) error {
		v := int64(4)
		if _, err := waitFor(w.Isend(word(&v), transport.ProcNull, 0)); err != nil {
			return err
		}
		want := transport.Status{Source: transport.ProcNull, Tag: transport.AnyTag}
		if s, err := waitFor(w.Irecv(word(&v), transport.ProcNull, 0)); err != nil || s != want || v != 4 {
			return fmt.Errorf("%+v, %v, %d", s, err, v)
		}
		if s, there, err := w.Iprobe(transport.ProcNull, 0); err != nil || !there || s != want {
			return fmt.Errorf("Iprobe: %+v, %v, %v", s, there, err)
		}
		m, s, there, err := w.Improbe(transport.ProcNull, 0)
		if err != nil || !there || s != want {
			return fmt.Errorf("Improbe: %+v, %v, %v", s, there, err)
		}
		s, err = waitFor(m.Imrecv(word(&v)))
		if err != nil || s != want {
			return fmt.Errorf("Imrecv: %+v, %v", s, err)
		}
		return nil
	})
}

func TestProbes(t *testing.T) {
	eachWay(t, 2, func(w transport.Comm) error {
		if w.Rank() == 0 {
			for tag, n := range []int{3, 100000, 4, 5} {
				if _, err := w.Isend(words(count(int64(tag), n)), 1, tag); err != nil {
					return err
				}
			}
			_, err := waitFor(w.Irecv(transport.Memory{}, 1, 9)) // the sends are received by then
			return err
		}
		until := func(tag int, look func() (transport.Status, bool, error)) error {
			for {
				s, there, err := look()
				if err != nil || there && s.Tag != tag {
					return fmt.Errorf("%+v, %v", s, err)
				}
				if there {
					return nil
				}
			}
		}
		if err := until(1, func() (transport.Status, bool, error) { return w.Iprobe(transport.AnySource, 1) }); err != nil {
			return err
		}
		// The message taken out is no other receive's.
		var m transport.Message
		if err := until(1, func() (s transport.Status, there bool, err error) {
			m, s, there, err = w.Improbe(0, 1)
			return s, there, err
		}); err != nil {
			return err
		}
		if _, there, err := w.Iprobe(0, 1); there || err != nil {
			return fmt.Errorf("the message is still there (%v)", err)
		}
		got := make([]int64, 100000)
		for _, tag := range []int{3, 2, 0} {
			if s, err := waitFor(w.Irecv(words(got), 0, tag)); err != nil || s.Tag != tag {
				return fmt.Errorf("%+v, %v", s, err)
			}
		}
		if s, err := waitFor(m.Imrecv(words(got))); err != nil || s.Bytes != 800000 || s.Tag != 1 {
			return fmt.Errorf("%+v, %v", s, err)
		}
		if err := checkCount(got, 1); err != nil {
			return err
		}
		_, err := waitFor(w.Isend(transport.Memory{}, 0, 9))
		return err
	})
}

func TestCancelledReceivesMatchNothing(t *testing.T) {
	eachWay(t, 2, func(w transport.Comm) error {
		if w.Rank() == 0 {
			if _, err := waitFor(w.Start(&transport.Collective{Kind: transport.Barrier})); err != nil {
				return err
			}
			v := int64(6)
			_, err := waitFor(w.Isend(word(&v), 1, 0))
			return err
		}
		var a, b int64
		r, err := w.Irecv(word(&a), 0, 0)
		if err != nil {
			return err
		}
		if err := r.Cancel(); err != nil {
			return err
		}
		if s, over, err := r.Test(); !over || !s.Cancelled || err != nil {
			return fmt.Errorf("%+v, %v, %v", s, over, err)
		}
		if _, err := waitFor(w.Start(&transport.Collective{Kind: transport.Barrier})); err != nil {
			return err
		}
		s, err := waitFor(w.Irecv(word(&b), 0, 0))
		if err != nil || a != 0 || b != 6 || s.Cancelled {
			return fmt.Errorf("%d and %d, %v", a, b, err)
		}
		return nil
	})
}

func TestAWaitThatIsStoppedGoesOnLater(t *testing.T) {
	eachWay(t, 2, func(w transport.Comm) error {
		var v int64
		if w.Rank() == 1 {
			stop := make(chan struct{})
			r, err := w.Irecv(word(&v), 0, 0)
			if err != nil {
				return err
			}
			time.AfterFunc(5*time.Millisecond, func() { close(stop) })
			if _, over, err := r.(transport.Waiter).Wait(stop); over || err != nil {
				return fmt.Errorf("over %v, %v", over, err)
			}
			if _, err := waitFor(w.Start(&transport.Collective{Kind: transport.Barrier})); err != nil {
				return err
			}
			<-r.(transport.Waiter).Done()
			if _, over, err := r.Test(); !over || err != nil || v != 3 {
				return fmt.Errorf("over %v, %v, %d", over, err, v)
			}
			return nil
		}
		if _, err := waitFor(w.Start(&transport.Collective{Kind: transport.Barrier})); err != nil {
			return err
		}
		v = 3
		_, err := waitFor(w.Isend(word(&v), 1, 0))
		return err
	})
}

// A rank that makes no call does not keep others from sending to it, nor what
// it has sent from arriving.
func TestProgressWithoutCalls(t *testing.T) {
	const many, n = 50, 30000 // in all more than the ring holds
	eachWay(t, 2, func(w transport.Comm) error {
		peer := 1 - w.Rank()
		var sends, recvs []transport.Waiter
		got := make([][]int64, many)
		for i := range many {
			got[i] = make([]int64, n)
			r, err := w.Irecv(words(got[i]), peer, i)
			if err != nil {
				return err
			}
			s, err := w.Isend(words(count(int64(i), n)), peer, i)
			if err != nil {
				return err
			}
			sends, recvs = append(sends, s.(transport.Waiter)), append(recvs, r.(transport.Waiter))
		}
		for i := range many {
			<-sends[i].Done()
			<-recvs[i].Done()
			if _, _, err := recvs[i].Test(); err != nil {
				return err
			}
			if err := checkCount(got[i], int64(i)); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestSeveralGoroutinesOfARank(t *testing.T) {
	eachWay(t, 2, func(w transport.Comm) error {
		const goroutines = 6
		errs := make(chan error, goroutines)
		for g := range goroutines {
			go func() {
				errs <- func() error {
					got := make([]int64, 20000)
					for i := range 60 {
						n := (i * 733) % 20000
						s, err := w.Isend(words(count(int64(g), n)), 1-w.Rank(), g)
						if err != nil {
							return err
						}
						if _, err := waitFor(w.Irecv(words(got), 1-w.Rank(), g)); err != nil {
							return err
						}
						if err := checkCount(got[:n], int64(g)); err != nil {
							return err
						}
						if _, err := waitFor(s, nil); err != nil {
							return err
						}
					}
					return nil
				}()
			}()
		}
		for range goroutines {
			if err := <-errs; err != nil {
				return err
			}
		}
		return nil
	})
}
