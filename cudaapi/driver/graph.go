package driver

// Graph is a CUgraph: work recorded to be run later. GraphExec is a
// CUgraphExec: a graph made ready to run.
type (
	Graph     uintptr
	GraphExec uintptr
)

// NodeType is a CUgraphNodeType.
type NodeType int32

// Kinds of a graph's nodes.
const (
	NodeKernel      NodeType = 0
	NodeMemcpy      NodeType = 1
	NodeMemset      NodeType = 2
	NodeHost        NodeType = 3
	NodeGraph       NodeType = 4
	NodeEmpty       NodeType = 5
	NodeWaitEvent   NodeType = 6
	NodeEventRecord NodeType = 7
	NodeMemAlloc    NodeType = 10
	NodeMemFree     NodeType = 11
	NodeBatchMemOp  NodeType = 12
)

func (t NodeType) String() string {
	switch t {
	case NodeKernel:
		return "kernel"
	case NodeMemcpy:
		return "memcpy"
	case NodeMemset:
		return "memset"
	case NodeHost:
		return "host"
	case NodeGraph:
		return "graph"
	case NodeEmpty:
		return "empty"
	case NodeWaitEvent:
		return "wait event"
	case NodeEventRecord:
		return "event record"
	case NodeMemAlloc:
		return "alloc"
	case NodeMemFree:
		return "free"
	case NodeBatchMemOp:
		return "mem op"
	}
	return "other"
}

// Graphs is what a [Driver] that has CUDA graphs implements too.
//
// While a stream is captured, the work that it is given is recorded, not run;
// an event that is recorded on it carries the capture to streams that wait for
// the event. Capturing is relaxed (CU_STREAM_CAPTURE_MODE_RELAXED): it belongs
// to no thread.
type Graphs interface {
	StreamBeginCapture(c Context, s Stream) error           // cuStreamBeginCapture; not on the legacy default stream
	StreamEndCapture(c Context, s Stream) (Graph, error)    // cuStreamEndCapture: an error leaves no graph
	StreamIsCapturing(c Context, s Stream) (bool, error)    // cuStreamIsCapturing
	GraphNodes(c Context, g Graph) ([]NodeType, error)      // cuGraphGetNodes, cuGraphNodeGetType
	GraphDot(c Context, g Graph) (string, error)            // cuGraphDebugDotPrint
	GraphDestroy(c Context, g Graph) error                  // cuGraphDestroy
	GraphInstantiate(c Context, g Graph) (GraphExec, error) // cuGraphInstantiate
	GraphExecUpdate(c Context, x GraphExec, g Graph) error  // cuGraphExecUpdate: same shape, other arguments
	GraphLaunch(c Context, x GraphExec, s Stream) error     // cuGraphLaunch
	GraphExecDestroy(c Context, x GraphExec) error          // cuGraphExecDestroy; running work goes on
}
