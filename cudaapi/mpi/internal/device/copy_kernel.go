package device

import (
	_ "embed"
	"errors"
	"sync"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/ipc"
)

//go:embed copy_kernel.cu
var copySource string

const (
	copyBytes = 16 << 10 // longer copies are the copy engines'
	copyBlock = 256
	copyEach  = 16 * copyBlock // bytes of a block: sixteen of each thread
	copyWords = copyBytes / copyEach
)

// copyKernel does short copies by a kernel, whose end the host sees in pinned
// memory.
type copyKernel struct {
	once   sync.Once
	kernel *cuda.Kernel // nil where kernels cannot be compiled
	mu     sync.Mutex
	free   []*shortCopy
}

// shortCopy is a copy under way.
type shortCopy struct {
	stream *cuda.Stream
	memory *cuda.HostBuffer
	words  *ipc.Words
}

// load compiles and loads the kernel, if it can be. It takes long, so the engine, which
// moves other messages, does not.
func (c *copyKernel) load(d *cuda.Device) { c.once.Do(func() { c.make(d) }) }

func (c *copyKernel) make(d *cuda.Device) {
	m, err := cuda.Compile(copySource, cuda.SourceName("copy_kernel.cu"), cuda.ForDevice(d))
	if err != nil {
		return
	}
	k, err := m.Kernel("copyBytes")
	if err != nil {
		return
	}
	if _, err := k.Attribute(d, driver.FuncRegisters); err == nil { // which loads it
		c.kernel = k
	}
}

// can reports whether n bytes are copied by the kernel.
func (c *copyKernel) can(n int) bool { return n > 0 && n <= copyBytes && c.kernel != nil }

// start queues a copy on a stream. It does not wait.
func (c *copyKernel) start(l *lane, on *cuda.Stream, dst, src *cuda.Buffer, n int) (*shortCopy, error) {
	s, err := c.take(l.Device)
	if err != nil {
		return nil, err
	}
	blocks := (n + copyEach - 1) / copyEach
	s.stream = on
	mark := s.words.Begin(blocks)
	return s, c.kernel.Launch(cuda.Grid(blocks), cuda.Block(copyBlock), on, dst, src, n, s.memory, mark)
}

func (c *copyKernel) take(d *cuda.Device) (*shortCopy, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.free); n > 0 {
		s := c.free[n-1]
		c.free = c.free[:n-1]
		return s, nil
	}
	s := &shortCopy{}
	err := ipc.Allocating(func() (err error) {
		s.memory, err = d.AllocHost(copyWords, cuda.Uint32)
		return err
	})
	if err == nil {
		s.words, err = ipc.NewWords(s.memory)
	}
	return s, err
}

// done reports whether the copy is. Once it is, its words are another's.
func (s *shortCopy) done(l *lane) (bool, error) {
	done, err := s.words.Done(s.stream)
	if errors.Is(err, ipc.ErrSilent) {
		err = errors.New("a copy on the device has failed")
	}
	if done {
		c := &l.copies
		c.mu.Lock()
		c.free = append(c.free, s)
		c.mu.Unlock()
	}
	return done, err
}
