package schedule

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/internal/ipc"
)

// Group carries out plans among the members of one process, or of several that
// can open each other's device memory. Its calls are made one after the other,
// in the same order in all processes.
type Group struct {
	mu      sync.Mutex
	ranks   handshake.Ranks // nil: this process alone
	lanes   map[laneKey]*lane
	imports ipc.Imports
	calls   uint64 // counts Run, the same in all processes
}

// NewGroup is a group of this process alone (ranks is nil), or of all ranks.
func NewGroup(ranks handshake.Ranks) *Group { return &Group{ranks: ranks, lanes: map[laneKey]*lane{}} }

// lane is where a member's work goes: on a stream of the group's own, so that an
// event is always recorded on the same stream, whatever the caller's streams are.
type lane struct {
	*ipc.Lane
	marks  []*cuda.Event // for whom this process's streams wait
	shared []*cuda.Event // the same, for other processes
}

type laneKey struct {
	member int
	dev    *cuda.Device
}

// Call is a collective to be carried out.
type Call struct {
	Plan    *Plan
	Op      cuda.ReduceOp
	Buffers []*cuda.Buffer // of this process's members, of one type and length
	Streams []*cuda.Stream // as many, each of its buffer's device; or none
	PerRank []int          // how many members each rank has; nil for one process
}

