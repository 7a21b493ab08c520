// Package direct reduces device memory of several processes of one host, each
// with a GPU of its own, in one launch: kernels write into each other's memory
// and wait for each other there.
//
// Whoever starts a reduction must know that all members are about to start it:
// a kernel keeps its device waiting for the others', and what waits for that
// device, such as cuMemFree, waits with it. So nothing that may wait for a
// device stands between the members' agreement and the launch.
package direct

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/fabric"
)

// Way is how a reduction moves the data.
type Way uint8

// The ways.
const (
	// Quick writes twice the data, and waits for nothing but the data.
	Quick Way = iota + 1
	// Bulk writes the data once, and flags behind them.
	Bulk
)

// Most is how many members there may be.
const Most = 8

const (
	flagBytes  = 512 * Most * 4 // as in direct.cu
	quickPacks = 16 << 10       // of sixteen bytes: 256 KiB
	quickBlock = 256
	bulkBlock  = 512
	bulkBlocks = 132 // as many as an H100 or H200 has multiprocessors
	doneWords  = 512
)

// QuickBytes is the longest buffer that Quick can do.
const QuickBytes = quickPacks * 16

// share has the layout of direct.cu's.
type share struct {
	at                 [Most]uint64
	stop, done, areas  uint64
	rank, size, mark   uint32
	turn, steps        uint32
	slice, room, rooms uint32
}

// Exchange is one member's part. Its reductions are started by all members in
// the same order, each after the one before is done.
type Exchange struct {
	dev     *cuda.Device
	stream  *cuda.Stream
	edge    *cuda.Event  // of the default stream
	end     *cuda.Event  // of the latest on a caller's stream
	latest  *cuda.Stream // that, if no other was waited for since
	scratch *cuda.Buffer
	host    *cuda.HostBuffer // word 0: stop; from doneAt on: blocks that are done
	words   []uint32
	share   share
	blocks  int  // of Bulk, at most
	packs   int  // of a block of Bulk, at most
	single  bool // blocks run one after the other

	over chan struct{} // closed with the Exchange

	turn, step uint32 // the latest of Quick, and of Bulk
	blocksOn   int    // of what is under way
	asked      int
}

const doneAt = 16 // on a line of its own

// Open makes a member's part, on device d. It is collective over ranks and
// blocks. All get an error or none does.
func Open(ranks fabric.Ranks, d *cuda.Device, im *fabric.Imports) (*Exchange, error) {
	x := &Exchange{dev: d}
	x.share.rank, x.share.size = uint32(ranks.Rank()), uint32(ranks.Size())
	var e fabric.Export
	err := fabric.Allocating(func() error { return x.allocate() })
	if err == nil {
		e, err = fabric.NewExport(x.scratch)
	}
	uuid := ""
	if err == nil {
		uuid, err = d.UUID()
	}
	all, err := tell(ranks, err, append(e.Append(nil), fmt.Sprintf("%-48s", uuid)...))
	if err == nil {
		seen := map[string]int{}
		for r, b := range all {
			id := string(b[fabric.ExportSize:])
			if other, ok := seen[id]; ok {
				err = fmt.Errorf("ranks %d and %d share a device", other, r)
				break
			}
			seen[id] = r
			if r == ranks.Rank() {
				x.share.at[r] = uint64(x.scratch.Address())
			} else if err == nil {
				err = x.view(im, r, b)
			}
		}
		_, err = tell(ranks, err, nil)
	}
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	if l, ok := ranks.(interface{ Lost() <-chan struct{} }); ok {
		x.over = make(chan struct{})
		go x.watch(l.Lost(), x.over)
	}
	return x, nil
}

// watch ends what waits for a rank that is lost, once what it had sent has had
// time to arrive.
func (x *Exchange) watch(lost <-chan struct{}, over chan struct{}) {
	select {
	case <-over:
		return
	case <-lost:
	}
	select {
	case <-over:
	case <-time.After(time.Second):
		x.Stop()
	}
}

