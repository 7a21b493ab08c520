// Package gxf runs application graphs written in YAML, in the manner of
// NVIDIA's Graph Execution Framework: entities are made of components, and the
// codelets among them tick when their scheduling terms allow it. Codelets
// exchange messages over transmitters and receivers, and work on the GPU is
// passed on without a waiting CPU by [streamsync] objects.
//
// Each document of the YAML source is an entity. Components are known by the
// last part of their type's name, so nvidia::gxf::DoubleBufferReceiver and
// DoubleBufferReceiver are the same:
//
//	DoubleBufferTransmitter       where a codelet publishes
//	DoubleBufferReceiver          capacity (1): where messages wait for a codelet
//	Connection                    source, target: a transmitter's messages go to a receiver
//	CountSchedulingTerm           count: the entity's codelets tick so many times
//	MessageAvailableSchedulingTerm          receiver, min_size (1): tick when so many messages wait
//	DownstreamReceptiveSchedulingTerm       transmitter, min_size (1): tick when there is room for so many
//	StreamSync                    signaler, waiter: a sync object (streamsync's types as numbers);
//	                              signaler_device_id, waiter_device_id: the streams' devices, others are refused
//	BlockMemoryPool               storage_type 1, block_size (bytes), num_blocks, dev_id (0): device memory
//	GreedyScheduler               max_duration_ms: end with an error when it takes longer
//	RealtimeClock                 accepted; this is the only clock
//
// Any other type is a codelet's, and must be given by [Application.Register].
// A parameter that names a component of another entity is written entity/component.
package gxf

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/streamsync"
)

// Codelet is a piece of work. Start and Stop, which may be nil, are called once
// each, Tick whenever the scheduling terms of its entity allow it. An error
// ends the application.
type Codelet struct {
	Start, Tick, Stop func(*Context) error
}

// Message is what codelets exchange: named values.
type Message struct {
	names  []string
	values []any
}

// NewMessage makes an empty message.
func NewMessage() *Message { return &Message{} }

// Add puts a value into the message. A name can be added once.
func (m *Message) Add(name string, value any) error {
	if slices.Contains(m.names, name) {
		return fmt.Errorf("gxf: the message holds %q already", name)
	}
	m.names, m.values = append(m.names, name), append(m.values, value)
	return nil
}

// Get gives a value of the message.
func (m *Message) Get(name string) (any, error) {
	if i := slices.Index(m.names, name); i >= 0 {
		return m.values[i], nil
	}
	return nil, fmt.Errorf("gxf: the message has no %q; it holds %s", name, listed(m.names))
}

