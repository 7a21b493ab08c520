package kernel

import (
	"encoding/json"
	"fmt"
	"sync"

	"gocuda/kernel/wire"
)

// CommTarget takes part in a comm that a front end opened: a channel for
// messages of a kind of their own, as widgets use it. Its functions run on the
// goroutine that handles shell requests.
type CommTarget interface {
	// Open begins a comm. An error refuses it: the front end is told that
	// it is closed.
	Open(comm *Comm, data json.RawMessage, buffers [][]byte) error
	Message(comm *Comm, data json.RawMessage, buffers [][]byte)
	Closed(comm *Comm, data json.RawMessage)
}

// Comm is an open comm.
type Comm struct {
	ID     string
	Target string

	comms  *comms
	target CommTarget
}

// Send sends a message to the front ends' side of the comm.
func (c *Comm) Send(data any, buffers ...[]byte) error {
	return c.comms.publish("comm_msg", c.ID, data, buffers)
}

// Close closes the comm from the kernel's side.
func (c *Comm) Close(data any) error {
	c.comms.remove(c.ID)
	return c.comms.publish("comm_close", c.ID, data, nil)
}

// comms are the comms that are open.
type comms struct {
	kernel *kernel

	mu     sync.Mutex
	open   map[string]*Comm
	parent *wire.Message // the comm message being handled
}

func newComms(k *kernel) *comms { return &comms{kernel: k, open: map[string]*Comm{}} }

func (c *comms) publish(kind, id string, data any, buffers [][]byte) error {
	if data == nil {
		data = object(nil)
	}
	c.mu.Lock()
	parent := c.parent
	c.mu.Unlock()
	return c.kernel.sockets.Publish(wire.Outgoing{
		Type: kind, Parent: parent, Buffers: buffers,
		Content: map[string]any{"comm_id": id, "data": data},
	})
}

func (c *comms) get(id string) *Comm {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[id]
}

func (c *comms) remove(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, id)
}

func (c *comms) setParent(m *wire.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.parent = m
}

type commContent struct {
	ID     string          `json:"comm_id"`
	Target string          `json:"target_name"`
	Data   json.RawMessage `json:"data"`
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
	for id, c := range k.comms.open {
		if asked.Target == nil || *asked.Target == c.Target {
			list[id] = map[string]string{"target_name": c.Target}
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
	k.comms.setParent(r.Message)
	defer k.comms.setParent(nil)
	target, known := k.options.CommTargets[asked.Target]
	if !known {
		k.comms.publish("comm_close", asked.ID, nil, nil)
		return nil, fmt.Errorf("no comm target %q", asked.Target)
	}
	comm := &Comm{ID: asked.ID, Target: asked.Target, comms: k.comms, target: target}
	k.comms.mu.Lock()
	k.comms.open[asked.ID] = comm
	k.comms.mu.Unlock()
	if err := target.Open(comm, asked.Data, r.Buffers); err != nil {
		comm.Close(nil)
		return nil, err
	}
	return nil, nil
}

func (k *kernel) commMsg(r *request) (any, error) {
	comm, asked, err := k.openComm(r)
	if err != nil {
		return nil, err
	}
	k.comms.setParent(r.Message)
	defer k.comms.setParent(nil)
	comm.target.Message(comm, asked.Data, r.Buffers)
	return nil, nil
}

func (k *kernel) commClose(r *request) (any, error) {
	comm, asked, err := k.openComm(r)
	if err != nil {
		return nil, err
	}
	k.comms.setParent(r.Message)
	defer k.comms.setParent(nil)
	k.comms.remove(comm.ID)
	comm.target.Closed(comm, asked.Data)
	return nil, nil
}

func (k *kernel) openComm(r *request) (*Comm, commContent, error) {
	var asked commContent
	if err := r.decode(&asked); err != nil {
		return nil, asked, err
	}
	comm := k.comms.get(asked.ID)
	if comm == nil {
		return nil, asked, fmt.Errorf("no open comm %q", asked.ID)
	}
	return comm, asked, nil
}
