package sim

import (
	"fmt"
	"slices"
	"strings"

	"gocuda/cudaapi/driver"
)

// node is an operation of a graph: the pattern of what each launch runs.
type node struct {
	op   *op
	deps []*node
}

// graph is nodes, each after those that it follows.
type graph struct {
	ctx   *context
	nodes []*node
	last  *op // of its last launch, if it is an executable one
}

// capture is a graph in the making, on one stream or several.
type capture struct {
	graph
	origin  *stream
	streams []*stream
	spoiled bool
}

// add records an operation that stream s was given.
func (c *capture) add(s *stream, o *op) {
	if o.kind == opMarker {
		return
	}
	if o.ctx == nil {
		o.ctx = s.ctx
	}
	o.cost.deps, o.preds = nil, nil
	n := &node{op: o, deps: s.tail}
	c.nodes = append(c.nodes, n)
	s.tail = []*node{n}
}

// spoil is the error of a call that a captured stream does not allow; the
// capture is of no use afterwards.
func (s *stream) spoil(call string) error {
	if s.capture == nil {
		return nil
	}
	s.capture.spoiled = true
	return fail(call, driver.ErrStreamCaptureUnsupported, "")
}

// implicit is the error of work for the legacy stream while a blocking stream is
// captured: it would have to wait for that. Those captures are of no use
// afterwards.
func (s *stream) implicit(call string) error {
	if !s.legacy {
		return nil
	}
	var err error
	for _, t := range s.ctx.streams {
		if t.blocking && t.capture != nil {
			t.capture.spoiled = true
			err = fail(call, driver.ErrStreamCaptureImplicit, "a blocking stream of the device is captured")
		}
	}
	return err
}

// memoryInCapture refuses to allocate or free within a graph.
func (s *stream) memoryInCapture(call string) error {
	if s.capture == nil {
		return nil
	}
	s.capture.spoiled = true
	return fail(call, driver.ErrNotSupported, "simulated devices do not allocate or free within a graph: do it before the capture")
}

// joinCapture makes a stream that waits for a captured event part of the
// capture. It reports whether the wait was one of a capture.
func joinCapture(call string, s *stream, ev *event) (bool, error) {
	switch {
	case ev.capture == nil && s.capture == nil:
		return false, nil
	case ev.capture == nil:
		if ev.last == nil {
			return true, nil
		}
		s.capture.spoiled = true
		return true, fail(call, driver.ErrStreamCaptureIsolation, "the stream is captured, the event was recorded outside of the capture")
	case s.legacy:
		ev.capture.spoiled = true
		return true, fail(call, driver.ErrStreamCaptureImplicit, "the event was recorded on a captured stream, and the legacy default stream cannot be captured")
	case s.capture == nil:
		s.capture, s.tail = ev.capture, nil
		s.capture.streams = append(s.capture.streams, s)
	case s.capture != ev.capture:
		s.capture.spoiled, ev.capture.spoiled = true, true
		return true, fail(call, driver.ErrStreamCaptureMerge, "the stream and the event belong to two captures")
	}
	tail := slices.Clone(s.tail)
	for _, n := range ev.tail {
		if !slices.Contains(tail, n) {
			tail = append(tail, n)
		}
	}
	s.tail = tail
	return true, nil
}

// captured finds a stream for the calls below. m.mu is held.
func (m *Driver) captured(call string, c driver.Context, id driver.Stream) (*stream, error) {
	ctx, err := m.usable(call, c)
	if err != nil {
		return nil, err
	}
	return m.stream(call, ctx, id)
}

// StreamBeginCapture records what the stream is given from now on.
func (m *Driver) StreamBeginCapture(c driver.Context, id driver.Stream) error {
	const call = "cuStreamBeginCapture"
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.captured(call, c, id)
	switch {
	case err != nil:
		return err
	case s.legacy:
		return fail(call, driver.ErrStreamCaptureUnsupported, "the legacy default stream cannot be captured")
	case s.capture != nil:
		return fail(call, driver.ErrIllegalState, "the stream is captured already")
	}
	s.capture, s.tail = &capture{graph: graph{ctx: s.ctx}, origin: s, streams: []*stream{s}}, nil
	return nil
}

