//go:build linux && (amd64 || arm64)

package nvidia

import (
	"os"
	"runtime"
	"structs"

	"gocuda/cudaapi/driver"
)

var _ driver.Graphs = (*Driver)(nil)

func (d *Driver) StreamBeginCapture(c driver.Context, s driver.Stream) error {
	const relaxed = 2
	return d.in(c, cuStreamBeginCapture, uintptr(s), relaxed)
}

func (d *Driver) StreamEndCapture(c driver.Context, s driver.Stream) (driver.Graph, error) {
	o := getScratch()
	defer putScratch(o)
	o.word[0] = 0
	err := d.in(c, cuStreamEndCapture, uintptr(s), o.ptr())
	return driver.Graph(o.word[0]), err
}

func (d *Driver) StreamIsCapturing(c driver.Context, s driver.Stream) (bool, error) {
	o := getScratch()
	defer putScratch(o)
	o.word[0] = 0
	err := d.in(c, cuStreamIsCapturing, uintptr(s), o.ptr())
	return o.int32(0) != 0, err
}

func (d *Driver) GraphNodes(c driver.Context, g driver.Graph) ([]driver.NodeType, error) {
	o := getScratch()
	defer putScratch(o)
	if err := d.in(c, cuGraphGetNodes, uintptr(g), 0, o.ptr()); err != nil || o.word[0] == 0 {
		return nil, err
	}
	nodes := make([]uintptr, o.word[0])
	if err := d.in(c, cuGraphGetNodes, uintptr(g), pin(&nodes[0]), o.ptr()); err != nil {
		return nil, err
	}
	types := make([]driver.NodeType, len(nodes))
	for i, n := range nodes {
		if err := d.in(c, cuGraphNodeGetType, n, o.ptr()); err != nil {
			return nil, err
		}
		types[i] = driver.NodeType(o.int32(0))
	}
	return types, nil
}

// GraphDot goes through a file, for that is all that CUDA offers.
func (d *Driver) GraphDot(c driver.Context, g driver.Graph) (string, error) {
	f, err := os.CreateTemp("", "gocuda-*.dot")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	f.Close()
	name := append([]byte(f.Name()), 0)
	err = d.in(c, cuGraphDebugDotPrint, uintptr(g), pin(&name[0]), 0)
	runtime.KeepAlive(name)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(f.Name())
	return string(text), err
}

func (d *Driver) GraphDestroy(c driver.Context, g driver.Graph) error {
	return d.in(c, cuGraphDestroy, uintptr(g))
}

func (d *Driver) GraphInstantiate(c driver.Context, g driver.Graph) (driver.GraphExec, error) {
	x, err := d.getIn(c, cuGraphInstantiate, uintptr(g), 0)
	return driver.GraphExec(x), err
}

// updateResult is CUgraphExecUpdateResultInfo.
type updateResult struct {
	_            structs.HostLayout
	result       int32
	node, before uintptr
}

// updateReasons are CUgraphExecUpdateResult, by number.
var updateReasons = []string{"", "", "the graphs have different nodes or edges", "a node is of another type", "a node's function changed in a way that cannot be updated",
	"a node's parameters changed in a way that cannot be updated", "something about a node cannot be updated", "a node's function changed in a way that cannot be updated", "a node's attributes changed in a way that cannot be updated"}

func (d *Driver) GraphExecUpdate(c driver.Context, x driver.GraphExec, g driver.Graph) error {
	r := new(updateResult)
	err := d.in(c, cuGraphExecUpdate, uintptr(x), uintptr(g), pin(r))
	runtime.KeepAlive(r)
	if e, ok := err.(*driver.Error); ok && r.result > 0 && int(r.result) < len(updateReasons) {
		e.Detail = updateReasons[r.result]
	}
	return err
}

func (d *Driver) GraphLaunch(c driver.Context, x driver.GraphExec, s driver.Stream) error {
	return d.on(c, s, cuGraphLaunch, uintptr(x), uintptr(s))
}

func (d *Driver) GraphExecDestroy(c driver.Context, x driver.GraphExec) error {
	return d.in(c, cuGraphExecDestroy, uintptr(x))
}
