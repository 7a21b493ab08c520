package gxf

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/streamsync"
)

// Run makes the sync objects and pools, starts the codelets, and lets them
// tick, one after another, until none can tick any more; then it stops them
// and frees what it made. It may be called again.
//
// It is an error when an entity's count is not used up, or messages remain,
// and nothing can tick: the error says what each entity waits for. An error of
// a codelet ends the run and names the codelet.
func (a *Application) Run() (err error) {
	defer func() { err = errors.Join(err, a.release()) }()
	if err := a.prepare(); err != nil {
		return err
	}
	var started []*component
	defer func() {
		for _, c := range started {
			if c.codelet.Stop != nil {
				err = errors.Join(err, c.failed("Stop", c.codelet.Stop(&Context{a, c, c.ticks})))
			}
		}
	}()
	for _, c := range a.all {
		if c.codelet == nil {
			continue
		}
		if c.codelet.Start != nil {
			if err := c.codelet.Start(&Context{a, c, 0}); err != nil {
				return c.failed("Start", err)
			}
		}
		started = append(started, c)
	}
	begin := time.Now()
	for {
		ticked := false
		for _, c := range started {
			waits, err := a.waitsFor(c)
			if err != nil {
				return err
			}
			if waits != "" {
				continue
			}
			if a.limit > 0 && time.Since(begin) > time.Duration(a.limit)*time.Millisecond {
				return fmt.Errorf("gxf: the application takes longer than its max_duration_ms, %d", a.limit)
			}
			if err := c.codelet.Tick(&Context{a, c, c.ticks}); err != nil {
				return c.failed(fmt.Sprintf("Tick %d", c.ticks), err)
			}
			c.ticks++
			ticked = true
		}
		if !ticked {
			return a.finished(started)
		}
	}
}

func (c *component) failed(call string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("gxf: %s of %s: %w", call, c.path(), err)
}

// terms are the scheduling terms of a codelet's entity.
func (a *Application) terms(c *component) []*component {
	var terms []*component
	for _, t := range a.all {
		if t.entity == c.entity && strings.HasSuffix(t.typ, "SchedulingTerm") {
			terms = append(terms, t)
		}
	}
	return terms
}

// waitsFor says what keeps a codelet from ticking; "" when nothing does.
func (a *Application) waitsFor(c *component) (string, error) {
	for _, t := range a.terms(c) {
		size, err := t.natural("min_size", 1)
		if err != nil {
			return "", err
		}
		switch t.typ {
		case "CountSchedulingTerm":
			count, err := t.integer("count")
			if err != nil {
				return "", err
			}
			if c.ticks >= count {
				return "nothing: its count is used up", nil
			}
		case "MessageAvailableSchedulingTerm":
			r, err := a.target(t, "receiver", "DoubleBufferReceiver")
			if err != nil {
				return "", err
			}
			if len(r.queue) < size {
				return fmt.Sprintf("messages in %s (%d of %d)", r.path(), len(r.queue), size), nil
			}
		case "DownstreamReceptiveSchedulingTerm":
			x, err := a.target(t, "transmitter", "DoubleBufferTransmitter")
			if err != nil {
				return "", err
			}
			for _, r := range x.peers {
				if r.capacity-len(r.queue) < size {
					return fmt.Sprintf("room in %s (%d of %d messages)", r.path(), len(r.queue), r.capacity), nil
				}
			}
		}
	}
	return "", nil
}

// finished says whether an application in which nothing can tick is done.
func (a *Application) finished(codelets []*component) error {
	var stuck []string
	for _, c := range a.all {
		if len(c.queue) > 0 {
			stuck = append(stuck, fmt.Sprintf("%d messages remain in %s", len(c.queue), c.path()))
		}
	}
	for _, c := range codelets {
		for _, t := range a.terms(c) {
			if t.typ != "CountSchedulingTerm" {
				continue
			}
			if count, err := t.integer("count"); err == nil && c.ticks < count {
				waits, _ := a.waitsFor(c)
				stuck = append(stuck, fmt.Sprintf("%s ticked %d of %d times and waits for %s", c.path(), c.ticks, count, waits))
			}
		}
	}
	if len(stuck) > 0 {
		return errors.New("gxf: deadlock: " + strings.Join(stuck, "; "))
	}
	return nil
}

