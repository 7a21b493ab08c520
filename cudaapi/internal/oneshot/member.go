// Package oneshot reduces device memory of several processes of one host, each
// with a GPU of its own, in one launch: kernels write into each other's memory
// and wait for each other there, by one of two protocols, as NCCL calls them: LL
// and Simple (see oneshot.cu).
//
// Whoever starts a reduction must know that all members are about to start it:
// a kernel keeps its device waiting for the others', and what waits for that
// device, such as cuMemFree, waits with it. So nothing that may wait for a
// device stands between the members' agreement and the launch.
//
// A member's part, and what ends each state:
//
//	        Open                 Start, StartOn              all blocks have told
//	(none) ──────► ready ───────────────────────► running ─────────────────────────► ready
//	   │                                             │
//	   │ a rank cannot open the others' memory       │ Stop: a rank is lost, or out of step
//	   ▼                                             ▼
//	(error, at all ranks)                         stopped: Done and Wait fail, for good
package oneshot

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/allreduce"
	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/internal/ipc"
)

const (
	most        = allreduce.Members
	flagBytes   = 512 * most * 4         // as in oneshot.cu
	llPacks     = allreduce.LLBytes / 16 // a pack is sixteen bytes
	llBlock     = 256
	simpleBlock = 512
	manyBlocks  = 132 // as many as an H100 or H200 has multiprocessors
	doneWords   = 512
	stopWords   = 16 // the first is the stop word; done words are on lines of their own
)

// simulatedBlocks is how many blocks a kernel has on simulated devices. These run a few
// at a time, in any order: those of two members that wait for each other might never
// run together.
var simulatedBlocks = 1

// share has the layout of oneshot.cu's.
type share struct {
	at                 [most]uint64
	stop, done, areas  uint64
	rank, size, mark   uint32
	seq, steps         uint32
	slice, room, rooms uint32
}

// Member is one member's part. Its reductions are started by all members in the
// same order, each after the one before is done.
type Member struct {
	lane    *ipc.Lane
	end     *cuda.Event  // of the latest on a caller's stream
	latest  *cuda.Stream // that, if no other was waited for since
	scratch *cuda.Buffer
	views   []*ipc.View      // of the others'
	host    *cuda.HostBuffer // the stop word, then the done words
	halt    *uint32          // the stop word
	words   *ipc.Words
	share   share
	blocks  int  // of Simple, at most
	packs   int  // of a block of Simple, at most
	single  bool // blocks run one after the other

	ll, step uint32 // the latest of LL, and of Simple
	fresh    uint32 // when all blocks of Simple last raised their flags: step/freshSteps

	mu   sync.Mutex
	over chan struct{} // closed with the Member
}

// introduction is what the members tell each other.
type introduction struct {
	scratch ipc.Export
	device  [48]byte // its UUID
}

// Open makes a member's part, on device d. It is collective over ranks and
// blocks. All get an error or none does.
func Open(ranks handshake.Ranks, d *cuda.Device, im *ipc.Imports) (*Member, error) {
	x := &Member{over: make(chan struct{})}
	x.share.rank, x.share.size = uint32(ranks.Rank()), uint32(ranks.Size())
	all, err := x.introduce(ranks, d)
	if err == nil {
		_, err = handshake.Agree(handshake.Over(ranks, handshake.TagOneShot), struct{}{}, x.view(im, all))
	}
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	handshake.WhenLost(ranks, x.over, x.Stop)
	return x, nil
}

func (x *Member) introduce(ranks handshake.Ranks, d *cuda.Device) ([]introduction, error) {
	var me introduction
	err := ipc.Allocating(func() error { return x.allocate(d) })
	if err == nil {
		me.scratch, err = ipc.NewExport(x.scratch)
	}
	uuid := ""
	if err == nil {
		uuid, err = d.UUID()
	}
	copy(me.device[:], uuid)
	return handshake.Agree(handshake.Over(ranks, handshake.TagOneShot), me, err)
}

// view opens the others' memory.
func (x *Member) view(im *ipc.Imports, all []introduction) error {
	seen := map[[48]byte]int{}
	for r := range all {
		if other, ok := seen[all[r].device]; ok {
			return fmt.Errorf("ranks %d and %d share a device", other, r)
		}
		seen[all[r].device] = r
	}
	for r := range all {
		b := x.scratch
		if r != int(x.share.rank) {
			v, err := im.View(x.lane.Device, all[r].scratch)
			if err != nil {
				return fmt.Errorf("rank %d's memory cannot be opened: %w", r, err)
			}
			x.views = append(x.views, v)
			b = v.Buffer
		}
		x.share.at[r] = uint64(b.Address())
	}
	return nil
}

func (x *Member) allocate(d *cuda.Device) (err error) {
	size := int(x.share.size)
	if size > most {
		return fmt.Errorf("%d members; at most %d are allowed", size, most)
	}
	info, err := cuda.Backend()
	if err != nil {
		return err
	}
	// Among many the data are written many times: Simple is for less of them.
	x.blocks, x.packs = 2*manyBlocks, 4096
	if size > 2 {
		x.blocks, x.packs = 128, 512
	}
	if info.Name == "sim" {
		x.blocks = simulatedBlocks
		x.single = x.blocks == 1
	}
	if x.lane, err = ipc.NewLane(d, false); err != nil {
		return err
	}
	bytes := flagBytes + llAreas(size) + 2*(size-1)*x.blocks*x.packs*16
	if x.scratch, err = d.Alloc(bytes, cuda.Uint8); err != nil {
		return err
	}
	if x.host, err = d.AllocHost(stopWords+doneWords, cuda.Uint32); err != nil {
		return err
	}
	words, err := x.host.Uint32s()
	if err != nil {
		return err
	}
	words[0], x.halt = 0, &words[0]
	if x.words, err = ipc.NewWords(x.host.Slice(stopWords, stopWords+doneWords)); err != nil {
		return err
	}
	x.share.stop = uint64(x.host.Address())
	x.share.done = x.share.stop + 4*stopWords
	if x.end, err = d.NewEvent(cuda.DisableTiming); err != nil {
		return err
	}
	if err := x.scratch.MemsetAsync(0, x.lane.Stream); err != nil {
		return err
	}
	return x.lane.Stream.Synchronize()
}