// StreamEndCapture ends the capture that began on the stream.
func (m *Driver) StreamEndCapture(c driver.Context, id driver.Stream) (driver.Graph, error) {
	const call = "cuStreamEndCapture"
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.captured(call, c, id)
	switch {
	case err != nil:
		return 0, err
	case s.capture == nil:
		return 0, fail(call, driver.ErrIllegalState, "the stream is not captured")
	case s.capture.origin != s:
		return 0, fail(call, driver.ErrStreamCaptureUnmatched, "the capture began on another stream")
	}
	cp := s.capture
	reached := map[*node]bool{}
	stack := slices.Clone(s.tail)
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !reached[n] {
			reached[n] = true
			stack = append(stack, n.deps...)
		}
	}
	for _, st := range cp.streams {
		st.capture, st.tail = nil, nil
	}
	for _, ev := range m.events {
		if ev.capture == cp {
			ev.capture, ev.tail = nil, nil
		}
	}
	switch {
	case cp.spoiled:
		return 0, fail(call, driver.ErrStreamCaptureInvalidated, "a call that captures do not allow was made meanwhile")
	case len(reached) < len(cp.nodes):
		return 0, fail(call, driver.ErrStreamCaptureUnjoined, "%d of %d operations are on streams that were not joined again", len(cp.nodes)-len(reached), len(cp.nodes))
	}
	g := driver.Graph(m.handle())
	m.graphs[g] = &graph{ctx: cp.ctx, nodes: cp.nodes}
	return g, nil
}

// StreamIsCapturing reports whether the stream is captured.
func (m *Driver) StreamIsCapturing(c driver.Context, id driver.Stream) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.captured("cuStreamIsCapturing", c, id)
	return err == nil && s.capture != nil, err
}

func (m *Driver) graph(call string, c driver.Context, g driver.Graph) (*graph, error) {
	if _, err := m.context(call, c); err != nil {
		return nil, err
	}
	if gr := m.graphs[g]; gr != nil {
		return gr, nil
	}
	return nil, fail(call, driver.ErrInvalidValue, "the graph does not exist or was destroyed")
}

func (m *Driver) exec(call string, c driver.Context, x driver.GraphExec) (*graph, error) {
	if _, err := m.usable(call, c); err != nil {
		return nil, err
	}
	if gr := m.execs[x]; gr != nil {
		return gr, nil
	}
	return nil, fail(call, driver.ErrInvalidValue, "the executable graph does not exist or was destroyed")
}

func (n *node) kind() driver.NodeType {
	switch n.op.kind {
	case opCopy:
		return driver.NodeMemcpy
	case opFill:
		return driver.NodeMemset
	case opKernel:
		return driver.NodeKernel
	case opHost:
		return driver.NodeHost
	}
	return driver.NodeBatchMemOp
}

// GraphNodes are the kinds of the graph's nodes, in the order of capture.
func (m *Driver) GraphNodes(c driver.Context, g driver.Graph) ([]driver.NodeType, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	gr, err := m.graph("cuGraphGetNodes", c, g)
	if err != nil {
		return nil, err
	}
	var kinds []driver.NodeType
	for _, n := range gr.nodes {
		kinds = append(kinds, n.kind())
	}
	return kinds, nil
}

// GraphDot is the graph in the DOT language.
func (m *Driver) GraphDot(c driver.Context, g driver.Graph) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	gr, err := m.graph("cuGraphDebugDotPrint", c, g)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("digraph graph_1 {\n")
	for i, n := range gr.nodes {
		fmt.Fprintf(&b, "  n%d [label=%q];\n", i, strings.TrimSpace(n.kind().String()+" "+n.op.name))
		for _, d := range n.deps {
			fmt.Fprintf(&b, "  n%d -> n%d;\n", slices.Index(gr.nodes, d), i)
		}
	}
	b.WriteString("}\n")
	return b.String(), nil
}

