package local

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gocuda/cudaapi/mpi/internal/transport"
)

func init() {
	rankCases["works"] = func(t transport.Transport) error { return exercise(t.World()) }
	rankCases["comes and goes"] = func(transport.Transport) error { return nil }
	rankCases["rank 1 is killed in a collective"] = func(t transport.Transport) error {
		w := t.World()
		for i := 0; ; i++ {
			if w.Rank() == 1 && i == 20 {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
			v, sum := int64(1), make([]int64, 200000)
			r, err := w.Start(&transport.Collective{Kind: transport.Allreduce, Send: word(&v), Recv: word(&sum[0]), Op: transport.Sum})
			if i%2 == 1 {
				r, err = w.Start(&transport.Collective{Kind: transport.Allreduce, Send: words(count(0, len(sum))), Recv: words(sum), Op: transport.Max})
			}
			if _, err = waitFor(r, err); err != nil {
				return expectLost(t, err)
			}
		}
	}
	rankCases["rank 1 leaves while others wait for it"] = func(t transport.Transport) error {
		w := t.World()
		switch w.Rank() {
		case 1:
			v := int64(8)
			if _, err := waitFor(w.Isend(word(&v), 0, 4)); err != nil {
				return err
			}
			time.Sleep(20 * time.Millisecond) // the others sleep by now
			os.Exit(0)
		case 0:
			time.Sleep(40 * time.Millisecond)
			var v int64 // what it sent before is not lost
			if _, err := waitFor(w.Irecv(word(&v), 1, 4)); err != nil || v != 8 {
				return fmt.Errorf("%w, %d", err, v)
			}
			_, err := waitFor(w.Irecv(word(&v), transport.AnySource, 5))
			if err := expectLost(t, err); err != nil {
				return err
			}
			_, err = waitFor(w.Issend(word(&v), 1, 5))
			return expectLost(t, err)
		}
		var v int64
		_, err := waitFor(w.Irecv(word(&v), 1, 5))
		return expectLost(t, err)
	}
	rankCases["large messages with one who dies"] = func(t transport.Transport) error {
		w := t.World()
		b := make([]int64, 8<<20)
		for i := 0; ; i++ {
			if w.Rank() == 1 && i == 2 {
				go func() {
					time.Sleep(3 * time.Millisecond) // in the midst of it
					syscall.Kill(os.Getpid(), syscall.SIGKILL)
				}()
			}
			var err error
			if w.Rank() == 1 {
				_, err = waitFor(w.Isend(words(b), 0, i))
			} else {
				_, err = waitFor(w.Irecv(words(b), 1, i))
			}
			if err != nil {
				return expectLost(t, err)
			}
		}
	}
	rankCases["rank 1 aborts"] = func(t transport.Transport) error {
		if t.World().Rank() == 1 {
			t.Abort(9)
		}
		_, err := waitFor(t.World().Start(&transport.Collective{Kind: transport.Barrier}))
		return err
	}
	rankCases["waits for ever"] = func(t transport.Transport) error {
		var v int64
		_, err := waitFor(t.World().Irecv(word(&v), transport.AnySource, 0))
		if err := ofClass(err, transport.ProcLost, "launcher"); err != nil {
			return err
		}
		<-t.World().(transport.Mortal).Lost()
		os.Exit(0)
		return nil
	}
}

// expectLost checks that an error names rank 1, and ends the process, which
// cannot finalize.
func expectLost(t transport.Transport, err error) error {
	if err := ofClass(err, transport.ProcLost, "rank 1 of the world"); err != nil {
		return err
	}
	<-t.World().(transport.Mortal).Lost()
	if err := ofClass(t.World().(transport.Mortal).Loss(), transport.ProcLost, "rank 1 of the world"); err != nil {
		return err
	}
	if err := ofClass(t.Finalize(), transport.ProcLost); err != nil {
		return fmt.Errorf("Finalize: %w", err)
	}
	fmt.Println("as expected")
	os.Exit(0)
	return nil
}

// exercise is a bit of everything.
func exercise(w transport.Comm) error {
	n := w.Size()
	for _, length := range []int{1, 3000, 300000} {
		sum := make([]int64, length)
		if _, err := waitFor(w.Start(&transport.Collective{Kind: transport.Allreduce, Send: words(count(int64(w.Rank()), length)), Recv: words(sum), Op: transport.Sum})); err != nil {
			return err
		}
		for i, v := range sum {
			if want := int64(n*i + n*(n-1)/2); v != want {
				return fmt.Errorf("sum %d is %d, not %d", i, v, want)
			}
		}
		got := make([]int64, length)
		r, err := w.Irecv(words(got), (w.Rank()+n-1)%n, 1)
		if err != nil {
			return err
		}
		if _, err := waitFor(w.Isend(words(count(int64(w.Rank()), length)), (w.Rank()+1)%n, 1)); err != nil {
			return err
		}
		if _, err := waitFor(r, nil); err != nil {
			return err
		}
		if err := checkCount(got, int64((w.Rank()+n-1)%n)); err != nil {
			return err
		}
	}
	return nil
}

func TestProcesses(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		for _, parts := range []string{"", "1"} {
			startRanks(t, n, "works", casePartsOnly+"="+parts).mustPass()
		}
	}
}

