package ranks

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"gocuda/kernel/display"
	"gocuda/kernel/session"
)

// dying is a member whose death each of those who wait for it learns of when
// the test says so: the first is the pool's mourner.
type dying struct {
	mu      sync.Mutex
	asked   int
	mourner chan struct{}
	others  chan struct{}
}

func (d *dying) Ended() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.asked++; d.asked == 1 {
		return d.mourner
	}
	return d.others
}

func (d *dying) Execute(session.Cell) session.Result {
	close(d.others)
	return session.Result{Err: newError("EvaluatorDied", "it died")}
}

func (d *dying) Interrupt() {}
func (d *dying) Complete(string, int) (session.Completion, error) {
	return session.Completion{}, errGone
}
func (d *dying) Inspect(string, int, int) (*display.Bundle, error) { return nil, errGone }
func (d *dying) Where() (session.Place, error)                     { return session.Place{}, errGone }
func (d *dying) Pid() int                                          { return 0 }
func (d *dying) Death() string                                     { return "the evaluator died" }
func (d *dying) Close() error                                      { return nil }

// page is a host that keeps what is shown.
type page struct{ shown chan string }

func (p page) Show(o session.Output) error        { p.shown <- o.Text; return nil }
func (p page) Input(string, bool) (string, error) { return "", errors.New("nobody is there") }

func TestALostRankIsToldOfOnce(t *testing.T) {
	d := &dying{mourner: make(chan struct{}), others: make(chan struct{})}
	h := page{make(chan string, 10)}
	p := newPool([]*rank{{member: d}}, &local{}, newMerger(1, h.Show), h)
	defer p.close()
	for d.mu.Lock(); d.asked == 0; d.mu.Lock() { // until the mourner waits
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
	close(d.mourner)
	select {
	case text := <-h.shown:
		t.Errorf("told again: %s", text)
	case <-time.After(200 * time.Millisecond):
	}
	if _, err := p.post(session.Cell{}, []int{0}, 0); err == nil || !strings.Contains(err.Error(), "rank 0 was lost: it died") {
		t.Errorf("another cell: %v", err)
	}
}