func (x *Exchange) allocate() (err error) {
	size := int(x.share.size)
	if size > Most {
		return fmt.Errorf("%d members, and %d are the most", size, Most)
	}
	info, err := cuda.Backend()
	if err != nil {
		return err
	}
	// Among many the data are written many times: Bulk is for less of them.
	x.blocks, x.packs = 2*bulkBlocks, 4096
	if size > 2 {
		x.blocks, x.packs = 128, 512
	}
	if info.Name == "sim" {
		// A simulated device runs a few blocks at a time, in any order: those of
		// two members that wait for each other might never run together.
		x.single, x.blocks = true, 1
	}
	bytes := flagBytes + quickAreas(size) + 2*(size-1)*x.blocks*x.packs*16
	if x.scratch, err = x.dev.Alloc(bytes, cuda.Uint8); err != nil {
		return err
	}
	if x.host, err = x.dev.AllocHost(doneAt+doneWords, cuda.Uint32); err != nil {
		return err
	}
	x.words = x.host.Uint32s()
	clear(x.words)
	x.share.stop = uint64(x.host.Address())
	x.share.done = x.share.stop + 4*doneAt
	if x.stream, err = x.dev.NewStream(cuda.NonBlocking); err != nil {
		return err
	}
	if x.edge, err = x.dev.NewEvent(cuda.DisableTiming); err != nil {
		return err
	}
	if x.end, err = x.dev.NewEvent(cuda.DisableTiming); err != nil {
		return err
	}
	if err := x.scratch.MemsetAsync(0, x.stream); err != nil {
		return err
	}
	return x.stream.Synchronize()
}

// quickAreas is how much Quick needs.
func quickAreas(size int) int { return 2 * size * quickPacks * 4 * 8 }

func (x *Exchange) view(im *fabric.Imports, rank int, b []byte) error {
	e, err := fabric.ReadExport(b)
	if err != nil {
		return err
	}
	v, err := im.View(x.dev, e)
	if err != nil {
		return fmt.Errorf("rank %d's memory cannot be opened: %w", rank, err)
	}
	x.share.at[rank] = uint64(v.Address())
	return nil
}

// tell gives every rank what each has, unless one of them failed: then the
// error, to all.
func tell(ranks fabric.Ranks, err error, mine []byte) ([][]byte, error) {
	const tag, room = 31999, 200
	status := make([]byte, room)
	if err != nil {
		copy(status[2:], err.Error())
		binary.LittleEndian.PutUint16(status, uint16(min(len(err.Error()), room-2)))
	}
	all, wrong := fabric.Allgather(ranks, append(status, mine...), tag)
	if wrong != nil {
		return nil, wrong
	}
	for r, b := range all {
		if n := binary.LittleEndian.Uint16(b); n > 0 {
			return nil, fmt.Errorf("rank %d: %s", r, b[2:2+n])
		}
		all[r] = b[room:]
	}
	return all, nil
}

// Best is the way that suits so many bytes, 0 if something else suits them
// better.
func (x *Exchange) Best(bytes int) Way {
	size := int(x.share.size)
	switch {
	case bytes <= QuickBytes/(size-1):
		return Quick
	case size == 2, bytes <= 1<<20:
		return Bulk
	}
	return 0
}

// Start queues out = the combination of all members' in, in the order of the
// members, behind the work of the device's default stream. The kernels must be
// [Ready]. It does not wait; Done or Wait does, before the next is started.
func (x *Exchange) Start(w Way, op cuda.ReduceOp, out, in *cuda.Buffer) error {
	if err := x.edge.Record(x.dev.DefaultStream()); err != nil {
		return err
	}
	if err := x.stream.WaitEvent(x.edge); err != nil {
		return err
	}
	if err := x.follow(x.stream); err != nil {
		return err
	}
	x.latest = nil
	return x.launch(x.stream, w, op, out, in)
}

// StartOn is Start in the order of a stream of the device: others may be started
// at once.
func (x *Exchange) StartOn(s *cuda.Stream, w Way, op cuda.ReduceOp, out, in *cuda.Buffer) error {
	if err := x.follow(s); err != nil {
		return err
	}
	if err := x.launch(s, w, op, out, in); err != nil {
		return err
	}
	x.latest = s
	return x.end.Record(s)
}