func (r *ranks) lost() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []int
	for _, e := range r.events {
		if e.Kind == Lost {
			all = append(all, e.Rank)
		}
	}
	return all
}

func TestALostRankIsNoticedByAll(t *testing.T) {
	for name, killed := range map[string]int{
		"rank 1 is killed in a collective":       -1,
		"rank 1 leaves while others wait for it": 0,
		"large messages with one who dies":       -1,
	} {
		for _, parts := range []string{"", "1"} {
			n := 3
			if strings.HasPrefix(name, "large") {
				n = 2
			}
			r := startRanks(t, n, name, casePartsOnly+"="+parts)
			for i, code := range r.wait() {
				want := 0
				if i == 1 {
					want = killed
				}
				if code != want || i != 1 && !strings.Contains(r.out[i].String(), "as expected") {
					t.Errorf("%s: rank %d ended with %d, not %d:\n%s", name, i, code, want, &r.out[i])
				}
			}
			if lost := r.lost(); !slices.Equal(lost, []int{1}) {
				t.Errorf("%s: the launcher lost %v, not rank 1", name, lost)
			}
		}
	}
}

func TestAbortEndsAll(t *testing.T) {
	r := startRanks(t, 3, "rank 1 aborts")
	if codes := r.wait(); !slices.Equal(codes, []int{9, 9, 9}) {
		t.Errorf("exit codes %v", codes)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.ContainsFunc(r.events, func(e Event) bool { return e == Event{Kind: Aborted, Rank: 1, Code: 9} }) {
		t.Errorf("events %v", r.events)
	}
}

func TestRanksNoticeTheEndOfTheirLauncher(t *testing.T) {
	r := startRanks(t, 2, "waits for ever")
	r.until(func() bool { return len(r.events) == 2 })
	r.hub.Close()
	r.mustPass()
}

// until waits for events.
func (r *ranks) until(enough func() bool) {
	r.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		r.mu.Lock()
		ok := enough()
		r.mu.Unlock()
		if ok {
			return
		}
	}
	r.t.Fatalf("it does not happen: %v", r.events)
}

func TestARankThatEndsBeforeItCame(t *testing.T) {
	for _, early := range []bool{true, false} {
		hub, err := NewHub(3, func(Event) {})
		if err != nil {
			t.Fatal(err)
		}
		defer hub.Close()
		var both sync.WaitGroup
		errs, over := make(chan error, 2), make(chan struct{})
		if early {
			hub.Lost(2, "exit status 7")
		}
		for i := range 2 {
			both.Go(func() {
				s, err := parseSeat(strings.TrimPrefix(hub.Env(i), EnvName+"="))
				if err != nil {
					errs <- err
					return
				}
				m, err := join(s)
				if err == nil {
					defer func() { <-over; m.close() }()
					_, err = enrol(s, m)
				}
				errs <- err
			})
		}
		if !early {
			time.Sleep(10 * time.Millisecond)
			hub.Lost(2, "exit status 7")
		}
		for range 2 {
			if err := ofClass(<-errs, transport.ProcLost, "rank 2", "exit status 7"); err != nil {
				t.Error(err)
			}
		}
		close(over)
		both.Wait()
	}
}

