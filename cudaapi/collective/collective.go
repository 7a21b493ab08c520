// Package collective has collective operations on device memory, with the
// contract that PyTorch's Gloo gave them: among several GPUs of one process, and
// among the ranks of an MPI communicator with one or several buffers each.
//
//	err := collective.Allreduce(bufs, streams)              // GPUs of this process
//	group, err := collective.NewGroup(mpi.World())          // ranks
//	err = group.Allreduce(bufs, nil, collective.Using(collective.Ring))
//
// # Streams
//
// With streams, one for each buffer and on its device, an operation orders
// itself on them: it follows the work that was queued before, what is queued
// later follows it, and the call returns without the CPU waiting for a device.
// (Among ranks the CPU may wait for the other ranks to make the call.) On a stream that
// is captured it is an error, but for NCCL. Without
// streams the buffers must be ready when the call is made, where the work of the
// default streams counts as ready, and they are ready when it returns.
//
// # Allocation
//
// Collectives run on several devices at once, and some wait for each other
// there. CUDA may carry an allocation out only when a device is idle; one that
// falls between the launches of such an operation can therefore stop everything
// for good. So this package allocates, frees and launches what waits under one
// mutex. It does not hold it while NCCL makes or destroys a communicator of several
// ranks, which waits for the others. A program that allocates device memory in other goroutines meanwhile
// sets its own with [SetMutex] and holds it for that.
package collective

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/allreduce"
	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/internal/ipc"
	"gocuda/cudaapi/internal/schedule"
	"gocuda/cudaapi/record"
)

// Algorithm is how an operation moves the data.
type Algorithm uint8

const (
	// Auto chooses by size, number of members and what there is; see
	// [Group.Choose].
	Auto = Algorithm(allreduce.Auto)
	// Ring passes parts around: the most bandwidth, 2(n-1) steps.
	Ring = Algorithm(allreduce.Ring)
	// ChunkedRing is Ring in smaller pieces that overlap.
	ChunkedRing = Algorithm(allreduce.ChunkedRing)
	// HalvingDoubling exchanges halves with log2(n) partners and back.
	HalvingDoubling = Algorithm(allreduce.HalvingDoubling)
	// Local combines in a tree and sends the result back: the fewest steps,
	// for small sizes.
	Local = Algorithm(allreduce.Tree)
	// Hierarchical reduces within nodes, then between them, then spreads the
	// outcome within nodes. Nodes are members in a row, as many each, whose
	// devices can access each other's memory and no other member's.
	Hierarchical = Algorithm(allreduce.Hierarchical)
	// NCCL is NVIDIA's library, if there is one. It needs a device of its own
	// for each member. If a rank is lost, the others' streams go on without a
	// result, and calls that wait, and those that follow, fail.
	NCCL = Algorithm(allreduce.NCCL)
	// OneShot is one launch at each rank, whose kernels write into each other's
	// memory and wait for each other there. It is for all-reduce among ranks of
	// one host, with a buffer and a device of its own each. If a launch fails at
	// one rank, the call fails at all. If a rank is lost, the call or the next one
	// fails. Streams go on then, without results.
	OneShot = Algorithm(allreduce.OneShot)
	// Direct is OneShot's older name.
	Direct = OneShot
)

func (a Algorithm) String() string { return allreduce.Algorithm(a).String() }

// Option changes how an operation is carried out.
type Option func(*options)

type options struct {
	algorithm Algorithm
	op        cuda.ReduceOp
}

// Using names the algorithm. By default it is Auto.
func Using(a Algorithm) Option { return func(o *options) { o.algorithm = a } }

// Combining names the operator of a reduction. By default it is the sum.
func Combining(op cuda.ReduceOp) Option { return func(o *options) { o.op = op } }

// SetMutex shares a mutex with this package, which then holds m whenever it
// allocates device memory or launches what waits for another device. Call it
// before any operation. nil goes back to a mutex of the package's own.
func SetMutex(m *sync.Mutex) { ipc.SetMutex(m) }

