package kernel

import (
	"encoding/json"
	"time"

	"gocuda/kernel/session"
	"gocuda/kernel/wire"
)

const (
	// attendAfter is how long a cell runs until requests that came after it are
	// answered beside it. Those of a client that does not wait for replies are
	// answered in their order until then: what a short cell declares is completed.
	attendAfter = 100 * time.Millisecond
	// maxEvents bounds how many events wait while a cell runs; more wait after it.
	maxEvents = 256
)

// besides are the requests that are answered while a cell runs: nothing of them
// changes what cells declare.
var besides = map[string]bool{
	"kernel_info_request": true, "is_complete_request": true, "complete_request": true, "inspect_request": true,
	"history_request": true, "comm_info_request": true,
}

// events are widgets' messages, which are handled in order.
var events = map[string]bool{"comm_open": true, "comm_msg": true, "comm_close": true}

// attended runs a cell in the main shell's loop. When that takes long, requests are
// answered beside it.
func (k *kernel) attended(run func() session.Result) session.Result {
	stop, done := make(chan struct{}), make(chan struct{})
	later := time.AfterFunc(attendAfter, func() {
		defer close(done)
		k.attend(stop)
	})
	result := run()
	if !later.Stop() {
		close(stop)
		<-done
	}
	return result
}

// attend answers what can be answered while the shell's loop runs a cell, and puts
// the rest aside for the loop, in order.
func (k *kernel) attend(stop <-chan struct{}) {
	arrived := k.main.arrivals
	var rest []*wire.Message
	waiting := k.main.waiting
	defer func() { k.main.waiting = append(rest, waiting...) }()
	full := false // then the events that come wait for the cell as well
	for {
		var m *wire.Message
		if len(waiting) > 0 {
			m, waiting = waiting[0], waiting[1:]
		} else {
			select {
			case m = <-arrived:
			case <-stop:
				return
			}
		}
		full = full || len(k.eventsIn) == cap(k.eventsIn)
		switch {
		case besides[m.Header.Type]:
			k.answerBeside(k.main, m)
		case events[m.Header.Type] && !full:
			k.beside.Add(1)
			k.eventsIn <- m // nobody else sends
		case k.missed(m, rest):
			go k.answerBeside(newShell("output", nil), m)
		default:
			rest = append(rest, m)
		}
		select {
		case <-stop:
			return
		default:
		}
	}
}

// missed says whether a client asks for outputs that it did not see: those of a cell that
// another one runs. Of a client that runs cells itself, %output comes after these.
func (k *kernel) missed(m *wire.Message, before []*wire.Message) bool {
	var asked executeRequest
	if m.Header.Type != "execute_request" || json.Unmarshal(m.Content, &asked) != nil {
		return false
	}
	if _, yes, _ := outputOf(asked.Code); !yes || asked.Silent {
		return false
	}
	for _, other := range append(before, k.main.cell.asked()) {
		if other != nil && other.Header.Session == m.Header.Session {
			return false
		}
	}
	return true
}

// handleEvents handles the events that came while cells ran, one after the other.
func (k *kernel) handleEvents() {
	for m := k.next(k.events); m != nil; m = k.next(k.events) {
		k.answerBeside(k.events, m)
		k.beside.Done()
	}
	for len(k.eventsIn) > 0 {
		<-k.eventsIn
		k.beside.Done()
	}
}

// answerBeside answers a request while a cell runs. Front ends take the last status
// for the kernel's, which is busy as long as the cell runs.
func (k *kernel) answerBeside(s *shell, m *wire.Message) {
	k.handle(wire.Shell, s, m)
	c := &k.main.cell
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase == running {
		k.status(c.parent, "busy")
	}
}
