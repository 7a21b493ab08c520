package kernel

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"gocuda/kernel/display"
	"gocuda/kernel/session"
	"gocuda/kernel/wire"
)

// cell is the cell that runs, or ran last: outputs and questions are sent in
// its name.
type cell struct {
	mu     sync.Mutex
	parent *wire.Message
	count  int
	silent bool
	input  bool // the front end takes input requests
	value  string

	phase     phase
	evaluator session.Evaluator // that runs it
	interrupt chan struct{}     // closed when the cell is interrupted
	missed    *wire.Message     // an interrupt request that found no cell
}

// runs says whether the cell has begun, and has not ended.
func (c *cell) runs() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.phase != idle
}

// asked is the message that the cell came by; nil: there was none yet.
func (c *cell) asked() *wire.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.parent
}

type phase int

const (
	idle      phase = iota
	announced       // the cell is known; the evaluator has not got it yet
	running
)

// interruptAgain is when an interrupt is repeated. The first one is lost on a
// cell that the evaluator was just about to take.
const interruptAgain = 100 * time.Millisecond

// overtakeTime is by how much an interrupt request may overtake its cell: they
// come over two connections.
const overtakeTime = 5 * time.Second

type executeRequest struct {
	Code            string            `json:"code"`
	Silent          bool              `json:"silent"`
	StoreHistory    bool              `json:"store_history"`
	UserExpressions map[string]string `json:"user_expressions"`
	AllowStdin      bool              `json:"allow_stdin"`
	StopOnError     bool              `json:"stop_on_error"`
}

type executeReply struct {
	Status          string           `json:"status"`
	ExecutionCount  int              `json:"execution_count"`
	UserExpressions map[string]any   `json:"user_expressions"`
	Payload         []map[string]any `json:"payload"`
	*failure
}

// failure is an error as Jupyter shows it.
type failure struct {
	Name      string   `json:"ename"`
	Value     string   `json:"evalue"`
	Traceback []string `json:"traceback"`
}

func newFailure(e *session.Error) *failure {
	return &failure{e.Name, e.Message, e.Shown()}
}

