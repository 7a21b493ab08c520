// Package symmetric has memory that every rank of a host has and that all their GPUs
// reach: kernels load and store in a peer's as in their own, signal each other and wait
// for each other, so that an all-reduce, an exchange of edges or a fused kernel is one
// launch. The shape is that of NCCL's device API and of NVSHMEM.
//
//	w, err := symmetric.New(ranks, dev, n, cuda.Float32)     // collective; mpi: comm.Symmetric
//	err = k.Launch(grid, block, stream, w, n)                // a kernel takes it
//	err = w.PutSignal(next, 0, buf, slot, stream)            // or in the order of a stream
//	err = w.WaitSignal(slot, stream)
//
// In a kernel it is gocuda::symmetric<float> of <gocuda/symmetric.h>, and in Go
// gpu.Symmetric[float32]:
//
//	__global__ void sum(gocuda::symmetric<float> w, float *out, int n) {
//	    w.barrier();                                   // acquire and release, by each block
//	    for (int i = ...) { for (int p = 0; p < w.size(); p++) total += w.peer(p)[i]; ... }
//	    w.barrier();                                   // nobody writes before all have read
//	}
//
// # Signals and barriers
//
// Each rank has 1024 counters, which its peers add to: a signal. What was done before a
// signal is seen by who has waited for it. A wait uses a signal up, so that a kernel, and a
// graph, can run again and again. Barriers are for each block of a launch by its number: the
// blocks of one number of all ranks meet. They have memory of their own, and no signal is
// used up by them. Those of [Memory.Barrier] count as block 0's.
//
// Kernels that wait for each other must run at the same time: all blocks of a launch that
// call a barrier must fit on the device, and what waits for the device, such as
// cuda.Buffer.Free, must not stand between the launches of the ranks.
//
// # Faults
//
// A wait ends without its signal if a rank is lost (within two seconds), if a wait of this
// process for the device is interrupted, or by [Memory.Stop]. From then on nothing waits in
// this memory, results are lost, and waits for the device report why: make another.
package symmetric

import (
	_ "embed"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/internal/ipc"
	"gocuda/cudaapi/internal/waits"
)

const (
	most    = 8 // ranks
	slots   = 1024
	blocks  = 1024
	control = 2*slots + 2*blocks*most // words: see symmetric.h
	small   = 64 << 10                // bytes that PutSignal copies in the kernel that signals
)

// Ranks is what this package asks of a message-passing library.
type Ranks = handshake.Ranks

// Memory is one rank's part of memory that all ranks of a host have. It can be given to a
// launch for a parameter of type gocuda::symmetric<T>, or gpu.Symmetric[T] in Go.
type Memory struct {
	device *cuda.Device
	ranks  Ranks // nil: all are of this process
	rank   int
	peers  []*cuda.Buffer // as this device reaches them, and this one's own
	own    *cuda.Buffer   // the whole: memory, then control words
	views  []*ipc.View
	im     *ipc.Imports
	host   *cuda.HostBuffer
	halt   *uint32
	code   *kernels
	arg    any // view, boxed once
	remove func()

	mu   sync.Mutex
	why  error // it is stopped
	told bool  // a wait has reported that
	over chan struct{}
}

// slice and view have the layout of symmetric.h's.
type slice struct {
	at       uint64
	len, cap int64
}

type view struct {
	memory, control [most]slice
	stop            slice
	rank, size      int64
}

// introduction is what the ranks tell each other.
type introduction struct {
	memory ipc.Export
	n      int64
	typ    cuda.Type
	host   [16]byte
}

// New makes memory of n elements at every rank, this one's on device d. It is collective
// and blocks; all get an error or none does. The ranks must be of one host, each GPU must
// reach the others' memory, and there are at most eight. The memory is zero. ranks is the
// Memory's from now on. Package mpi has it as Comm.Symmetric.
func New(ranks Ranks, d *cuda.Device, n int, t cuda.Type) (*Memory, error) {
	m := &Memory{ranks: ranks, device: d, rank: ranks.Rank(), im: new(ipc.Imports), over: make(chan struct{})}
	over := handshake.Over(ranks, handshake.TagOneShot)
	me := introduction{n: int64(n), typ: t, host: ipc.Host()}
	err := m.allocate(ranks.Size(), n, t)
	if err == nil {
		me.memory, err = ipc.NewExport(m.own)
	}
	all, err := handshake.Agree(over, me, err)
	if err == nil {
		_, err = handshake.Agree(over, struct{}{}, m.open(all, n, t))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("symmetric.New: %w", err), m.release())
	}
	handshake.WhenLost(ranks, m.over, func() {
		why := errors.New("a rank is lost")
		if mortal, ok := ranks.(handshake.Mortal); ok && mortal.Loss() != nil {
			why = mortal.Loss()
		}
		m.Stop(why)
	})
	return m, nil
}