// prepare makes what the components stand for.
func (a *Application) prepare() error {
	codelets := 0
	for _, c := range a.all {
		c.queue, c.ticks = nil, 0
		switch c.typ {
		case "StreamSync":
			signaler, err := c.integer("signaler")
			if err != nil {
				return err
			}
			waiter, err := c.integer("waiter")
			if err != nil {
				return err
			}
			c.sync = streamsync.New()
			if err := c.sync.Allocate(streamsync.SyncType(signaler), streamsync.SyncType(waiter)); err != nil {
				return problem(c.line, "%s: %v", c.path(), err)
			}
			if err := errors.Join(c.syncDevice("signaler_device_id", signaler), c.syncDevice("waiter_device_id", waiter)); err != nil {
				return err
			}
		case "BlockMemoryPool":
			if err := c.makePool(); err != nil {
				return err
			}
		default:
			if _, builtin := components[c.typ]; builtin {
				continue
			}
			make := a.makers[c.typ]
			if make == nil {
				return problem(c.line, "%s is a %s, which is neither built in nor registered", c.path(), c.typ)
			}
			codelet := make()
			if codelet.Tick == nil {
				return c.failed("Register", errNoTick)
			}
			if len(a.terms(c)) == 0 {
				return problem(c.line, "entity %s has no scheduling term, so %s would tick for ever", c.entity, c.name)
			}
			c.codelet = &codelet
			codelets++
		}
	}
	if codelets == 0 {
		return errors.New("gxf: the application has no codelets")
	}
	return nil
}

// syncDevice binds a side of a StreamSync to the device that a parameter names, if it
// is given: a codelet's stream of another device is refused then.
func (c *component) syncDevice(parameter string, side int) error {
	node := c.parameters[parameter]
	if node == nil {
		return nil
	}
	id, err := c.natural(parameter, 0)
	if err != nil {
		return err
	}
	d, err := cuda.Get(id)
	if err == nil {
		err = c.sync.SetDevice(streamsync.SyncType(side), d)
	}
	if err != nil {
		return problem(node.Line, "%s of %s: %v", parameter, c.path(), err)
	}
	return nil
}

func (c *component) makePool() error {
	var n [4]int
	for i, p := range []string{"storage_type", "block_size", "num_blocks", "dev_id"} {
		var err error
		if n[i], err = c.natural(p, 0); err != nil {
			return err
		}
	}
	storage, size, count, id := n[0], n[1], n[2], n[3]
	if storage != 1 {
		return problem(c.line, "%s has storage_type %d; only 1, device memory, is there", c.path(), storage)
	}
	if size == 0 || count == 0 {
		return problem(c.line, "%s has %d blocks of %d bytes; neither can be 0", c.path(), count, size)
	}
	d, err := cuda.Get(id)
	if err != nil {
		return problem(c.line, "%s: %v", c.path(), err)
	}
	all, err := d.Alloc(size*count, cuda.Uint8)
	if err != nil {
		return problem(c.line, "%s: %v", c.path(), err)
	}
	c.pool = &Pool{all: all, name: c.path()}
	for i := count - 1; i >= 0; i-- {
		c.pool.free = append(c.pool.free, all.Slice(i*size, (i+1)*size))
	}
	return nil
}

// release frees what prepare made.
func (a *Application) release() error {
	var errs []error
	for _, c := range a.all {
		if c.sync != nil {
			errs = append(errs, c.sync.Free())
			c.sync = nil
		}
		if c.pool != nil {
			errs = append(errs, c.pool.all.Free())
			c.pool = nil
		}
	}
	return errors.Join(errs...)
}