// alone are the members of this process.
var alone = sync.OnceValue(NewLocal)

// NewLocal is a group of the buffers of this process alone. The functions of
// this package use one of their own.
func NewLocal() *Group { return &Group{moves: schedule.NewGroup(nil)} }

// Allreduce leaves in each buffer the combination of all, element by element:
// bufs are buffers of one type and length, on devices of this process.
func Allreduce(bufs []*cuda.Buffer, streams []*cuda.Stream, opts ...Option) error {
	return alone().Allreduce(bufs, streams, opts...)
}

// Broadcast copies bufs[root] to all others.
func Broadcast(root int, bufs []*cuda.Buffer, streams []*cuda.Stream, opts ...Option) error {
	return alone().Broadcast(root, bufs, streams, opts...)
}

// Ranks is what a Group of several processes asks of a message-passing library:
// bytes, on a channel of the Group's own.
type Ranks = handshake.Ranks

// NewGroup is a group of several processes, each with the same number of
// members. ranks is the Group's from now on. Package mpi makes one of a
// communicator, with Comm.Collectives.
func NewGroup(ranks Ranks) *Group { return &Group{moves: schedule.NewGroup(ranks), ranks: ranks} }

// Group is the members among which operations run. Its operations are started
// in the same order by all its ranks.
type Group struct {
	moves   *schedule.Group
	ranks   Ranks // nil: this process alone
	nccl    ncclCache
	oneShot oneShots

	mu    sync.Mutex
	plans map[planKey]*schedule.Plan
}

type planKey struct {
	broadcast        bool
	algorithm        Algorithm
	members, n, root int
	nodes            int // of Hierarchical
}

// Allreduce leaves in each member's buffer the combination of all, element by
// element. Each rank gives one or several buffers, all of one type and length
// and each rank as many; rank r's buffer i is member r*len(bufs)+i.
func (g *Group) Allreduce(bufs []*cuda.Buffer, streams []*cuda.Stream, opts ...Option) error {
	const call = "Allreduce"
	o := read(opts)
	if err := check(call, bufs, streams); err != nil {
		return err
	}
	if !o.op.Allows(bufs[0].Type()) {
		return fmt.Errorf("collective.%s: %s is not for %s", call, o.op, bufs[0].Type())
	}
	return recorded("collective."+call, g.shares(record.FromAll, 0), bufs, streams, -1, func() error {
		return g.run(call, planKey{members: g.members(bufs), n: bufs[0].Len()}, o, bufs, streams)
	})
}

// Broadcast copies member root's buffer to all others (Gloo's one-to-all).
func (g *Group) Broadcast(root int, bufs []*cuda.Buffer, streams []*cuda.Stream, opts ...Option) error {
	const call = "Broadcast"
	o := read(opts)
	if err := check(call, bufs, streams); err != nil {
		return err
	}
	if members := g.members(bufs); root < 0 || root >= members {
		return fmt.Errorf("collective.%s: root %d of %d members", call, root, members)
	}
	mine := root
	if g.ranks != nil {
		mine -= g.ranks.Rank() * len(bufs)
	}
	return recorded("collective."+call, g.shares(record.FromRoot, root/len(bufs)), bufs, streams, mine, func() error {
		return g.run(call, planKey{broadcast: true, members: g.members(bufs), n: bufs[0].Len(), root: root}, o, bufs, streams)
	})
}

func read(opts []Option) options {
	o := options{op: cuda.ReduceSum}
	for _, f := range opts {
		f(&o)
	}
	return o
}

// members is how many there are, given this rank's buffers.
func (g *Group) members(bufs []*cuda.Buffer) int {
	if g.ranks == nil {
		return len(bufs)
	}
	return len(bufs) * g.ranks.Size()
}