// GraphDestroy forgets a graph; what was made of it stays.
func (m *Driver) GraphDestroy(c driver.Context, g driver.Graph) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := m.graph("cuGraphDestroy", c, g)
	delete(m.graphs, g)
	return err
}

// GraphInstantiate readies a graph to be launched.
func (m *Driver) GraphInstantiate(c driver.Context, g driver.Graph) (driver.GraphExec, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	gr, err := m.graph("cuGraphInstantiate", c, g)
	if err != nil {
		return 0, err
	}
	x := driver.GraphExec(m.handle())
	m.execs[x] = &graph{ctx: gr.ctx, nodes: gr.nodes}
	return x, nil
}

// GraphExecUpdate gives an executable graph another's arguments. Both must have
// the same kinds of nodes in the same order.
func (m *Driver) GraphExecUpdate(c driver.Context, x driver.GraphExec, g driver.Graph) error {
	const call = "cuGraphExecUpdate"
	m.mu.Lock()
	defer m.mu.Unlock()
	ex, err := m.exec(call, c, x)
	if err != nil {
		return err
	}
	gr, err := m.graph(call, c, g)
	if err != nil {
		return err
	}
	same := slices.EqualFunc(ex.nodes, gr.nodes, func(a, b *node) bool {
		return a.kind() == b.kind() && slices.EqualFunc(a.deps, b.deps, func(p, q *node) bool {
			return slices.Index(ex.nodes, p) == slices.Index(gr.nodes, q)
		})
	})
	if !same {
		return fail(call, driver.ErrGraphExecUpdateFailure, "the graphs differ in their nodes or their order")
	}
	ex.nodes = gr.nodes
	return nil
}

// GraphLaunch runs a graph in the stream's order. Its own operations are
// ordered by the graph alone.
func (m *Driver) GraphLaunch(c driver.Context, x driver.GraphExec, id driver.Stream) error {
	const call = "cuGraphLaunch"
	_, s, err := m.target(call, c, id)
	defer m.mu.Unlock()
	if err != nil {
		return err
	}
	ex, err := m.exec(call, c, x)
	if err != nil {
		return err
	}
	if s.capture != nil {
		s.capture.spoiled = true
		return fail(call, driver.ErrNotSupported, "simulated devices do not capture a graph within a graph")
	}
	for _, n := range ex.nodes {
		if code := n.op.code; code != nil && m.modules[code.id] != code {
			return fail(call, driver.ErrInvalidHandle, "the module of kernel %s was unloaded after the capture", n.op.name)
		}
	}
	begin, end := &op{name: "graph", cost: cost{call: m.profile.LaunchCall}}, &op{name: "graph"}
	begin.depend(ex.last) // one launch of it runs at a time
	ex.last = end
	m.push(s, begin)
	made := map[*node]*op{}
	for _, n := range ex.nodes {
		t := n.op
		o := &op{kind: t.kind, name: t.name, stream: s, ctx: t.ctx, seq: m.sched.issued,
			work: t.work, met: t.met, after: t.after, reads: t.reads, writes: t.writes, cost: t.cost, late: t.late || m.delaying.Load() > 0}
		o.call = 0
		m.sched.issued++
		o.depend(begin)
		for _, d := range n.deps {
			o.depend(made[d])
		}
		made[n] = o
		end.depend(o)
		m.model.issue(o)
		m.sched.add(o)
	}
	m.push(s, end)
	return nil
}

// GraphExecDestroy forgets an executable graph; what runs goes on.
func (m *Driver) GraphExecDestroy(c driver.Context, x driver.GraphExec) error {
	const call = "cuGraphExecDestroy"
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.context(call, c); err != nil {
		return err
	}
	if m.execs[x] == nil {
		return fail(call, driver.ErrInvalidValue, "the executable graph does not exist or was destroyed")
	}
	delete(m.execs, x)
	return nil
}