func listed(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// Pool is a BlockMemoryPool: device memory in blocks of one size.
type Pool struct {
	all  *cuda.Buffer
	free []*cuda.Buffer
	name string
}

// Acquire takes a block, as bytes (see [cuda.Buffer.As]). It does not wait: an
// empty pool is an error.
func (p *Pool) Acquire() (*cuda.Buffer, error) {
	if len(p.free) == 0 {
		return nil, fmt.Errorf("gxf: no block is free in %s; release blocks, or raise its num_blocks", p.name)
	}
	b := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	return b, nil
}

// Release gives a block back. Work on it that is still queued must be ordered
// before the work of whoever acquires it next: by the same stream, or a
// StreamSync.
func (p *Pool) Release(b *cuda.Buffer) error {
	first := p.all.Address()
	if b == nil || b.Address() < first || b.Address() >= first+uintptr(p.all.Bytes()) {
		return fmt.Errorf("gxf: Release: not a block of %s", p.name)
	}
	if slices.ContainsFunc(p.free, func(f *cuda.Buffer) bool { return f.Address() == b.Address() }) {
		return fmt.Errorf("gxf: Release: the block is free in %s already", p.name)
	}
	bytes, err := b.As(cuda.Uint8)
	if err != nil {
		return err
	}
	p.free = append(p.free, bytes)
	return nil
}

// Context is a codelet's view of its application.
type Context struct {
	app  *Application
	self *component
	tick int
}

// Tick is how many times the codelet ticked before: 0 in Start and in the first Tick.
func (c *Context) Tick() int { return c.tick }

// Name is the codelet's name, as entity/component.
func (c *Context) Name() string { return c.self.path() }

// Int gives a parameter of the codelet, a whole number.
func (c *Context) Int(parameter string) (int, error) { return c.self.integer(parameter) }

// Float gives a parameter of the codelet, a number.
func (c *Context) Float(parameter string) (float64, error) {
	var f float64
	return f, c.self.decode(parameter, &f)
}

// Text gives a parameter of the codelet as text.
func (c *Context) Text(parameter string) (string, error) {
	var s string
	return s, c.self.decode(parameter, &s)
}

// Sync gives the StreamSync that a parameter of the codelet names, allocated.
// The codelets set its streams.
func (c *Context) Sync(parameter string) (*streamsync.StreamSync, error) {
	t, err := c.app.target(c.self, parameter, "StreamSync")
	if err != nil {
		return nil, err
	}
	return t.sync, nil
}

// Pool gives the BlockMemoryPool that a parameter of the codelet names.
func (c *Context) Pool(parameter string) (*Pool, error) {
	t, err := c.app.target(c.self, parameter, "BlockMemoryPool")
	if err != nil {
		return nil, err
	}
	return t.pool, nil
}

// Publish sends a message to the receivers that the transmitter named by a
// parameter of the codelet is connected to. It does not wait: where there is
// no room, that is an error, which a DownstreamReceptiveSchedulingTerm avoids.
// A transmitter without a connection drops the message.
func (c *Context) Publish(parameter string, m *Message) error {
	t, err := c.app.target(c.self, parameter, "DoubleBufferTransmitter")
	if err != nil {
		return err
	}
	if m == nil {
		return fmt.Errorf("gxf: %s publishes a nil message", c.Name())
	}
	for _, r := range t.peers {
		if len(r.queue) >= r.capacity {
			return fmt.Errorf("gxf: %s: no room in %s (capacity %d); a DownstreamReceptiveSchedulingTerm on %s would wait for it", c.Name(), r.path(), r.capacity, t.path())
		}
	}
	for _, r := range t.peers {
		r.queue = append(r.queue, m)
	}
	return nil
}

// Receive takes the oldest message of the receiver that a parameter of the
// codelet names. It does not wait: an empty receiver is an error, which a
// MessageAvailableSchedulingTerm avoids.
func (c *Context) Receive(parameter string) (*Message, error) {
	r, err := c.app.target(c.self, parameter, "DoubleBufferReceiver")
	if err != nil {
		return nil, err
	}
	if len(r.queue) == 0 {
		return nil, fmt.Errorf("gxf: %s: no message in %s; a MessageAvailableSchedulingTerm would wait for one", c.Name(), r.path())
	}
	m := r.queue[0]
	r.queue = r.queue[1:]
	return m, nil
}

// Register says what codelets of a type do; the type is known by the last part
// of its name. Each component of that type gets a Codelet of its own from make.
func (a *Application) Register(typ string, make func() Codelet) error {
	short := shortType(typ)
	if _, ok := components[short]; ok {
		return fmt.Errorf("gxf: Register: %s is a built-in component", short)
	}
	if make == nil {
		return fmt.Errorf("gxf: Register(%s): the function is nil", typ)
	}
	if !slices.ContainsFunc(a.all, func(c *component) bool { return c.typ == short }) {
		var open []string
		for _, c := range a.all {
			if _, ok := components[c.typ]; !ok && !slices.Contains(open, c.typ) {
				open = append(open, c.typ)
			}
		}
		return fmt.Errorf("gxf: Register: the application has no component of type %s; its codelets are %s", short, listed(open))
	}
	a.makers[short] = make
	return nil
}

// Ticks says how often each codelet has ticked in the last Run, by entity/component.
func (a *Application) Ticks() map[string]int {
	n := map[string]int{}
	for _, c := range a.all {
		if c.codelet != nil {
			n[c.path()] = c.ticks
		}
	}
	return n
}

var errNoTick = errors.New("the codelet has no Tick")