func check(call string, bufs []*cuda.Buffer, streams []*cuda.Stream) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("collective."+call+": "+format, args...)
	}
	if len(bufs) == 0 {
		return wrong("there are no buffers")
	}
	if len(streams) != 0 && len(streams) != len(bufs) {
		return wrong("%d streams for %d buffers: give one for each, or none", len(streams), len(bufs))
	}
	for i, b := range bufs {
		switch {
		case b == nil:
			return wrong("buffer %d is nil", i)
		case b.Len() != bufs[0].Len() || b.Type() != bufs[0].Type():
			return wrong("buffer %d has %d %s, buffer 0 %d %s", i, b.Len(), b.Type(), bufs[0].Len(), bufs[0].Type())
		case slices.Contains(bufs[:i], b):
			return wrong("buffer %d is given twice", i)
		}
		for j, c := range bufs[:i] {
			if c.Device() == b.Device() && b.Address() < c.Address()+uintptr(c.Bytes()) && c.Address() < b.Address()+uintptr(b.Bytes()) {
				return wrong("buffers %d and %d share memory", j, i)
			}
		}
		if len(streams) != 0 {
			if streams[i] == nil {
				return wrong("stream %d is nil; the default stream is Device.DefaultStream()", i)
			}
			if streams[i].Device() != b.Device() {
				return wrong("stream %d is device %d's, buffer %d on device %d", i, streams[i].Device().Ordinal(), i, b.Device().Ordinal())
			}
		}
	}
	return nil
}

func (g *Group) run(call string, k planKey, o options, bufs []*cuda.Buffer, streams []*cuda.Stream) error {
	if len(streams) == 0 {
		streams = nil
	}
	if o.algorithm > OneShot {
		return fmt.Errorf("collective.%s: there is no %s", call, o.algorithm)
	}
	var comms *ncclPart
	var noNCCL error
	if o.algorithm == Auto || o.algorithm == NCCL {
		comms, noNCCL = g.nccl.comms(g, bufs, o.op, false)
	}
	k.algorithm = o.algorithm
	switch {
	case o.algorithm == NCCL && comms == nil:
		return fmt.Errorf("collective.%s: NCCL cannot be used: %w", call, noNCCL)
	case k.broadcast && o.algorithm == Auto && comms != nil && k.members > 1:
		k.algorithm = NCCL
	case k.broadcast && o.algorithm == OneShot:
		return fmt.Errorf("collective.%s: one-shot cannot be used: it is for all-reduce among ranks", call)
	case !k.broadcast && (o.algorithm == Auto || o.algorithm == OneShot):
		c := g.call(k.members, bufs, o.algorithm, comms != nil)
		how := allreduce.Decide(c)
		if o.algorithm == OneShot || how == allreduce.LL || how == allreduce.Simple {
			if err := notCaptured(call, streams); err != nil {
				return err
			}
			why, err := g.oneShot.run(g, how, o.op, bufs, streams)
			switch {
			case err != nil || why == nil:
				return err
			case o.algorithm == OneShot:
				return fmt.Errorf("collective.%s: one-shot cannot be used: %w", call, why)
			}
			c.OneShot = false
			how = allreduce.Decide(c)
		}
		k.algorithm = Algorithm(how)
	}
	if k.algorithm == Hierarchical {
		if k.nodes = nodesOf(g, bufs); k.broadcast || k.nodes < 2 {
			return fmt.Errorf("collective.%s: hierarchical cannot be used: it is for all-reduce in several nodes of as many members each", call)
		}
	}
	if k.algorithm == NCCL {
		return comms.run(k, o.op, bufs, streams)
	}
	if err := notCaptured(call, streams); err != nil {
		return err
	}
	c := &schedule.Call{Plan: g.plan(k), Op: o.op, Buffers: bufs, Streams: streams}
	if g.ranks != nil {
		c.PerRank = slices.Repeat([]int{len(bufs)}, g.ranks.Size())
	}
	return g.moves.Run(c)
}

// notCaptured is an error if a stream is captured: all but NCCL's operations order
// members by events and marks that are used once, which no graph can hold.
func notCaptured(call string, streams []*cuda.Stream) error {
	for i, s := range streams {
		if on, err := s.Capturing(); err == nil && on {
			return fmt.Errorf("collective.%s: stream %d is captured, and only NCCL's operations can be part of a graph: call it before or after the capture", call, i)
		}
	}
	return nil
}