func TestStrangersAreRefused(t *testing.T) {
	refused := make(chan Event, 10)
	hub, err := NewHub(2, func(e Event) {
		if e.Kind == Refused {
			refused <- e
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer hub.Close()
	right, err := parseSeat(strings.TrimPrefix(hub.Env(0), EnvName+"="))
	if err != nil {
		t.Fatal(err)
	}
	first, err := join(right)
	if err != nil {
		t.Fatal(err)
	}
	defer first.close()
	wrongToken, tooHigh := right, right
	wrongToken.token = strings.Repeat("0", len(right.token))
	tooHigh.rank = 2
	for why, s := range map[string]seat{"token": wrongToken, "wants to be rank 2 of 2": tooHigh, "wants to be rank 0, which process": right} {
		_, err := join(s)
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
		if e := <-refused; !strings.Contains(e.Text, why) || !strings.Contains(e.Text, fmt.Sprint("process ", os.Getpid())) {
			t.Errorf("%s: %+v", why, e)
		}
	}
	c, err := net.Dial("unix", "@"+right.name)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET / HTTP/1.1\r\n\r\n")
	if e := <-refused; e.Rank != -1 {
		t.Errorf("%+v", e)
	}
}

// leftovers are what a job could leave behind.
func leftovers(t *testing.T) (all []string) {
	fds, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && (strings.HasPrefix(to, "socket:") || strings.Contains(to, "gocuda-mpi")) {
			all = append(all, to)
		}
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		if strings.Contains(line, "gocuda-mpi") {
			all = append(all, line)
		}
	}
	shm, _ := filepath.Glob("/dev/shm/gocuda-mpi*")
	children, _ := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid()))
	return append(append(all, shm...), strings.Fields(string(children))...)
}

func TestJobsLeaveNothingBehind(t *testing.T) {
	before := leftovers(t)
	names := []string{}
	for i := range starts {
		name := "comes and goes"
		switch i % 10 {
		case 3:
			name = "rank 1 is killed in a collective"
		case 7:
			name = "rank 1 aborts"
		}
		r := startRanks(t, 2, name)
		names = append(names, r.hub.seat.name)
		codes := r.wait()
		if name == "comes and goes" && !slices.Equal(codes, []int{0, 0}) {
			t.Fatalf("start %d: %v\n%s\n%s", i, codes, &r.out[0], &r.out[1])
		}
		if err := r.hub.Close(); err != nil {
			t.Fatal(err)
		}
	}
	after := leftovers(t)
	for end := time.Now().Add(time.Minute); !slices.Equal(before, after) && time.Now().Before(end); after = leftovers(t) {
		time.Sleep(time.Millisecond) // goroutines of the hubs are on their way out
	}
	if !slices.Equal(before, after) {
		t.Errorf("before: %q\nafter: %q", before, after)
	}
	sockets, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.Contains(string(sockets), name) {
			t.Errorf("the socket %s is still there", name)
		}
	}
}

func TestFinalizeEndsWhatIsStillGoingOn(t *testing.T) {
	l, err := newLocal(newEngine(0, 1, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	var v int64
	r, err := l.World().Irecv(word(&v), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Finalize(); err != nil {
		t.Fatal(err)
	}
	if _, over, err := r.Test(); !over || err == nil {
		t.Errorf("over %v, %v", over, err)
	}
	_, err = l.World().Irecv(word(&v), 0, 0)
	if err := ofClass(err, transport.Other, "finalized"); err != nil {
		t.Error(err)
	}
}