// NewLocal makes memory of n elements on each of this process's devices, which are the
// ranks. A device may stand for several.
func NewLocal(devices []*cuda.Device, n int, t cuda.Type) ([]*Memory, error) {
	all := make([]*Memory, len(devices))
	var err error
	for r, d := range devices {
		all[r] = &Memory{device: d, rank: r, over: make(chan struct{})}
		err = errors.Join(err, all[r].allocate(len(devices), n, t))
	}
	for r, m := range all {
		if err != nil {
			break
		}
		var whole []*cuda.Buffer
		for p, o := range all {
			whole = append(whole, o.own)
			if o.device == m.device || m.device.PeerAccessEnabled(o.device) {
				continue
			}
			if e := m.device.EnablePeerAccess(o.device); e != nil {
				err = fmt.Errorf("rank %d's device does not reach rank %d's memory: %w", r, p, e)
			}
		}
		if err == nil {
			err = m.complete(whole, n, t)
		}
	}
	if err == nil {
		return all, nil
	}
	for _, m := range all {
		if m != nil {
			err = errors.Join(err, m.release())
		}
	}
	return nil, fmt.Errorf("symmetric.NewLocal: %w", err)
}

// head is where the control words begin: behind the memory.
func head(n int, t cuda.Type) int { return (n*t.Size() + 255) / 256 * 256 }

func (m *Memory) allocate(size, n int, t cuda.Type) error {
	if size > most {
		return fmt.Errorf("%d ranks; at most %d are allowed", size, most)
	}
	if n < 0 || t.Size() == 0 {
		return fmt.Errorf("%d elements of %v", n, t)
	}
	return ipc.Allocating(func() (err error) {
		if m.code, err = ready(m.device); err != nil {
			return err
		}
		if m.host, err = m.device.AllocHost(16, cuda.Uint32); err != nil {
			return err
		}
		words, err := m.host.Uint32s()
		if err != nil {
			return err
		}
		words[0], m.halt = 0, &words[0]
		if m.own, err = m.device.Alloc(head(n, t)+4*control, cuda.Uint8); err != nil {
			return err
		}
		return errors.Join(m.own.Memset(0), m.device.DefaultStream().Synchronize())
	})
}

// open opens the others' memory.
func (m *Memory) open(all []introduction, n int, t cuda.Type) error {
	whole := make([]*cuda.Buffer, len(all))
	for r, theirs := range all {
		switch {
		case theirs.n != int64(n) || theirs.typ != t:
			return fmt.Errorf("rank %d asks for %d %v, rank %d for %d %v", r, theirs.n, theirs.typ, m.rank, n, t)
		case theirs.host != all[m.rank].host:
			return fmt.Errorf("ranks %d and %d are on two hosts", r, m.rank)
		case r == m.rank:
			whole[r] = m.own
			continue
		}
		v, err := m.im.View(m.device, theirs.memory)
		if err != nil {
			return fmt.Errorf("rank %d's memory cannot be opened: %w", r, err)
		}
		m.views = append(m.views, v)
		whole[r] = v.Buffer
	}
	return m.complete(whole, n, t)
}

// complete fills in what kernels are given.
func (m *Memory) complete(whole []*cuda.Buffer, n int, t cuda.Type) error {
	v := view{rank: int64(m.rank), size: int64(len(whole)), stop: slice{uint64(m.host.Address()), 1, 1}}
	for r, b := range whole {
		at := uint64(b.Address())
		v.memory[r] = slice{at, int64(n), int64(n)}
		v.control[r] = slice{at + uint64(head(n, t)), control, control}
		part, err := b.Slice(0, n*t.Size()).As(t)
		if err != nil {
			return err
		}
		m.peers = append(m.peers, part)
	}
	m.arg = v
	m.remove = waits.Watch(m.device.Ordinal(), watcher{m})
	return nil
}

// Rank is this rank's number, Size how many there are, and Len how many elements each has.
func (m *Memory) Rank() int { return m.rank }

// Size is the number of ranks.
func (m *Memory) Size() int { return len(m.peers) }

// Len is the number of elements of each rank.
func (m *Memory) Len() int { return m.peers[m.rank].Len() }

