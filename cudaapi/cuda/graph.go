package cuda

import (
	"runtime"
	"sync/atomic"

	"gocuda/cudaapi/driver"
)

// Graph is work that was recorded from a stream rather than run (cudaGraph_t).
type Graph struct {
	dev    *Device
	h      driver.Graph
	closed atomic.Bool
	born   uint32
	holds  *holdings // nil if none were noted: the capture began elsewhere
}

// GraphExec is a graph made ready to run, many times, at the cost of one launch
// (cudaGraphExec_t).
type GraphExec struct {
	dev    *Device
	h      driver.GraphExec
	closed atomic.Bool
	born   uint32
	held   *held
}

func (d *Device) graphs(call string) (driver.Graphs, error) {
	g, ok := d.drv().(driver.Graphs)
	if !ok {
		return nil, misuse(driver.ErrNotSupported, call, d, "the %s back end has no graphs", d.drv().Name())
	}
	return g, nil
}

// graphDriver is the driver of a device on which a graph was made.
func (d *Device) graphDriver() driver.Graphs { return d.drv().(driver.Graphs) }

// Capture records what f queues on s, and on streams that wait for events
// recorded on s, as a graph. Nothing of it runs. Streams that joined must be
// waited for again, by events, before f returns. If f fails or panics, there is no
// graph, and s is not captured any more. Calls that wait for a device are errors
// while s is captured.
func (s *Stream) Capture(f func() error) (*Graph, error) {
	if err := s.BeginCapture(); err != nil {
		return nil, err
	}
	returned := false
	defer func() {
		if returned {
			return
		}
		if g, err := s.EndCapture(); err == nil {
			g.Destroy() //nolint:errcheck // what f panicked with is on its way
		}
	}()
	failed := f()
	returned = true
	g, err := s.EndCapture()
	if failed == nil {
		return g, err
	}
	if err == nil {
		g.Destroy() //nolint:errcheck // what f failed with matters more
	}
	return nil, failed
}

// BeginCapture starts a recording (cudaStreamBeginCapture, relaxed). The default
// streams cannot be captured.
func (s *Stream) BeginCapture() error {
	c, err := s.use("Stream.BeginCapture")
	if err != nil {
		return err
	}
	g, err := s.dev.graphs("Stream.BeginCapture")
	if err != nil {
		return err
	}
	if err := s.dev.sys.captures.enter(); err != nil {
		return err
	}
	defer s.dev.sys.captures.leave()
	if err := g.StreamBeginCapture(c, s.h); err != nil {
		return says(s.dev.fail(err), driver.ErrIllegalState, "the stream is captured already")
	}
	s.dev.sys.captures.begin(s)
	return nil
}

// EndCapture ends the recording and gives the graph (cudaStreamEndCapture). An
// error ends the recording too.
func (s *Stream) EndCapture() (*Graph, error) {
	c, err := s.use("Stream.EndCapture")
	if err != nil {
		return nil, err
	}
	drv, err := s.dev.graphs("Stream.EndCapture")
	if err != nil {
		return nil, err
	}
	h, err := drv.StreamEndCapture(c, s.h)
	if err != nil {
		if on, asked := drv.StreamIsCapturing(c, s.h); asked != nil || !on {
			s.dev.sys.captures.end(s)
		}
		return nil, says(s.dev.fail(err), driver.ErrIllegalState, "the stream is not captured")
	}
	return &Graph{dev: s.dev, h: h, born: s.dev.epoch.Load(), holds: s.dev.sys.captures.end(s)}, nil
}

// Capturing reports whether the stream is being recorded.
func (s *Stream) Capturing() (bool, error) {
	c, err := s.use("Stream.Capturing")
	if err != nil {
		return false, err
	}
	drv, err := s.dev.graphs("Stream.Capturing")
	if err != nil {
		return false, err
	}
	on, err := drv.StreamIsCapturing(c, s.h)
	return on, s.dev.fail(err)
}

func (g *Graph) use(call string) (driver.Context, error) {
	if g == nil {
		return 0, misuse(driver.ErrInvalidHandle, call, nil, "the graph is nil")
	}
	return g.dev.holds(call, "the graph", g.closed.Load(), g.born)
}

