package kernel

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"gocuda/kernel/session"
	"gocuda/kernel/wire"
)

// comms are the open comms, the channels between widgets and their pictures. Their
// ends are in the evaluator; here it is known which there are.
type comms struct {
	mu   sync.Mutex
	open map[string]string // target by id
}

func (c *comms) set(id, target string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[id] = target
}

func (c *comms) get(id string) (target string, open bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	target, open = c.open[id]
	return target, open
}

func (c *comms) remove(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, id)
}

// clear forgets all, and lists them.
func (c *comms) clear() (ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.open {
		ids = append(ids, id)
	}
	clear(c.open)
	return ids
}

// evaluatorTargets are the targets of comms that a front end may open: those of the
// widgets' protocol.
var evaluatorTargets = map[string]bool{"jupyter.widget": true, "jupyter.widget.control": true}

type commContent struct {
	ID     string          `json:"comm_id"`
	Target string          `json:"target_name,omitempty"`
	Data   json.RawMessage `json:"data"`
}

// publishComm sends what a widget tells the front ends.
func (k *kernel) publishComm(parent *wire.Message, m *session.Comm) {
	content := commContent{m.ID, m.Target, m.Data}
	if content.Data == nil {
		content.Data = json.RawMessage("{}")
	}
	switch m.Type {
	case "open":
		k.comms.set(m.ID, m.Target)
	case "close":
		k.comms.remove(m.ID)
	}
	if answered, _ := k.ofCell(m.Parent); answered != nil {
		parent = answered
	}
	out := wire.Outgoing{Type: "comm_" + m.Type, Parent: parent, Buffers: m.Buffers, Content: content}
	if m.Metadata != nil {
		out.Metadata = m.Metadata
	}
	if err := k.sockets.Publish(out); err != nil {
		k.log.Warn("cannot publish", "error", err)
	}
}

// closeComms tells the front ends that the widgets of an evaluator that has ended
// are gone.
func (k *kernel) closeComms(parent *wire.Message) {
	k.captures.mu.Lock()
	defer k.captures.mu.Unlock()
	for _, id := range k.comms.clear() {
		for _, o := range k.captures.Take(closing(id), "", 0) {
			k.publishComm(parent, o.Comm)
		}
	}
}

func closing(id string) session.Output {
	return session.Output{Kind: session.ToComm, Comm: &session.Comm{Type: "close", ID: id}}
}

// commInfo lists the open comms, all or those of one target.
func (k *kernel) commInfo(r *request) (any, error) {
	var asked struct {
		Target *string `json:"target_name"`
	}
	if err := r.decode(&asked); err != nil {
		return nil, err
	}
	k.comms.mu.Lock()
	defer k.comms.mu.Unlock()
	list := map[string]any{}
	for id, target := range k.comms.open {
		if asked.Target == nil || *asked.Target == target {
			list[id] = map[string]string{"target_name": target}
		}
	}
	return map[string]any{"status": "ok", "comms": list}, nil
}

// commOpen opens a comm, or answers comm_close where nobody takes that target.
func (k *kernel) commOpen(r *request) (any, error) {
	var asked commContent
	if err := r.decode(&asked); err != nil {
		return nil, err
	}
	if _, open := k.comms.get(asked.ID); open || asked.ID == "" {
		return nil, fmt.Errorf("comm_open needs a comm_id that no open comm has, not %q", asked.ID)
	}
	if !evaluatorTargets[asked.Target] {
		k.publishComm(r.Message, &session.Comm{Type: "close", ID: asked.ID})
		return nil, fmt.Errorf("no comm target %q", asked.Target)
	}
	k.comms.set(asked.ID, asked.Target)
	k.event(r, &session.Comm{Type: "open", ID: asked.ID, Target: asked.Target, Data: asked.Data, Buffers: r.Buffers})
	return nil, nil
}

// commMsg hands a message on, such as that a slider was moved.
func (k *kernel) commMsg(r *request) (any, error) { return nil, k.passOn(r, "msg") }

func (k *kernel) commClose(r *request) (any, error) {
	err := k.passOn(r, "close")
	return nil, err
}

func (k *kernel) passOn(r *request, kind string) error {
	var asked commContent
	if err := r.decode(&asked); err != nil {
		return err
	}
	target, open := k.comms.get(asked.ID)
	if !open {
		return fmt.Errorf("no open comm %q", asked.ID)
	}
	if kind == "close" {
		k.comms.remove(asked.ID)
		k.captures.mu.Lock()
		k.tellCaptured()
		k.captures.Take(closing(asked.ID), "", 0)
		k.captures.mu.Unlock()
	}
	k.event(r, &session.Comm{Type: kind, ID: asked.ID, Target: target, Data: asked.Data, Buffers: r.Buffers})
	return nil
}

// event has the evaluator run what is registered for a message of a comm. Outputs
// are sent in the message's name; a failure is one of them.
func (k *kernel) event(r *request, m *session.Comm) {
	m.Parent = r.Header.ID
	s := r.shell
	if s == k.main {
		k.beside.Wait() // for those before it
		defer s.announceEvent(r.Message)()
	} else {
		s.announce(r.Message, 0, executeRequest{})
	}
	result := k.evaluate(s, session.Cell{Name: "event", Comm: m, Message: r.Header.ID})
	k.finish(s)
	k.tellFailure(r, result)
}

func (k *kernel) tellFailure(r *request, result session.Result) {
	if result.Err != nil {
		k.publish("stream", r.Message, map[string]string{"name": "stderr", "text": strings.Join(newFailure(result.Err).Traceback, "\n") + "\n"})
	}
	if result.Restarted {
		k.closeComms(r.Message)
	}
}