// Local is this rank's memory.
func (m *Memory) Local() *cuda.Buffer { return m.peers[m.rank] }

// Peer is rank p's memory, as this rank's device reaches it.
func (m *Memory) Peer(p int) *cuda.Buffer { return m.peers[p] }

func (m *Memory) String() string {
	return fmt.Sprintf("symmetric memory of %d %v at each of %d ranks, rank %d on device %d", m.Len(), m.Local().Type(), m.Size(), m.rank, m.device.Ordinal())
}

// OnDevice is what a launch gives the kernel for the Memory: see [cuda.Argument].
func (m *Memory) OnDevice(d *cuda.Device) (any, error) {
	if d != m.device {
		return nil, fmt.Errorf("the symmetric memory is rank %d's, of device %d", m.rank, m.device.Ordinal())
	}
	return m.arg, m.Err()
}

// Put queues a copy of src to place at of rank p's memory.
func (m *Memory) Put(p, at int, src *cuda.Buffer, s *cuda.Stream) error {
	dst, err := m.place("Put", p, at, src, s)
	if err == nil {
		err = ipc.Copy(dst, src, s)
	}
	return err
}

// Get queues a copy to dst from place at of rank p's memory.
func (m *Memory) Get(dst *cuda.Buffer, p, at int, s *cuda.Stream) error {
	src, err := m.place("Get", p, at, dst, s)
	if err == nil {
		err = ipc.Copy(dst, src, s)
	}
	return err
}

// PutSignal is a Put, then a Signal. Up to 64 KiB it is one kernel.
func (m *Memory) PutSignal(p, at int, src *cuda.Buffer, slot int, s *cuda.Stream) error {
	const call = "PutSignal"
	dst, err := m.place(call, p, at, src, s)
	if err == nil {
		err = m.slot(call, slot)
	}
	if err != nil {
		return err
	}
	if src.Bytes() <= small && src.Device() == m.device {
		raw, err := src.As(cuda.Uint8)
		if err != nil {
			return err
		}
		block := min(512, max(32, src.Bytes()/16/32*32))
		return m.queue(m.code.put, block, s, p, at*src.Type().Size(), raw, src.Bytes(), slot)
	}
	if err := ipc.Copy(dst, src, s); err != nil {
		return err
	}
	return m.queue(m.code.signal, 1, s, p, slot)
}

// Signal queues a signal: rank p's counter gets one more when what is queued before it on
// the stream is done.
func (m *Memory) Signal(p, slot int, s *cuda.Stream) error {
	err := m.peer("Signal", p)
	if err == nil {
		err = m.slot("Signal", slot)
	}
	if err != nil {
		return err
	}
	return m.queue(m.code.signal, 1, s, p, slot)
}

// WaitSignal has the stream wait for one more signal of a counter, and uses it up.
func (m *Memory) WaitSignal(slot int, s *cuda.Stream) error {
	if err := m.slot("WaitSignal", slot); err != nil {
		return err
	}
	return m.queue(m.code.wait, 1, s, slot)
}

// Barrier has the stream wait until all ranks' streams have come to theirs.
func (m *Memory) Barrier(s *cuda.Stream) error { return m.queue(m.code.barrier, 32, s) }

// queue launches one of this package's kernels.
func (m *Memory) queue(k *cuda.Kernel, block int, s *cuda.Stream, args ...any) error {
	if s != nil && s.Device() != m.device {
		return fmt.Errorf("symmetric: the stream is of device %d, the memory of device %d", s.Device().Ordinal(), m.device.Ordinal())
	}
	if s == nil {
		s = m.device.DefaultStream()
	}
	return k.Launch(cuda.Grid(1), cuda.Block(block), s, append([]any{m}, args...)...)
}

func (m *Memory) peer(call string, p int) error {
	if p < 0 || p >= len(m.peers) {
		return fmt.Errorf("symmetric.%s: rank %d of %d", call, p, len(m.peers))
	}
	return nil
}

func (m *Memory) slot(call string, slot int) error {
	if slot < 0 || slot >= slots {
		return fmt.Errorf("symmetric.%s: counter %d of %d", call, slot, slots)
	}
	return nil
}

