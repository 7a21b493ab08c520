package ranks

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"gocuda/kernel/display"
	"gocuda/kernel/session"
)

// dying is a member whose death each of those who wait for it learns of when
// the test says so: the first is the pool's own.
type dying struct {
	mu     sync.Mutex
	asked  int
	pooled chan struct{}
	others chan struct{}
}

func (d *dying) Ended() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.asked++; d.asked == 1 {
		return d.pooled
	}
	return d.others
}

func (d *dying) Execute(session.Cell) session.Result {
	close(d.others)
	return session.Result{Err: session.NewError("EvaluatorDied", "it died")}
}

func (d *dying) Interrupt() {}
func (d *dying) Complete(string, int) (session.Completion, error) {
	return session.Completion{}, session.ErrEnded
}
func (d *dying) Inspect(string, int, int) (*display.Bundle, error) { return nil, session.ErrEnded }
func (d *dying) Where() (session.Place, error)                     { return session.Place{}, session.ErrEnded }
func (d *dying) IsComplete(string) (session.Completeness, error) {
	return session.Completeness{}, session.ErrEnded
}
func (d *dying) InterruptShell(string) {}

func (d *dying) Debug(r json.RawMessage) (json.RawMessage, error) { return r, nil }
func (d *dying) Pid() int                                         { return 0 }
func (d *dying) Death() string                                    { return "the evaluator died" }
func (d *dying) Close() error                                     { return nil }

// page is a host that keeps what is shown.
type page struct{ shown chan string }

func (p page) Show(o session.Output) error        { p.shown <- o.Text; return nil }
func (p page) Judged(id, verdict string) error    { p.shown <- id + verdict; return nil }
func (p page) Input(string, bool) (string, error) { return "", errors.New("nobody is there") }

func TestALostRankIsToldOfOnce(t *testing.T) {
	d := &dying{pooled: make(chan struct{}), others: make(chan struct{})}
	h := page{make(chan string, 10)}
	p := newPool([]*rank{{member: d}}, &local{}, newMerger(1, h.Show), h)
	defer p.close()
	for d.mu.Lock(); d.asked == 0; d.mu.Lock() { // until the pooled waits
		d.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	d.mu.Unlock()
	j, err := p.post(session.Cell{}, []int{0}, 0)
	if err != nil {
		t.Fatal(err)
	}
	<-j.done
	if e := j.err(); e == nil || !strings.Contains(e.Message, "the rank was lost: it died") {
		t.Errorf("the cell ended with %v", e)
	}
	close(d.pooled)
	select {
	case text := <-h.shown:
		t.Errorf("told again: %s", text)
	case <-time.After(200 * time.Millisecond):
	}
	if _, err := p.post(session.Cell{}, []int{0}, 0); err == nil || !strings.Contains(err.Error(), "rank 0 was lost: it died") {
		t.Errorf("another cell: %v", err)
	}
}

// stuck is a member whose first cell ends when it is interrupted. By then the
// notebook has its next cell ready.
type stuck struct {
	dying
	next        func()
	interrupted chan struct{}
	ran         chan string
}

func (s *stuck) Ended() <-chan struct{} { return nil }

func (s *stuck) Execute(c session.Cell) session.Result {
	s.ran <- c.Code
	if c.Code == "stuck" {
		<-s.interrupted
	}
	return session.Result{}
}

func (s *stuck) Interrupt() {
	s.next()
	close(s.interrupted)
}

// After an interrupt the next cell finds the new world, not the old one, in
// which ranks are out of step.
func TestTheNextCellHasTheNewWorld(t *testing.T) {
	for name, c := range map[string]struct {
		timeout time.Duration
		stop    func(p *pool)
	}{
		"interrupt": {0, func(p *pool) { p.interrupt(errors.New("enough")) }},
		"timeout":   {50 * time.Millisecond, func(*pool) {}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stuck{interrupted: make(chan struct{}), ran: make(chan string, 10)}
			h := page{make(chan string, 10)}
			p := newPool([]*rank{{member: s}}, &local{}, newMerger(1, h.Show), h)
			s.next = func() {
				if _, err := p.post(session.Cell{Code: "next"}, []int{0}, 0); err != nil {
					t.Error(err)
				}
			}
			if _, err := p.post(session.Cell{Code: "stuck"}, []int{0}, c.timeout); err != nil {
				t.Fatal(err)
			}
			first := <-s.ran
			c.stop(p)
			if second, third := <-s.ran, <-s.ran; first != "stuck" || second != renewCell || third != "next" {
				t.Errorf("the rank ran %q, %q, %q", first, second, third)
			}
		})
	}
}