// freshSteps is after how many steps of Simple all blocks take part in a call: flags are
// compared as numbers that wrap, and that of a block which has been idle for 2^31 steps
// would seem to be ahead.
const freshSteps = 1 << 28

// llAreas is how much LL needs.
func llAreas(size int) int { return 2 * size * llPacks * 4 * 8 }

// Start queues out = the combination of all members' in, in the order of the
// members, by LL or Simple, behind the work of the device's default stream. The
// kernels must be [Ready]. It does not wait; Done or Wait does, before the next is
// started.
func (x *Member) Start(a allreduce.Algorithm, op cuda.ReduceOp, out, in *cuda.Buffer) error {
	if err := x.lane.Follow(nil); err != nil {
		return err
	}
	if err := x.follow(x.lane.Stream); err != nil {
		return err
	}
	x.latest = nil
	return x.launch(x.lane.Stream, a, op, out, in)
}

// StartOn is Start in the order of a stream of the device: others may be started
// at once.
func (x *Member) StartOn(s *cuda.Stream, a allreduce.Algorithm, op cuda.ReduceOp, out, in *cuda.Buffer) error {
	if err := x.follow(s); err != nil {
		return err
	}
	if err := x.launch(s, a, op, out, in); err != nil {
		return err
	}
	x.latest = s
	return x.end.Record(s)
}

// follow keeps the reductions of several streams in their order.
func (x *Member) follow(s *cuda.Stream) error {
	if x.latest == nil || x.latest == s {
		return nil
	}
	return s.WaitEvent(x.end)
}

func (x *Member) launch(on *cuda.Stream, a allreduce.Algorithm, op cuda.ReduceOp, out, in *cuda.Buffer) error {
	k, err := kernelsOf(x.lane.Device, in.Type())
	if err != nil {
		return err
	}
	packs := (in.Bytes() + 15) / 16
	s := &x.share
	kernel, block, blocks := k.ll, llBlock, 1
	if a == allreduce.LL && packs <= llPacks && x.ll < math.MaxUint32 { // a number is used once
		x.ll++
		s.seq, s.areas, s.room = x.ll, flagBytes, llPacks
		block = min(llBlock, (packs+31)/32*32)
		if !x.single {
			blocks = (packs + block - 1) / block
		}
	} else {
		kernel, block = k.simple, simpleBlock
		most, room := x.blocks, x.packs
		if most == 2*manyBlocks && packs <= most*room {
			most, room = manyBlocks, 2*room // one step of these is quicker
		}
		blocks = min((packs+block-1)/block, most)
		if now := x.step / freshSteps; now != x.fresh {
			x.fresh, most, room, blocks = now, x.blocks, x.packs, x.blocks
		}
		slice := min((packs+blocks-1)/blocks, room)
		steps := (packs + slice*blocks - 1) / (slice * blocks)
		s.seq, s.steps, s.slice = x.step+1, uint32(steps), uint32(slice)
		s.areas, s.room, s.rooms = flagBytes+uint64(llAreas(int(s.size))), uint32(room), uint32(most)
		x.step += uint32(steps)
	}
	s.mark = x.words.Begin(blocks)
	return kernel.Launch(cuda.Grid(blocks), cuda.Block(block), on, out, in, in.Len(), *s, int(op))
}

// Done reports whether what Start queued is done: the result is there, for work
// that is queued from now on.
func (x *Member) Done() (bool, error) {
	done, err := x.words.Done(x.lane.Stream)
	return done, stopped(err)
}

// Wait waits for what Start queued.
func (x *Member) Wait() error { return stopped(x.words.Wait(x.lane.Stream)) }

// ErrStopped is the end of a reduction that Stop has ended.
var ErrStopped = errors.New("the reduction was stopped: a rank is lost")

func stopped(err error) error {
	if errors.Is(err, ipc.ErrSilent) {
		return ErrStopped
	}
	return err
}

// Stop ends what is under way, whose result is lost: a member is. The Member
// cannot be used after it.
func (x *Member) Stop() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.closed() {
		atomic.StoreUint32(x.halt, 1)
	}
}

func (x *Member) closed() bool {
	select {
	case <-x.over:
		return true
	default:
		return false
	}
}

// Close gives memory back, when the other members use it no more.
func (x *Member) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	close(x.over)
	var errs []error
	if x.lane != nil {
		errs = append(errs, x.lane.Close())
	}
	if x.latest != nil {
		errs = append(errs, x.end.Synchronize())
	}
	if x.end != nil {
		errs = append(errs, x.end.Destroy())
	}
	for _, v := range x.views {
		v.Release()
	}
	free := func() error {
		var errs []error
		if x.scratch != nil {
			errs = append(errs, x.scratch.Free())
		}
		if x.host != nil {
			errs = append(errs, x.host.Free())
		}
		return errors.Join(errs...)
	}
	if x.lane != nil {
		errs = append(errs, ipc.Freeing(x.lane.Device, free))
	}
	return errors.Join(errs...)
}
