package kernel

import (
	"encoding/json"
	"sync"
	"time"

	"gocuda/kernel/wire"
)

// debugRequest is what a debug_request carries: a request of the Debug Adapter
// Protocol.
type debugRequest struct {
	Seq       int    `json:"seq"`
	Command   string `json:"command"`
	Arguments struct {
		Code   string `json:"code"`
		Source struct {
			Path string `json:"path"`
		} `json:"source"`
	} `json:"arguments"`
}

// debugging is what is known of the debugger's client, so that an evaluator that takes
// the place of another is debugged, too.
type debugging struct {
	mu    sync.Mutex
	order []string
	said  map[string]json.RawMessage // by what a later request of its kind replaces
}

// keep notes a request that sets something.
func (d *debugging) keep(r debugRequest, message json.RawMessage) {
	key := r.Command
	switch r.Command {
	case "initialize", "attach", "launch", "setExceptionBreakpoints":
	case "dumpCell":
		key += " " + r.Arguments.Code
	case "setBreakpoints":
		key += " " + r.Arguments.Source.Path
	case "disconnect", "terminate":
		d.mu.Lock()
		defer d.mu.Unlock()
		d.order, d.said = nil, nil
		return
	default:
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.said == nil {
		d.said = make(map[string]json.RawMessage)
	}
	if _, ok := d.said[key]; !ok {
		d.order = append(d.order, key)
	}
	d.said[key] = message
}

// requests are those that were kept, in order.
func (d *debugging) requests() (list []json.RawMessage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range d.order {
		list = append(list, d.said[key])
	}
	return list
}

// debug answers a request of the Debug Adapter Protocol. The evaluator does, also
// while a cell runs or stands still.
func (k *kernel) debug(r *request) (any, error) {
	var asked debugRequest
	if err := r.decode(&asked); err != nil {
		return nil, err
	}
	e, err := k.evaluator.get()
	if err == nil {
		k.debugging.keep(asked, r.Content)
		var response json.RawMessage
		if response, err = e.Debug(r.Content); err == nil {
			return response, nil
		}
	}
	return map[string]any{
		"type": "response", "request_seq": asked.Seq, "seq": asked.Seq, "success": false,
		"command": asked.Command, "message": err.Error(), "body": map[string]any{},
	}, nil
}

// debugAgain tells an evaluator that has taken the place of another what the debugger's
// client set.
func (k *kernel) debugAgain() {
	e, err := k.evaluator.get()
	if err != nil {
		return
	}
	for _, m := range k.debugging.requests() {
		if _, err := e.Debug(m); err != nil {
			k.log.Info("not debugged", "error", err)
		}
	}
}

// debugPatience is how long a request of the debugger may take until the next is looked at.
const debugPatience = 200 * time.Millisecond

// handleDebug answers the debugger's requests in their order. One that takes long, such as
// an expression that waits, holds up neither an interrupt nor the next.
func (k *kernel) handleDebug() {
	for {
		select {
		case m := <-k.debugs:
			done := make(chan struct{})
			go func() {
				defer close(done)
				k.handle(wire.Control, nil, m)
			}()
			select {
			case <-done:
			case <-time.After(debugPatience):
			case <-k.stop:
				return
			}
		case <-k.stop:
			return
		}
	}
}