// call is what an all-reduce is decided by.
func (g *Group) call(members int, bufs []*cuda.Buffer, want Algorithm, nccl bool) allreduce.Call {
	info, err := cuda.Backend()
	return allreduce.Call{Want: allreduce.Algorithm(want), Bytes: bufs[0].Bytes(), Members: members, OneShot: g.ranks != nil && len(bufs) == 1, Nodes: nodesOf(g, bufs),
		Shared: true, NCCL: nccl, Apart: g.nccl.apart, Simulated: err != nil || info.Name == "sim"}
}

// nodesOf is how many nodes the buffers' devices are in. It is 1 where they are
// not as many in each, or not in a row, and among ranks, who are on one machine.
func nodesOf(g *Group, bufs []*cuda.Buffer) int {
	if g.ranks != nil {
		return 1
	}
	near := func(a, b *cuda.Buffer) bool {
		can := a.Device() == b.Device()
		if !can {
			can, _ = a.Device().CanAccessPeer(b.Device())
		}
		return can
	}
	each := 1
	for each < len(bufs) && near(bufs[0], bufs[each]) {
		each++
	}
	if each == 1 || len(bufs)%each != 0 {
		return 1
	}
	for first := 0; first < len(bufs); first += each {
		if first > 0 && near(bufs[0], bufs[first]) {
			return 1
		}
		for _, b := range bufs[first+1 : first+each] {
			if !near(bufs[first], b) {
				return 1
			}
		}
	}
	return len(bufs) / each
}

// Choose tells which algorithm Auto takes for an Allreduce of these buffers, and
// why. Among ranks, all must ask.
func (g *Group) Choose(bufs []*cuda.Buffer, opts ...Option) (Algorithm, string) {
	if err := check("Choose", bufs, nil); err != nil {
		return Auto, err.Error()
	}
	members := g.members(bufs)
	comms, why := g.nccl.comms(g, bufs, read(opts).op, true)
	reason := fmt.Sprintf("%d members, %d bytes", members, bufs[0].Bytes())
	switch how := allreduce.Decide(g.call(members, bufs, Auto, comms != nil)); how {
	case allreduce.LL, allreduce.Simple:
		return OneShot, reason + ", if the ranks can open each other's memory: by " + how.String()
	case allreduce.NCCL:
		return NCCL, "a device for each member, and NCCL " + ncclVersion()
	default:
		if why != nil {
			reason += "; no NCCL: " + why.Error()
		}
		return Algorithm(how), reason
	}
}

// mostPlans are kept; programs use few sizes, again and again.
const mostPlans = 256

func (g *Group) plan(k planKey) *schedule.Plan {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p := g.plans[k]; p != nil {
		return p
	}
	var s schedule.Schedule
	switch {
	case k.broadcast:
		s = schedule.OneToAll(k.members, k.n, k.root)
	case k.algorithm == Ring:
		s = schedule.Ring(k.members, k.n)
	case k.algorithm == ChunkedRing:
		s = schedule.ChunkedRing(k.members, k.n, 2)
	case k.algorithm == Hierarchical:
		s = schedule.Hierarchical(k.nodes, k.members/k.nodes, k.n)
	case k.algorithm == HalvingDoubling:
		s = schedule.HalvingDoubling(k.members, k.n)
	default:
		s = schedule.Tree(k.members, k.n)
	}
	p := schedule.Compile(s, k.members)
	if g.plans == nil || len(g.plans) >= mostPlans {
		g.plans = map[planKey]*schedule.Plan{}
	}
	g.plans[k] = p
	return p
}

// Close gives back what the group holds: streams, events, mappings of other
// ranks' memory, NCCL's communicators. It waits for their work.
func (g *Group) Close() error {
	return errors.Join(g.nccl.close(), g.oneShot.members.Close(), g.moves.Close())
}
