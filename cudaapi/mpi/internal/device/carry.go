package device

import (
	_ "embed"
	"errors"
	"sync"
	"sync/atomic"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/fabric"
)

//go:embed carry.cu
var carrySource string

const (
	carryBytes  = 1 << 20 // longer copies are the copy engines'
	carryBlock  = 256
	carryEach   = 4 * 16 * carryBlock // bytes of a block
	carryBlocks = carryBytes / carryEach
	carryRoom   = Inline // bytes of a ticket's own host memory
)

// carrier does short copies by a kernel, whose end the host sees in pinned
// memory.
type carrier struct {
	kernel *cuda.Kernel
	mu     sync.Mutex
	free   []*ticket
}

// ticket is a copy under way, and memory to see its end in.
type ticket struct {
	l      *lane
	words  *cuda.HostBuffer // one for each block
	seen   []uint32
	room   *cuda.HostBuffer
	mark   uint32
	blocks int
	asked  int
}

// makeCarrier compiles and loads the kernel. Where kernels cannot be compiled,
// there is none.
func (l *lane) makeCarrier() {
	m, err := cuda.Compile(carrySource, cuda.SourceName("carry.cu"), cuda.ForDevice(l.dev))
	if err != nil {
		return
	}
	k, err := m.Kernel("carry")
	if err != nil {
		return
	}
	if _, err := k.Attribute(l.dev, driver.FuncRegisters); err != nil { // loads it
		return
	}
	l.carrier.kernel = k
}

// ticket takes one that is not in use.
func (l *lane) ticket() (*ticket, error) {
	c := &l.carrier
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.free); n > 0 {
		t := c.free[n-1]
		c.free = c.free[:n-1]
		return t, nil
	}
	t := &ticket{l: l}
	err := fabric.Allocating(func() (err error) {
		if t.words, err = l.dev.AllocHost(carryBlocks, cuda.Uint32); err == nil {
			t.room, err = l.dev.AllocHost(carryRoom, cuda.Uint8)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	t.seen = t.words.Uint32s()
	clear(t.seen)
	return t, nil
}

// carry starts a copy on the lane's stream: of dst and src, one is a *cuda.Buffer
// and the other as well, or pinned memory. It does not wait.
func (l *lane) carry(t *ticket, dst, src any, n int) error {
	t.mark++
	t.blocks = (n + carryEach - 1) / carryEach
	t.asked = 0
	return l.carrier.kernel.Launch(cuda.Grid(t.blocks), cuda.Block(carryBlock), l.stream, dst, src, n, t.words, t.mark)
}

// done reports whether the copy is. Once it is, the ticket is given back.
func (t *ticket) done() (bool, error) {
	if !t.told() {
		if t.asked++; t.asked%32 != 0 {
			return false, nil
		}
		over, err := t.l.stream.Query()
		if err == nil && over && !t.told() {
			err = errors.New("a copy on the device has failed")
		}
		if err != nil || !over {
			return false, err
		}
	}
	c := &t.l.carrier
	c.mu.Lock()
	c.free = append(c.free, t)
	c.mu.Unlock()
	return true, nil
}

func (t *ticket) told() bool {
	for i := range t.blocks {
		if atomic.LoadUint32(&t.seen[i]) != t.mark {
			return false
		}
	}
	return true
}

// fetch gives the bytes of a short buffer, behind the work of the default stream.
func (l *lane) fetch(b *cuda.Buffer) ([]byte, error) {
	host := make([]byte, b.Bytes())
	if l.carrier.kernel == nil || len(host) == 0 || len(host) > carryRoom {
		return host, b.Download(host)
	}
	t, err := l.ticket()
	if err != nil {
		return nil, err
	}
	if err := l.follow(nil); err != nil {
		return nil, err
	}
	if err := l.carry(t, t.room, b, len(host)); err != nil {
		return nil, err
	}
	for spins := 0; !t.told() && spins < 5000; spins++ {
		continue
	}
	if !t.told() { // behind something long: this wait can be interrupted
		if err := l.stream.Synchronize(); err != nil {
			return nil, err
		}
	}
	copy(host, t.room.Uint8s())
	_, err = t.done()
	return host, err
}