func (x *GraphExec) use(call string) (driver.Context, error) {
	if x == nil {
		return 0, misuse(driver.ErrInvalidHandle, call, nil, "the graph is nil")
	}
	return x.dev.holds(call, "the graph", x.closed.Load(), x.born)
}

// Nodes lists what the graph holds: "kernel", "memcpy", "memset" and so on.
func (g *Graph) Nodes() ([]string, error) {
	c, err := g.use("Graph.Nodes")
	if err != nil {
		return nil, err
	}
	types, err := g.dev.graphDriver().GraphNodes(c, g.h)
	var names []string
	for _, t := range types {
		names = append(names, t.String())
	}
	return names, g.dev.fail(err)
}

// DOT is the graph in Graphviz's language (cudaGraphDebugDotPrint).
func (g *Graph) DOT() (string, error) {
	c, err := g.use("Graph.DOT")
	if err != nil {
		return "", err
	}
	text, err := g.dev.graphDriver().GraphDot(c, g.h)
	return text, g.dev.fail(err)
}

// Instantiate makes the graph ready to run (cudaGraphInstantiate). Like the graph,
// it keeps the memory that it uses, Go slices too, from being freed by itself. What
// the program frees, or a module that it unloads, makes a launch an error.
func (g *Graph) Instantiate() (*GraphExec, error) {
	c, err := g.use("Graph.Instantiate")
	if err != nil {
		return nil, err
	}
	h, err := g.dev.graphDriver().GraphInstantiate(c, g.h)
	if err != nil {
		return nil, g.dev.fail(err)
	}
	x := &GraphExec{dev: g.dev, h: h, born: g.dev.epoch.Load(), held: &held{dev: g.dev}}
	x.held.now.Store(g.holds)
	runtime.AddCleanup(x, func(h *held) { h.set(nil) }, x.held)
	return x, nil
}

// Destroy gives the graph back (cudaGraphDestroy). What was instantiated from it
// stays.
func (g *Graph) Destroy() error {
	c, err := g.use("Graph.Destroy")
	if err != nil {
		return err
	}
	g.closed.Store(true)
	g.holds = nil
	return g.dev.fail(g.dev.graphDriver().GraphDestroy(c, g.h))
}

// Launch queues the whole graph on a stream (cudaGraphLaunch).
func (x *GraphExec) Launch(s *Stream) error {
	c, err := x.use("GraphExec.Launch")
	if err != nil {
		return err
	}
	if s == nil {
		s = x.dev.DefaultStream()
	}
	if _, err := s.use("GraphExec.Launch"); err != nil {
		return err
	}
	h := x.held.now.Load()
	if h != nil {
		if gone := h.check(x.dev); gone != "" {
			return misuse(driver.ErrInvalidValue, "GraphExec.Launch", x.dev, "%s: capture the work again", gone)
		}
		h.ran.Store(true)
	}
	err = x.dev.graphDriver().GraphLaunch(c, x.h, s.h)
	if err == nil && h != nil && s.dev.sys.captures.active.Load() > 0 {
		s.held(func(outer *holdings) { outer.take(h) })
	}
	runtime.KeepAlive(x)
	return x.dev.fail(err)
}

// Update takes over the arguments of another graph of the same shape
// (cudaGraphExecUpdate).
func (x *GraphExec) Update(g *Graph) error {
	c, err := x.use("GraphExec.Update")
	if err != nil {
		return err
	}
	if _, err := g.use("GraphExec.Update"); err != nil {
		return err
	}
	if err := x.dev.graphDriver().GraphExecUpdate(c, x.h, g.h); err != nil {
		return x.dev.fail(err)
	}
	x.held.set(g.holds)
	return nil
}

// Destroy gives it back (cudaGraphExecDestroy). Runs that are queued go on.
func (x *GraphExec) Destroy() error {
	c, err := x.use("GraphExec.Destroy")
	if err != nil {
		return err
	}
	x.closed.Store(true)
	err = x.dev.fail(x.dev.graphDriver().GraphExecDestroy(c, x.h))
	x.held.set(nil)
	return err
}
