package cuda

import (
	"sync/atomic"

	"gocuda/cudaapi/driver"
)

// Graph is work that was recorded from a stream rather than run (cudaGraph_t).
type Graph struct {
	dev    *Device
	h      driver.Graph
	closed atomic.Bool
	born   uint32
}

// GraphExec is a graph made ready to run, many times, at the cost of one launch
// (cudaGraphExec_t).
type GraphExec struct {
	dev    *Device
	h      driver.GraphExec
	closed atomic.Bool
	born   uint32
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
	return s.dev.fail(g.StreamBeginCapture(c, s.h))
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
		return nil, s.dev.fail(err)
	}
	return &Graph{dev: s.dev, h: h, born: s.dev.epoch.Load()}, nil
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

// Instantiate makes the graph ready to run (cudaGraphInstantiate). The buffers
// that it uses must stay allocated.
func (g *Graph) Instantiate() (*GraphExec, error) {
	c, err := g.use("Graph.Instantiate")
	if err != nil {
		return nil, err
	}
	h, err := g.dev.graphDriver().GraphInstantiate(c, g.h)
	if err != nil {
		return nil, g.dev.fail(err)
	}
	return &GraphExec{dev: g.dev, h: h, born: g.dev.epoch.Load()}, nil
}

// Destroy gives the graph back (cudaGraphDestroy). What was instantiated from it
// stays.
func (g *Graph) Destroy() error {
	c, err := g.use("Graph.Destroy")
	if err != nil {
		return err
	}
	g.closed.Store(true)
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
	return x.dev.fail(x.dev.graphDriver().GraphLaunch(c, x.h, s.h))
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
	return x.dev.fail(x.dev.graphDriver().GraphExecUpdate(c, x.h, g.h))
}

// Destroy gives it back (cudaGraphExecDestroy). Runs that are queued go on.
func (x *GraphExec) Destroy() error {
	c, err := x.use("GraphExec.Destroy")
	if err != nil {
		return err
	}
	x.closed.Store(true)
	return x.dev.fail(x.dev.graphDriver().GraphExecDestroy(c, x.h))
}
