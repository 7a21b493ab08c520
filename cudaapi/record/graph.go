package record

import (
	"slices"
	"sync"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/callsite"
	"gocuda/cudaapi/internal/instrument"
)

// capture is a graph in the making.
type capture struct {
	nodes []Node
	tails map[*Lane][]int // of each stream that takes part: what its next node follows
}

func (c *capture) add(o *Op) {
	c.nodes = append(c.nodes, Node{o, c.tails[o.Lane]})
	c.tails[o.Lane] = []int{len(c.nodes) - 1}
}

// join has a stream's next node follow what an event marks. d.mu is held.
func (c *capture) join(d *Driver, l *Lane, tail []int) {
	d.captures[l] = c
	c.tails[l] = slices.Clone(c.tails[l])
	for _, n := range tail {
		if !slices.Contains(c.tails[l], n) {
			c.tails[l] = append(c.tails[l], n)
		}
	}
}

// nodeRuns gives what a graph's kernel touches to its runs, in the order of the
// launches, which is that in which they run.
type nodeRuns struct {
	node    *instrument.Node // what tells it, if the driver does not itself
	objects []Access         // that its textures and surfaces let it touch
	mu      sync.Mutex
	waiting []*Watched
}

func (n *nodeRuns) observe(list []driver.Access) {
	n.mu.Lock()
	var w *Watched
	if len(n.waiting) > 0 {
		w = n.waiting[0]
		n.waiting = n.waiting[1:]
	}
	n.mu.Unlock()
	if w != nil {
		w.Touched(append(accessesOf(list), n.objects...))
	}
}

// exec is an executable graph. Its handle may be another's later, its id is not.
type exec struct {
	id    uint64
	nodes []Node
}

// run is a node's operation, run once more.
func (n Node) run(launch *Op) Node {
	o := *n.Op
	o.Via, o.Of = launch, n.Op
	if o.Watched != nil && o.Watched.runs != nil {
		runs := o.Watched.runs
		o.Watched = &Watched{}
		runs.mu.Lock()
		runs.waiting = append(runs.waiting, o.Watched)
		runs.mu.Unlock()
	}
	return Node{&o, n.Deps}
}

// never takes back that a node's operation runs once more: it was not launched.
func (n Node) never(run Node) {
	if w := n.Op.Watched; w != nil && w.runs != nil {
		w.runs.mu.Lock()
		w.runs.waiting = slices.DeleteFunc(w.runs.waiting, func(x *Watched) bool { return x == run.Op.Watched })
		w.runs.mu.Unlock()
	}
}

func (d withGraphs) StreamBeginCapture(c driver.Context, s driver.Stream) error {
	err := d.graphs.StreamBeginCapture(c, s)
	if err == nil {
		d.mu.Lock()
		d.captures[d.lane(c, s)] = &capture{tails: map[*Lane][]int{}}
		d.mu.Unlock()
	}
	return err
}

func (d withGraphs) StreamEndCapture(c driver.Context, s driver.Stream) (driver.Graph, error) {
	g, err := d.graphs.StreamEndCapture(c, s)
	d.mu.Lock()
	defer d.mu.Unlock()
	cp := d.captures[d.lane(c, s)]
	for l, of := range d.captures {
		if of == cp {
			delete(d.captures, l)
		}
	}
	for _, e := range d.events {
		if e.capture == cp {
			e.capture, e.tail = nil, nil
		}
	}
	if err == nil && cp != nil {
		d.made[g] = cp.nodes
	}
	return g, err
}

func (d withGraphs) StreamIsCapturing(c driver.Context, s driver.Stream) (bool, error) {
	return d.graphs.StreamIsCapturing(c, s)
}

func (d withGraphs) GraphNodes(c driver.Context, g driver.Graph) ([]driver.NodeType, error) {
	return d.graphs.GraphNodes(c, g)
}

func (d withGraphs) GraphDot(c driver.Context, g driver.Graph) (string, error) {
	return d.graphs.GraphDot(c, g)
}

func (d withGraphs) GraphDestroy(c driver.Context, g driver.Graph) error {
	err := d.graphs.GraphDestroy(c, g)
	if err == nil {
		d.mu.Lock()
		delete(d.made, g)
		d.mu.Unlock()
	}
	return err
}

func (d withGraphs) GraphInstantiate(c driver.Context, g driver.Graph) (driver.GraphExec, error) {
	x, err := d.graphs.GraphInstantiate(c, g)
	if err == nil {
		d.mu.Lock()
		d.execs[x] = &exec{uint64(d.rec.id()) + 1, d.made[g]}
		d.mu.Unlock()
	}
	return x, err
}

func (d withGraphs) GraphExecUpdate(c driver.Context, x driver.GraphExec, g driver.Graph) error {
	err := d.graphs.GraphExecUpdate(c, x, g)
	if err == nil {
		d.mu.Lock()
		if known := d.execs[x]; known != nil { // not made before the recording began
			known.nodes = d.made[g]
		}
		d.mu.Unlock()
	}
	return err
}

func (d withGraphs) GraphLaunch(c driver.Context, x driver.GraphExec, s driver.Stream) error {
	o := &Op{Kind: GraphLaunch, Call: "cuGraphLaunch", Site: callsite.Here()}
	var nodes []*instrument.Node
	var observe []func([]driver.Access)
	return d.queue(o, c, s, func() error {
		// The runs must be waiting before the first of them can end.
		d.mu.Lock()
		dev := d.devices[c]
		known := d.execs[x]
		if known == nil { // from before the recording
			known = &exec{id: uint64(d.rec.id()) + 1}
			d.execs[x] = known
		}
		o.Exec = known.id
		for _, n := range known.nodes {
			o.Nodes = append(o.Nodes, n.run(o))
			if w := n.Op.Watched; w != nil && w.runs != nil && w.runs.node != nil {
				nodes, observe = append(nodes, w.runs.node), append(observe, w.runs.observe)
			}
		}
		d.mu.Unlock()
		err := d.graphs.GraphLaunch(c, x, s)
		if err != nil {
			for i, n := range o.Nodes {
				known.nodes[i].never(n)
			}
		} else if len(nodes) > 0 {
			d.tracer.Ran(c, dev, s, nodes, d.allocations(), observe)
		}
		return err
	})
}

func (d withGraphs) GraphExecDestroy(c driver.Context, x driver.GraphExec) error {
	d.mu.Lock()
	known := d.execs[x]
	delete(d.execs, x)
	d.mu.Unlock()
	err := d.graphs.GraphExecDestroy(c, x)
	switch {
	case known == nil:
	case err == nil:
		d.rec.Now(&Op{Kind: ExecGone, Call: "cuGraphExecDestroy", Exec: known.id})
	default:
		d.mu.Lock()
		d.execs[x] = known
		d.mu.Unlock()
	}
	return err
}
