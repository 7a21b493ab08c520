package cuda

import (
	_ "embed"
	"fmt"
	"sync"

	"gocuda/cudaapi/cuda/internal/signature"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/operators"
)

//go:embed combine.cu
var combineSource string

// ReduceOp is how [Combine] joins two elements: the operators of MPI and NCCL.
type ReduceOp uint8

// The operators. Logical ones take what is not zero as true and give 0 or 1.
const (
	ReduceSum ReduceOp = iota + 1
	ReduceProd
	ReduceMin // NaN if either is
	ReduceMax // NaN if either is
	ReduceLogicalAnd
	ReduceLogicalOr
	ReduceLogicalXor
	ReduceBitAnd
	ReduceBitOr
	ReduceBitXor
)

var reduceNames = [...]string{
	ReduceSum: "sum", ReduceProd: "prod", ReduceMin: "min", ReduceMax: "max",
	ReduceLogicalAnd: "logical and", ReduceLogicalOr: "logical or", ReduceLogicalXor: "logical xor",
	ReduceBitAnd: "bitwise and", ReduceBitOr: "bitwise or", ReduceBitXor: "bitwise xor",
}

func (o ReduceOp) String() string {
	if o < ReduceSum || o > ReduceBitXor {
		return fmt.Sprintf("ReduceOp(%d)", uint8(o))
	}
	return reduceNames[o]
}

// Allows reports whether elements of type t can be combined so: the bitwise
// operators are for whole numbers, and complex numbers have sum and product only.
func (o ReduceOp) Allows(t Type) bool {
	switch {
	case o < ReduceSum || o > ReduceBitXor || operators.TypeNames[t.String()] == "":
		return false
	case t == Complex64 || t == Complex128:
		return o <= ReduceProd
	}
	kind := cppTypes[t].kind
	return o < ReduceBitAnd || kind == signature.Int || kind == signature.Uint
}

// combiners are combine's instances, compiled for a type at its first use.
type combiners struct {
	mu      sync.Mutex
	kernels map[Type]*Kernel
}

func (c *combiners) kernel(d *Device, t Type) (*Kernel, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.kernels[t]; k != nil {
		return k, nil
	}
	name := "combine<" + operators.TypeNames[t.String()] + ">"
	m, err := Compile(operators.Source+combineSource, SourceName("combine.cu"), ForDevice(d), Instantiate(name))
	if err != nil {
		return nil, err
	}
	k, err := m.Kernel(name)
	if err != nil {
		return nil, err
	}
	if c.kernels == nil {
		c.kernels = map[Type]*Kernel{}
	}
	c.kernels[t] = k
	return k, nil
}

// Combine queues out[i] = a[i] op b[i] on s (nil: out's default stream). The
// three have the same type and length; out may be a or b. The kernel runs on
// s's device, which must be able to access all three: it reads a peer's memory
// across the link, without a copy before. Half precisions are combined as float
// and rounded.
func Combine(op ReduceOp, out, a, b *Buffer, s *Stream) error {
	const call = "cuda.Combine"
	for _, x := range []*Buffer{out, a, b} {
		if err := x.alive(call); err != nil {
			return err
		}
	}
	if s == nil {
		s = out.own.dev.DefaultStream()
	}
	d := s.dev
	switch {
	case a.n != out.n || b.n != out.n || a.typ != out.typ || b.typ != out.typ:
		return misuse(driver.ErrInvalidValue, call, d, "out has %d %s, a %d %s, b %d %s", out.n, out.typ, a.n, a.typ, b.n, b.typ)
	case !op.Allows(out.typ):
		return misuse(driver.ErrNotSupported, call, d, "%s is not for %s", op, out.typ)
	case out.n == 0:
		return nil
	}
	k, err := d.sys.combine.kernel(d, out.typ)
	if err != nil {
		return err
	}
	const block, most = 512, 264 // two blocks for each multiprocessor of a large device
	grid := GridFor(out.n*out.typ.Size()/16+1, block)
	grid.X = min(grid.X, most)
	return k.Launch(grid, Block(block), s, out, a, b, out.n, int(op))
}