// place is the part of rank p's memory that stands against a buffer.
func (m *Memory) place(call string, p, at int, b *cuda.Buffer, s *cuda.Stream) (*cuda.Buffer, error) {
	if err := m.peer(call, p); err != nil {
		return nil, err
	}
	if err := m.Err(); err != nil {
		return nil, err
	}
	switch there := m.peers[p]; {
	case b == nil:
		return nil, fmt.Errorf("symmetric.%s: the buffer is nil", call)
	case b.Type() != there.Type():
		return nil, fmt.Errorf("symmetric.%s: a buffer of %v, and memory of %v", call, b.Type(), there.Type())
	case at < 0 || at > there.Len()-b.Len():
		return nil, fmt.Errorf("symmetric.%s: elements %d to %d of %d", call, at, at+b.Len(), there.Len())
	case s != nil && s.Device() != m.device:
		return nil, fmt.Errorf("symmetric.%s: the stream is of device %d, the memory of device %d", call, s.Device().Ordinal(), m.device.Ordinal())
	default:
		return there.Slice(at, at+b.Len()), nil
	}
}

// Stop ends what waits in the memory, at this rank, for good.
func (m *Memory) Stop(why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.why == nil && !m.closed() {
		m.why = fmt.Errorf("what waited in symmetric memory was stopped: %w", why)
		atomic.StoreUint32(m.halt, 1)
	}
}

// Err is why the memory was stopped; nil if it was not.
func (m *Memory) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.why == nil && m.closed() {
		return errors.New("the symmetric memory is closed")
	}
	return m.why
}

// watcher hears of waits for the device: see package waits.
type watcher struct{ *Memory }

// Interrupted stops the memory if its device works: no one waits any longer for its kernels.
func (m watcher) Interrupted() {
	if m.device.Busy() {
		m.Stop(driver.ErrInterrupted)
	}
}

// Failed reports once that it was stopped.
func (m watcher) Failed() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.told {
		return nil
	}
	m.told = m.why != nil
	return m.why
}

func (m *Memory) closed() bool {
	select {
	case <-m.over:
		return true
	default:
		return false
	}
}

// Close gives the memory back. It is collective and waits for the ranks' devices, unless a
// rank is lost; graphs that were captured with the memory cannot be launched after it. Of
// memory of one process each part is closed, the devices idle.
func (m *Memory) Close() error {
	if m.closed() {
		return nil
	}
	err := m.device.Synchronize()
	if m.ranks != nil && m.Err() == nil {
		// Nobody unmaps, and nobody frees, what another still uses.
		over := handshake.Over(m.ranks, handshake.TagOneShot)
		_, err1 := handshake.Agree(over, struct{}{}, nil)
		for _, v := range m.views {
			v.Release()
		}
		m.views = nil
		err2 := m.im.Close()
		_, err3 := handshake.Agree(over, struct{}{}, nil)
		err = errors.Join(err, err1, err2, err3)
		if c, ok := m.ranks.(interface{ Free() error }); ok {
			err = errors.Join(err, c.Free())
		}
	}
	return errors.Join(err, m.release())
}

func (m *Memory) release() error {
	m.mu.Lock()
	close(m.over)
	m.mu.Unlock()
	if m.remove != nil {
		m.remove()
	}
	for _, v := range m.views {
		v.Release()
	}
	var errs []error
	if m.im != nil {
		errs = append(errs, m.im.Close())
	}
	return errors.Join(append(errs, ipc.Freeing(m.device, func() error {
		var errs []error
		if m.own != nil {
			errs = append(errs, m.own.Free())
		}
		if m.host != nil {
			errs = append(errs, m.host.Free())
		}
		return errors.Join(errs...)
	}))...)
}

//go:embed symmetric.cu
var source string

// kernels are what is queued in the order of a stream, on one device.
type kernels struct{ signal, wait, barrier, put *cuda.Kernel }

var made struct {
	sync.Mutex
	on map[*cuda.Device]*kernels
}

// ready compiles and loads them, if that was not done: a load may wait for the device.
func ready(d *cuda.Device) (*kernels, error) {
	made.Lock()
	defer made.Unlock()
	if k := made.on[d]; k != nil {
		return k, nil
	}
	k := &kernels{}
	mod, err := cuda.Compile(source, cuda.SourceName("symmetric.cu"), cuda.ForDevice(d))
	if err != nil {
		return nil, err
	}
	for name, to := range map[string]**cuda.Kernel{"signal": &k.signal, "wait": &k.wait, "barrier": &k.barrier, "put": &k.put} {
		if *to, err = mod.Kernel("symmetric_" + name); err != nil {
			return nil, err
		}
		if _, err := (*to).Attribute(d, driver.FuncRegisters); err != nil {
			return nil, err
		}
	}
	if made.on == nil {
		made.on = map[*cuda.Device]*kernels{}
	}
	made.on[d] = k
	return k, nil
}
