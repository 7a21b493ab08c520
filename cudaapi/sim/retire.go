package sim

import (
	"fmt"
	"strings"

	"gocuda/cudaapi/driver"
)

// Options are the machine's, with the defaults filled in.
func (m *Driver) Options() Options { return m.opt }

// Holdings is what a program has on a machine.
type Holdings struct {
	Buffers, Streams, Events, Modules, Graphs int
	Bytes                                     uint64 // of all buffers
}

// String lists what there is; "" is nothing.
func (h Holdings) String() string {
	var parts []string
	add := func(n int, what, more string) {
		if n > 1 {
			what += "s"
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s%s", n, what, more))
		}
	}
	add(h.Buffers, "buffer", fmt.Sprintf(" (%d bytes)", h.Bytes))
	add(h.Streams, "stream", "")
	add(h.Events, "event", "")
	add(h.Modules, "loaded module", "")
	add(h.Graphs, "graph", "")
	return strings.Join(parts, ", ")
}

// Holdings counts what there is on the machine now.
func (m *Driver) Holdings() Holdings {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := Holdings{Streams: len(m.streams), Events: len(m.events), Modules: len(m.modules), Graphs: len(m.graphs) + len(m.execs)}
	for _, a := range m.space.arenas {
		for _, b := range a.live {
			h.Buffers++
			h.Bytes += b.size
		}
	}
	return h
}

// Retire waits for the machine's work, or until stop closes, and takes the
// machine out of use: its devices' memory is given back, and every later call
// fails with an error that says so. Unlike after [Driver.Close], pinned and
// managed memory can still be read, since Go slices may point there.
func (m *Driver) Retire(stop <-chan struct{}) error {
	m.mu.Lock()
	var last []*op
	for _, d := range m.devices {
		if d.ctx != nil {
			last = append(last, d.ctx.last()...)
		}
	}
	m.mu.Unlock()
	if err := m.waitAll(last, stop); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sched.pending > 0 {
		return fmt.Errorf("sim: work was added meanwhile")
	}
	m.retired.Store(true)
	for _, mod := range m.modules {
		m.forget(mod)
		m.unload(mod)
	}
	m.crew.dismiss()
	if len(m.space.hostArena.live) == 0 {
		return m.space.close()
	}
	for _, a := range m.space.arenas[:len(m.devices)] {
		if a.fd >= 0 {
			discard(a.fd, 0, a.base, a.size)
		}
	}
	return nil
}

// inUse is an error after [Driver.Retire].
func (m *Driver) inUse(call string) error {
	if !m.retired.Load() {
		return nil
	}
	return fail(call, driver.ErrContextIsDestroyed, "this object belongs to simulated devices that were replaced: make it again on the current devices")
}