// execute runs a cell.
func (k *kernel) execute(r *request) (any, error) {
	asked := executeRequest{StoreHistory: true, AllowStdin: true, StopOnError: true}
	if err := r.decode(&asked); err != nil {
		return nil, err
	}
	asked.StoreHistory = asked.StoreHistory && !asked.Silent
	empty := strings.TrimSpace(asked.Code) == ""

	s := r.shell
	reply := executeReply{Status: "ok", ExecutionCount: int(k.count.Load()), UserExpressions: map[string]any{}, Payload: []map[string]any{}}
	if failed, yes := k.aborted(s, r.Message); yes {
		reply.Status = "error"
		reply.failure = newFailure(&session.Error{Name: "Aborted", Message: "not run, because " + failed + " failed"})
		return reply, nil
	}
	r.metadata = map[string]any{"started": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")}

	var count int
	switch {
	case asked.StoreHistory && !empty:
		count = int(k.count.Add(1))
	case asked.Silent || empty:
		count = int(k.count.Load())
	default:
		count = int(k.count.Load()) + 1
	}
	reply.ExecutionCount = count
	s.announce(r.Message, count, asked)
	if !asked.Silent {
		k.publish("execute_input", r.Message, map[string]any{"code": asked.Code, "execution_count": count})
	}
	if empty && len(asked.UserExpressions) == 0 {
		k.finish(s)
		return reply, nil
	}
	name := fmt.Sprintf("In[%d]", count)
	if asked.StoreHistory && !empty {
		k.history.addInput(count, asked.Code)
	}

	if m, yes, err := outputOf(asked.Code); yes && !asked.Silent {
		failed := (*session.Error)(nil)
		if err != nil {
			failed = &session.Error{Name: "UsageError", Message: err.Error()}
		} else {
			failed = k.showOutputs(r, m)
		}
		k.finish(s)
		if failed != nil {
			k.failed(r, &reply, name, failed, asked)
		}
		return reply, nil
	}
	if !asked.Silent && !empty {
		k.kept.begin(r.Header.ID, count)
	}
	result := k.evaluate(s, session.Cell{
		Name: name, Code: asked.Code, Silent: asked.Silent, Message: r.Header.ID,
		AllowInput: asked.AllowStdin, Expressions: asked.UserExpressions,
	})
	s.client(r.Message).replied = time.Now()
	if value := k.finish(s); value != "" && asked.StoreHistory {
		k.history.addOutput(count, value)
	}

	if result.Restarted {
		k.closeComms(r.Message)
		k.debugAgain()
	}
	for name, e := range result.Expressions {
		reply.UserExpressions[name] = expression(e)
	}
	if result.NextInput != nil {
		reply.Payload = append(reply.Payload, map[string]any{
			"source": "set_next_input", "text": *result.NextInput, "replace": false})
	}
	if result.Pager != nil {
		reply.Payload = append(reply.Payload, map[string]any{
			"source": "page", "data": object(result.Pager.Data), "start": 0})
	}
	if result.Err != nil {
		k.failed(r, &reply, name, result.Err, asked)
	}
	k.kept.end(r.Header.ID, reply.failure)
	return reply, nil
}

// failed tells that a cell failed.
func (k *kernel) failed(r *request, reply *executeReply, name string, e *session.Error, asked executeRequest) {
	reply.Status = "error"
	reply.failure = newFailure(e)
	if asked.StopOnError {
		k.fail(r.shell, r.Message, name)
	}
	if !asked.Silent {
		k.publish("error", r.Message, reply.failure)
	}
}

// evaluate hands the cell to the evaluator, unless it was interrupted while the
// evaluator started.
func (k *kernel) evaluate(s *shell, c session.Cell) session.Result {
	e, err := k.evaluator.get()
	if err != nil {
		return session.Result{Err: &session.Error{Name: "EvaluatorError", Message: err.Error()}}
	}
	if !s.begin(e) {
		return session.Result{Err: &session.Error{Name: "Interrupted", Message: "interrupted before it began"}}
	}
	if s != k.main {
		c.Shell = s.id
		return e.Execute(c)
	}
	return k.attended(func() session.Result { return e.Execute(c) })
}

// announce makes a cell the one in whose name outputs are sent.
func (s *shell) announce(parent *wire.Message, count int, asked executeRequest) {
	c := &s.cell
	c.mu.Lock()
	defer c.mu.Unlock()
	c.parent, c.count, c.silent, c.input, c.value = parent.Envelope(), count, asked.Silent, asked.AllowStdin, ""
	c.phase, c.interrupt = announced, make(chan struct{})
	if m := c.missed; m != nil && m.Header.Session == parent.Header.Session &&
		parent.Sent().Before(m.Sent()) && parent.Received.Sub(m.Received) < overtakeTime {
		close(c.interrupt)
	}
	c.missed = nil
}

// announceEvent is announce for an event in the front end. What it returns gives
// later outputs, of goroutines that go on, back to the last cell.
func (s *shell) announceEvent(parent *wire.Message) (restore func()) {
	c := &s.cell
	c.mu.Lock()
	before, count, silent, value := c.parent, c.count, c.silent, c.value
	c.mu.Unlock()
	s.announce(parent, count, executeRequest{})
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.parent, c.silent, c.value = before, silent, value
	}
}

// begin marks the cell as running, or says false if it was interrupted before.
func (s *shell) begin(e session.Evaluator) bool {
	c := &s.cell
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.interrupt:
		return false
	default:
		c.phase, c.evaluator = running, e
		return true
	}
}

// finish ends the cell and returns the text of its value. Outputs that come
// later, from goroutines that go on, are still sent in its name.
func (k *kernel) finish(s *shell) (value string) {
	k.endCaptured()
	c := &s.cell
	c.mu.Lock()
	parent := c.parent
	value = c.value
	c.phase, c.evaluator, c.input = idle, nil, false
	c.mu.Unlock()
	if s != k.main {
		k.ran(parent)
	}
	return value
}

// interrupt makes the running cell end soon. A cell that waits for input gets
// an error instead of a line. The request is nil for a signal.
func (s *shell) interrupt(request *wire.Message) {
	c := &s.cell
	c.mu.Lock() // until the end, so that no later cell is hit
	defer c.mu.Unlock()
	if c.phase == idle {
		c.missed = request
		return
	}
	select {
	case <-c.interrupt:
	default:
		close(c.interrupt)
	}
	if c.phase == running {
		s.stopCell(c.evaluator)
		interrupted := c.interrupt
		time.AfterFunc(interruptAgain, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.phase == running && c.interrupt == interrupted {
				s.stopCell(c.evaluator)
			}
		})
	}
}

func expression(e session.Expression) any {
	if e.Err != nil {
		return struct {
			Status string `json:"status"`
			*failure
		}{"error", newFailure(e.Err)}
	}
	value := display.Bundle{}
	if e.Value != nil {
		value = *e.Value
	}
	return map[string]any{"status": "ok", "data": object(value.Data), "metadata": object(value.Metadata)}
}