// follow keeps the reductions of several streams in their order.
func (x *Exchange) follow(s *cuda.Stream) error {
	if x.latest == nil || x.latest == s {
		return nil
	}
	return s.WaitEvent(x.end)
}

func (x *Exchange) launch(on *cuda.Stream, w Way, op cuda.ReduceOp, out, in *cuda.Buffer) error {
	k, err := kernelsOf(x.dev, in.Type())
	if err != nil {
		return err
	}
	packs := (in.Bytes() + 15) / 16
	s := &x.share
	s.mark++
	kernel, block, blocks := k.quick, quickBlock, 1
	if w == Quick && packs <= quickPacks && x.turn < math.MaxUint32 { // numbers of turns are used once
		x.turn++
		s.turn, s.areas, s.room = x.turn, flagBytes, quickPacks
		block = min(quickBlock, (packs+31)/32*32)
		if !x.single {
			blocks = (packs + block - 1) / block
		}
	} else {
		kernel, block = k.bulk, bulkBlock
		most, room := x.blocks, x.packs
		if most == 2*bulkBlocks && packs <= most*room {
			most, room = bulkBlocks, 2*room // one step of these is quicker
		}
		blocks = min((packs+block-1)/block, most)
		slice := min((packs+blocks-1)/blocks, room)
		steps := (packs + slice*blocks - 1) / (slice * blocks)
		s.turn, s.steps, s.slice = x.step+1, uint32(steps), uint32(slice)
		s.areas, s.room, s.rooms = flagBytes+uint64(quickAreas(int(s.size))), uint32(room), uint32(most)
		x.step += uint32(steps)
	}
	x.blocksOn, x.asked = blocks, 0
	return kernel.Launch(cuda.Grid(blocks), cuda.Block(block), on, out, in, in.Len(), *s, int(op))
}

// Done reports whether what Start queued is done: the result is there, for work
// that is queued from now on.
func (x *Exchange) Done() (bool, error) {
	if x.told() {
		return true, nil
	}
	if x.asked++; x.asked%32 != 0 {
		return false, nil
	}
	over, err := x.stream.Query()
	if err == nil && over && !x.told() {
		err = errStopped
	}
	return err == nil && over, err
}

// Wait waits for what Start queued.
func (x *Exchange) Wait() error {
	for range 10_000 { // the host sees it before the stream's end
		if x.told() {
			return nil
		}
	}
	if err := x.stream.Synchronize(); err != nil {
		return err
	}
	if !x.told() {
		return errStopped
	}
	return nil
}

var errStopped = errors.New("the reduction was stopped: a rank is lost")

// told reports whether all blocks have said that they are done.
func (x *Exchange) told() bool {
	for i := range x.blocksOn {
		if atomic.LoadUint32(&x.words[doneAt+i]) != x.share.mark {
			return false
		}
	}
	return true
}

// Stop ends what is under way, whose result is lost: a member is. The Exchange
// cannot be used after it.
func (x *Exchange) Stop() { atomic.StoreUint32(&x.words[0], 1) }

// Close gives memory back, when the other members use it no more.
func (x *Exchange) Close() error {
	var errs []error
	if x.over != nil {
		close(x.over)
		x.over = nil
	}
	if x.stream != nil {
		errs = append(errs, x.stream.Synchronize(), x.stream.Destroy())
	}
	if x.latest != nil {
		errs = append(errs, x.end.Synchronize())
	}
	for _, e := range []*cuda.Event{x.edge, x.end} {
		if e != nil {
			errs = append(errs, e.Destroy())
		}
	}
	errs = append(errs, fabric.Allocating(func() error {
		var errs []error
		if x.scratch != nil {
			errs = append(errs, x.scratch.Free())
		}
		if x.host != nil {
			errs = append(errs, x.host.Free())
		}
		return errors.Join(errs...)
	}))
	return errors.Join(errs...)
}