// Run queues a call's work. With streams it follows their earlier work, later
// work follows it, and the CPU waits for no device (only, among several
// processes, for the others' CPUs to get there). Without streams it follows the
// work of the default streams and waits until all is done.
func (g *Group) Run(c *Call) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls++
	r := &run{Group: g, Call: c, views: map[viewKey]*ipc.View{}}
	defer r.release()
	if g.ranks != nil {
		for _, n := range c.PerRank[:g.ranks.Rank()] {
			r.first += n
		}
	}
	var wrong error
	for i, b := range c.Buffers {
		l, err := g.lane(r.first+i, b.Device(), c.Plan.MarksOf(r.first+i))
		wrong = errors.Join(wrong, err)
		r.lanes = append(r.lanes, l)
	}
	if g.ranks != nil {
		wrong = r.exchange(wrong)
	}
	if wrong != nil {
		return wrong
	}
	if err := r.queue(); err != nil {
		return errors.Join(err, r.fail())
	}
	for i, l := range r.lanes {
		var err error
		if c.Streams != nil {
			err = l.Lead(c.Streams[i])
		} else {
			err = l.Stream.Synchronize()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// queue queues the work of this process's members.
func (r *run) queue() error {
	for i, l := range r.lanes {
		if err := l.Follow(r.caller(i)); err != nil {
			return err
		}
	}
	for i := range r.Plan.Actions {
		if err := r.do(&r.Plan.Actions[i]); err != nil {
			return err
		}
	}
	return nil
}

// Close gives streams, events and mappings back. It waits for their work.
func (g *Group) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	var errs []error
	for _, l := range g.lanes {
		errs = append(errs, l.Close())
		for _, e := range slices.Concat(l.marks, l.shared) {
			errs = append(errs, e.Destroy())
		}
	}
	g.lanes = map[laneKey]*lane{}
	return errors.Join(append(errs, g.imports.Close())...)
}

// lane gives a member's lane on a device, with at least so many marks.
func (g *Group) lane(member int, d *cuda.Device, marks int) (*lane, error) {
	key := laneKey{member, d}
	l := g.lanes[key]
	if l == nil {
		own, err := ipc.NewLane(d, false)
		if err != nil {
			return nil, err
		}
		l = &lane{Lane: own}
		g.lanes[key] = l
	}
	for len(l.marks) < marks {
		e, err := d.NewEvent(cuda.DisableTiming)
		if err != nil {
			return nil, err
		}
		l.marks = append(l.marks, e)
	}
	for g.ranks != nil && len(l.shared) < marks {
		e, err := d.NewEvent(cuda.DisableTiming, cuda.Interprocess)
		if err != nil {
			return nil, err
		}
		l.shared = append(l.shared, e)
	}
	return l, nil
}

// run is one call under way.
type run struct {
	*Group
	*Call
	first  int // number of this process's first member
	lanes  []*lane
	remote []remote // by member; of other processes
	views  map[viewKey]*ipc.View
	told   map[int]bool // marks of other processes that are known to be recorded
	spoken map[int]bool // marks of this process's of which the others know
}

// remote is a member of another process.
type remote struct {
	rank   int
	buffer ipc.Export
	marks  []cuda.IPCEvent
}

type viewKey struct {
	member int
	dev    *cuda.Device
}

// local gives a member's place in this process, if it is here.
func (r *run) local(member int) (int, bool) {
	i := member - r.first
	return i, i >= 0 && i < len(r.lanes)
}

// caller is the stream that the caller's earlier work of buffer i is on.
func (r *run) caller(i int) *cuda.Stream {
	if r.Streams != nil {
		return r.Streams[i]
	}
	return r.lanes[i].Device.DefaultStream()
}

func (r *run) do(a *Action) error {
	on, here := r.local(a.On)
	switch a.Kind {
	case Record:
		if !here {
			return nil
		}
		return r.record(a.Mark, r.lanes[on])
	case Wait:
		if !here {
			return nil
		}
		e, err := r.event(a.Mark, r.lanes[on].Device)
		if err != nil {
			return err
		}
		return r.lanes[on].Stream.WaitEvent(e)
	}
	if !here {
		return nil
	}
	return r.move(&a.Transfer, on)
}

// record marks a point of a member's stream, and tells the other processes of
// the waiters that it did.
func (r *run) record(mark int, l *lane) error {
	m := &r.Plan.Marks[mark]
	near, far := r.waiters(m)
	if near {
		if err := l.marks[m.Number].Record(l.Stream); err != nil {
			return err
		}
	}
	if len(far) == 0 {
		return nil
	}
	if err := l.shared[m.Number].Record(l.Stream); err != nil {
		return err
	}
	err := r.speak(word{r.calls, 0}, mark, far)
	r.spoken[mark] = err == nil
	return err
}

// word is what a process says of a mark. Its number keeps what is left of a call that
// has failed from being taken for the next one's.
type word struct {
	call   uint64
	failed uint64 // 1: the mark is not recorded, and will not be
}

func (r *run) speak(w word, mark int, to []int) error {
	for _, rank := range to {
		if err := r.ranks.Send(handshake.Bytes(&w), rank, tag(mark)); err != nil {
			return err
		}
	}
	return nil
}

// hear waits for the word of a mark.
func (r *run) hear(from, mark int) error {
	for {
		var w word
		if err := r.ranks.Recv(handshake.Bytes(&w), from, tag(mark)); err != nil {
			return err
		}
		if w.call != r.calls {
			continue
		}
		if w.failed > 0 {
			return fmt.Errorf("rank %d has failed in this call", from)
		}
		return nil
	}
}

// fail says to those who wait for this process's marks that no more of them come.
func (r *run) fail() error {
	if r.ranks == nil {
		return nil
	}
	var errs []error
	for i := range r.Plan.Marks {
		if _, here := r.local(r.Plan.Marks[i].Of); here && !r.spoken[i] {
			_, far := r.waiters(&r.Plan.Marks[i])
			errs = append(errs, r.speak(word{r.calls, 1}, i, far))
		}
	}
	return errors.Join(errs...)
}

// waiters tells who waits for a mark: members of this process, and ranks, each once.
func (r *run) waiters(m *Mark) (near bool, far []int) {
	for _, w := range m.Waiters {
		if _, here := r.local(w); here {
			near = true
		} else if rank := r.remote[w].rank; !slices.Contains(far, rank) {
			far = append(far, rank)
		}
	}
	return near, far
}

// event is a mark as device d waits for it. If it is another process's, event
// waits until that has queued its recording.
func (r *run) event(mark int, d *cuda.Device) (*cuda.Event, error) {
	m := &r.Plan.Marks[mark]
	if i, here := r.local(m.Of); here {
		return r.lanes[i].marks[m.Number], nil
	}
	from := &r.remote[m.Of]
	if !r.told[mark] {
		if err := r.hear(from.rank, mark); err != nil {
			return nil, err
		}
		r.told[mark] = true
	}
	return r.imports.Event(d, from.marks[m.Number])
}

func tag(mark int) int { return handshake.TagMark + mark%32000 }

// view is a member's buffer as device d can use it; direct says that kernels
// on d can read it.
func (r *run) view(member int, d *cuda.Device) (b *cuda.Buffer, direct bool, err error) {
	i, here := r.local(member)
	if here {
		b := r.Buffers[i]
		direct, err := reaches(d, b)
		return b, direct, err
	}
	key := viewKey{member, d}
	v := r.views[key]
	if v == nil {
		if v, err = r.imports.View(d, r.remote[member].buffer); err != nil {
			return nil, false, err
		}
		r.views[key] = v
	}
	return v.Buffer, true, nil
}

// release ends the views when the lanes have done their work.
func (r *run) release() {
	for _, v := range r.views {
		v.ReleaseWhen(func() (bool, error) {
			for _, l := range r.lanes {
				if over, err := l.Stream.Query(); err != nil || !over {
					return false, err
				}
			}
			return true, nil
		})
	}
}

// reaches reports whether kernels on d can read b, enabling peer access if need be.
func reaches(d *cuda.Device, b *cuda.Buffer) (bool, error) {
	from := b.Device()
	if from == d || d.PeerAccessEnabled(from) {
		return true, nil
	}
	can, err := d.CanAccessPeer(from)
	if err != nil || !can {
		return false, err
	}
	return true, ipc.Allocating(func() error { return d.EnablePeerAccess(from) })
}

// move queues a transfer on the stream of local member to.
func (r *run) move(t *Transfer, to int) error {
	l := r.lanes[to]
	whole, direct, err := r.view(t.From, l.Device)
	if err != nil {
		return err
	}
	src, dst := whole.Slice(t.Lo, t.Hi), r.Buffers[to].Slice(t.Lo, t.Hi)
	if !t.Combine {
		return ipc.Copy(dst, src, l.Stream)
	}
	if direct {
		return cuda.Combine(r.Op, dst, dst, src, l.Stream)
	}
	// No link: the driver copies through the host.
	var scratch *cuda.Buffer
	err = ipc.Allocating(func() (err error) {
		scratch, err = l.Stream.AllocAsync(t.Hi-t.Lo, src.Type())
		return err
	})
	if err != nil {
		return err
	}
	err = ipc.Copy(scratch, src, l.Stream)
	if err == nil {
		err = cuda.Combine(r.Op, dst, dst, scratch, l.Stream)
	}
	return errors.Join(err, ipc.Allocating(func() error { return scratch.FreeAsync(l.Stream) }))
}

// offer is what a member gives to a call, behind which come the handles of as
// many events as it has marks.
type offer struct {
	buffer ipc.Export
	n      int64 // elements; -1: the member's rank has an error
	typ    cuda.Type
	op     cuda.ReduceOp
}

// exchange tells the other processes of this one's buffers and marks, and learns
// theirs. If the calls do not agree, all processes see it.
func (r *run) exchange(wrong error) error {
	r.told, r.spoken = map[int]bool{}, map[int]bool{}
	me, own := r.ranks.Rank(), r.Buffers[0]
	var b []byte
	for i, buf := range r.Buffers {
		var handles []byte
		for k := range r.Plan.MarksOf(r.first + i) {
			var h cuda.IPCEvent
			if wrong == nil {
				h, wrong = r.lanes[i].shared[k].IPCHandle()
			}
			handles = append(handles, h[:]...)
		}
		o := offer{n: int64(buf.Len()), typ: buf.Type(), op: r.Op}
		if buf.Len() > 0 && wrong == nil {
			o.buffer, wrong = ipc.NewExport(buf)
		}
		if wrong != nil {
			o.n = -1 // the others wait to hear it
		}
		b = append(append(b, handshake.Bytes(&o)...), handles...)
	}
	if err := handshake.SendAll(r.ranks, b, handshake.TagCall); err != nil {
		return err
	}
	member := 0
	for rank, n := range r.PerRank {
		if rank == me {
			r.remote = append(r.remote, make([]remote, n)...)
			member += n
			continue
		}
		size := 0
		for i := range n {
			size += int(unsafe.Sizeof(offer{})) + len(cuda.IPCEvent{})*r.Plan.MarksOf(member+i)
		}
		b := make([]byte, size)
		if err := r.ranks.Recv(b, rank, handshake.TagCall); err != nil {
			return err
		}
		for range n {
			var o offer
			b = b[copy(handshake.Bytes(&o), b):]
			m := remote{rank: rank, buffer: o.buffer, marks: make([]cuda.IPCEvent, r.Plan.MarksOf(member))}
			for i := range m.marks {
				b = b[copy(m.marks[i][:], b):]
			}
			switch {
			case wrong != nil:
			case o.n < 0:
				wrong = fmt.Errorf("rank %d cannot give others its memory", rank)
			case o.n != int64(own.Len()) || o.typ != own.Type() || o.op != r.Op:
				wrong = fmt.Errorf("rank %d gave %d %s for %s, rank %d %d %s for %s", rank, o.n, o.typ, o.op, me, own.Len(), own.Type(), r.Op)
			}
			r.remote = append(r.remote, m)
			member++
		}
	}
	return wrong
}
