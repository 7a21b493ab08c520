package sim

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"

	"gocuda/cudaapi/driver"
)

// launchABI has the layout of gocuda::Launch in include/sim/thread.h.
type launchABI struct {
	next, blocks        uint64
	grid, block         [3]uint32
	shared, cooperative uint32
	beside, limit       uint32
	params              uintptr
	base, size, shift   uint64
	reachable           uintptr // a byte for each arena: whether the kernel may use it
	valid               uintptr
	ranges              uintptr
	nranges             uint64
	heap                uint64
	regions             uintptr
	nregions            uint64
	areas               uintptr
	nareas              uint64
	image               [2]uint64
	accessed            [6]uint64 // bytes read and written, loads, stores, bytes of shared memory, barriers
	traces, traced      uintptr   // of traces.go; 0 if nobody wants to know what is touched
	cluster             [4]uint32 // blocks of a cluster, and how many in x, y and z; 0: none
	textures            uint64    // the table of texture and surface objects; 0 where there are none
	stop, reversed      uint32
	failure             failureABI
	zeros, zeroLine     uint32
	zeroBlock           [3]uint32
	zeroThread          [3]uint32
	order               uintptr // of order.go or count.go; 0 if nobody looks for races, or counts

	// Not the C++ code's:
	counted uint64                 // blocks whose accesses are counted
	touched [2*maxAreas + 2]uint64 // bytes read and written of each area, and elsewhere
	rounds  uint64                 // how often their threads together passed the load that they passed most often
}

type failureABI struct {
	kind, size, write, line uint32
	address                 uint64
	block, thread           [3]uint32
	text                    [256]byte
}

// address is where a pointer's or a slice's data lies. Package reflect lets it
// escape: on a goroutine's stack it would move when the stack grows.
func address(p any) uintptr { return reflect.ValueOf(p).Pointer() }

// Launch enqueues a kernel.
func (m *Driver) Launch(c driver.Context, l *driver.Launch) error {
	call := "cuLaunchKernel"
	if l.Cooperative || l.Attributes != nil {
		call = "cuLaunchKernelEx"
	}
	watched, err := m.watches(c, l)
	if err != nil {
		return err
	}
	ctx, s, err := m.target(call, c, l.Stream)
	defer m.mu.Unlock()
	if err != nil {
		return err
	}
	f, err := m.function(call, c, l.Function)
	if err != nil {
		return err
	}
	if s.ctx != ctx {
		return fail(call, driver.ErrInvalidHandle, "the stream is of device %d, the kernel of device %d", s.ctx.dev.id, ctx.dev.id)
	}
	if err := m.checkShape(call, f, l); err != nil {
		return err
	}
	name := l.Name
	if name == "" {
		name = f.kernel.name
	}
	o := &op{kind: opKernel, name: name, code: f.mod}
	threads := int(l.Block.X * l.Block.Y * l.Block.Z)
	a := &launchABI{
		blocks: uint64(l.Grid.X) * uint64(l.Grid.Y) * uint64(l.Grid.Z),
		grid:   [3]uint32{l.Grid.X, l.Grid.Y, l.Grid.Z}, block: [3]uint32{l.Block.X, l.Block.Y, l.Block.Z},
		shared: l.SharedBytes + uint32(f.kernel.describe.shared), limit: uint32(m.coresident(f, threads, uint64(l.SharedBytes))),
	}
	if watched != nil { // whose static shared memory may lie elsewhere
		a.shared = l.SharedBytes + uint32(watched.kernel.describe.shared)
	}
	if l.Cooperative {
		a.cooperative = 1
	}
	clusters := f.clusters(l)
	a.cluster = [4]uint32{clusters.X * clusters.Y * clusters.Z, clusters.X, clusters.Y, clusters.Z}
	if m.opt.Adversarial {
		a.reversed = uint32(m.sched.rng.IntN(2))
	}
	// Parameters as wide as vector loads may ask.
	params := make([]uint64, len(l.Params)/8+3)
	a.params = uintptr(roundUp(uint64(address(params)), 16))
	copy(bytesAt(a.params, uint64(len(l.Params))), l.Params)
	load := &kernelLoad{blocks: a.blocks, threads: uint64(threads), resident: uint64(a.limit)}
	var reach []*allocation
	for off := 0; off+8 <= len(l.Params); off += 8 {
		at := uintptr(*(*uint64)(pointer(a.params + uintptr(off))))
		if p := m.space.find(at); p != nil {
			reach = append(reach, p)
			readOnly := slices.ContainsFunc(l.Pointers, func(q driver.PointerParam) bool { return int(q.Offset) == off && q.ReadOnly })
			load.reaches(at, p, ctx.dev.id, !readOnly)
		} else if t := m.objects.live[uint64(at)]; t != nil { // a word of this value is nothing else
			reach = append(reach, t.mem)
			o.reads = append(o.reads, t.span)
			if t.surface {
				o.writes = append(o.writes, t.span)
			}
		}
	}
	for _, p := range l.Pointers {
		if int(p.Offset)+8 > len(l.Params) {
			continue
		}
		at := uintptr(*(*uint64)(pointer(a.params + uintptr(p.Offset))))
		b := m.space.find(at)
		if b == nil {
			continue
		}
		sp := span{at, b.end()}
		o.reads = append(o.reads, sp)
		if !p.ReadOnly {
			o.writes = append(o.writes, sp)
		}
	}
	observe, races := l.Observe, l.Races
	origin, grid, block, shared := l.Origin, l.Grid, l.Block, uint64(l.SharedBytes)
	var pointers []driver.PointerParam // where races are looked for
	if watched != nil {
		pointers = slices.Clone(l.Pointers)
	}
	o.call, o.engine, o.share = m.profile.LaunchCall, &ctx.dev.engines.compute, load.share()
	o.work = func(o *op) error {
		load, a := *load, *a // a graph runs the same launch again
		load.areas = slices.Clone(load.areas)
		bounds := load.bounds()
		a.areas, a.nareas = address(bounds), uint64(len(bounds)/2)
		var t *traces
		if observe != nil {
			if t = m.tracers.take(m); t != nil {
				a.traces, a.traced = t.words, t.pieces
			}
		}
		run := f
		if watched != nil {
			run = watched
		}
		take, counts := m.counter.Load(), (*driver.Counts)(nil)
		if take != nil {
			counts = &driver.Counts{Kernel: name, Origin: origin, Device: ctx.dev.id, Grid: grid, Block: block, SharedBytes: int(a.shared),
				Resident: m.profile.blocksPerSM(threads, shared+uint64(f.mod.code.sharedBytes(f.kernel)))}
			counting, missing := m.counted(f, origin)
			if counts.Missing = missing; missing == nil {
				run, a.shared = counting, uint32(shared+counting.kernel.describe.shared)
				if a.order, counts.Missing = newCounts(); counts.Missing != nil {
					run = f
				} else {
					defer release(a.order, countSize) //nolint:errcheck // there is less room then
				}
			}
		}
		err := m.runKernel(o, run, &a, reach, pointers, races)
		if t != nil {
			observe(m.touched(t, a.image))
			m.tracers.give(t)
		}
		runtime.KeepAlive(bounds)
		load.take(&a, m.opt.NoCheck)
		o.bytes = load.read + load.stored
		o.duration = m.profile.kernelTime(&load)
		if counts != nil {
			if run != f && run != watched {
				m.countsOf(f, (*countABI)(pointer(a.order)), counts)
			}
			counts.Duration, counts.Modelled = o.duration, true
			(*take)(counts)
		}
		runtime.KeepAlive(params)
		return err
	}
	m.push(s, o)
	return nil
}

// reaches notes that an argument points into an allocation.
func (k *kernelLoad) reaches(at uintptr, b *allocation, on driver.Device, written bool) {
	where := inDevice
	switch {
	case b.kind != driver.MemoryDevice:
		where = inHost
	case b.device != on:
		where = inPeer
	}
	for i := range k.areas {
		if a := &k.areas[i]; a.hi == b.end() {
			a.lo, a.written = min(a.lo, at), a.written || written
			return
		}
	}
	if len(k.areas) < maxAreas {
		k.areas = append(k.areas, area{span: span{at, b.end()}, where: where, written: written})
	}
}

// bounds are where the areas begin and end.
func (k *kernelLoad) bounds() []uint64 {
	bounds := make([]uint64, 0, 2*maxAreas)
	for _, a := range k.areas {
		bounds = append(bounds, uint64(a.lo), uint64(a.hi))
	}
	return bounds
}

// take notes what a launch's blocks did, of which some counted.
func (k *kernelLoad) take(a *launchABI, noCheck bool) {
	blocks, threads := float64(max(a.counted, 1)), float64(max(a.counted*k.threads, 1))
	all := func(n uint64) uint64 { return uint64(float64(n) * (float64(a.blocks) / blocks)) }
	k.counted = !noCheck
	k.read, k.stored, k.loads, k.stores, k.shared = all(a.accessed[0]), all(a.accessed[1]), all(a.accessed[2]), all(a.accessed[3]), all(a.accessed[4])
	for i := range k.areas {
		k.areas[i].read, k.areas[i].stored = all(a.touched[2*i]), all(a.touched[2*i+1])
	}
	k.elsewhere = all(a.touched[2*maxAreas]) + all(a.touched[2*maxAreas+1])
	k.rounds, k.barriers = float64(a.rounds)/threads, float64(a.accessed[5])/threads
}

func (m *Driver) checkShape(call string, f *function, l *driver.Launch) error {
	threads := uint64(l.Block.X) * uint64(l.Block.Y) * uint64(l.Block.Z)
	need := uint32(0)
	for _, p := range f.kernel.params {
		need = max(need, p.Offset+p.Size)
	}
	switch {
	case l.Grid.X == 0 || l.Grid.Y == 0 || l.Grid.Z == 0 || threads == 0:
		return fail(call, driver.ErrInvalidValue, "a grid of %v blocks of %v threads is empty", l.Grid, l.Block)
	case l.Block.X > 1024 || l.Block.Y > 1024 || l.Block.Z > 64 || threads > maxThreads:
		return fail(call, driver.ErrInvalidValue, "a block of %v threads: at most 1024 in all, and 64 in z", l.Block)
	case threads > uint64(f.kernel.maxThreads()):
		return fail(call, driver.ErrInvalidValue, "a block of %v threads: the kernel is for at most %d (__launch_bounds__)", l.Block, f.kernel.maxThreads())
	case l.Grid.X > 1<<31-1 || l.Grid.Y > 65535 || l.Grid.Z > 65535:
		return fail(call, driver.ErrInvalidValue, "a grid of %v blocks: at most 2147483647, 65535 and 65535", l.Grid)
	case int(l.SharedBytes) > f.shared:
		return fail(call, driver.ErrInvalidValue, "%d bytes of dynamic shared memory: %d allowed", l.SharedBytes, f.shared)
	case l.Cooperative && uint64(l.Grid.X)*uint64(l.Grid.Y)*uint64(l.Grid.Z) > uint64(m.coresident(f, int(threads), uint64(l.SharedBytes))):
		return fail(call, driver.ErrCooperativeTooLarge, "%v blocks of %d threads: at most %d run at a time", l.Grid, threads,
			m.coresident(f, int(threads), uint64(l.SharedBytes)))
	case f.kernel.describe.cluster != (driver.Dim3{}) && f.clusters(l) != f.kernel.describe.cluster:
		return fail(call, driver.ErrInvalidClusterSize, "clusters of %v blocks: the kernel is for clusters of %v (__cluster_dims__)", f.clusters(l), f.kernel.describe.cluster)
	case !fitsClusters(l.Grid, f.clusters(l)):
		return fail(call, driver.ErrInvalidClusterSize, "clusters of %v blocks in a grid of %v: at most %d blocks each, and the grid a multiple", f.clusters(l), l.Grid, maxCluster)
	case len(l.Params) < int(need):
		return fail(call, driver.ErrInvalidValue, "%d bytes of parameters: the kernel takes %d", len(l.Params), need)
	}
	return nil
}

// clusters are a launch's: its own, or those that the kernel declares; zero for none.
func (f *function) clusters(l *driver.Launch) driver.Dim3 {
	if l.Attributes != nil && l.Attributes.Cluster != (driver.Dim3{}) {
		return l.Attributes.Cluster
	}
	return f.kernel.describe.cluster
}

// maxCluster is how many blocks every device that has clusters can put into one.
const maxCluster = 8

// fitsClusters checks a launch's clusters; zero stands for none.
func fitsClusters(grid, c driver.Dim3) bool {
	if c == (driver.Dim3{}) {
		return true
	}
	return c.X > 0 && c.Y > 0 && c.Z > 0 && uint64(c.X)*uint64(c.Y)*uint64(c.Z) <= maxCluster &&
		grid.X%c.X == 0 && grid.Y%c.Y == 0 && grid.Z%c.Z == 0
}

// coresident is how many blocks of a kernel the device holds at a time.
func (m *Driver) coresident(f *function, threads int, shared uint64) int {
	return m.profile.SMs * m.profile.blocksPerSM(threads, shared+uint64(f.mod.code.sharedBytes(f.kernel)))
}

// runKernel runs a kernel on all cores.
func (m *Driver) runKernel(o *op, f *function, a *launchABI, reach []*allocation, pointers []driver.PointerParam, tell func([]driver.Race)) error {
	const call = "cuLaunchKernel"
	ctx := o.ctx
	for _, b := range reach {
		m.space.touch(b, 0, b.size, false)
	}
	m.mu.Lock()
	sp := m.space
	a.base, a.size, a.shift, a.valid = uint64(sp.base), uint64(sp.size), uint64(sp.shift), sp.valid
	reachable := make([]byte, len(sp.arenas))
	reachable[len(m.devices)], reachable[len(m.devices)+1], reachable[ctx.dev.id] = 1, 1, 1
	for d := range ctx.peers {
		reachable[d] = 1
	}
	for _, p := range m.pools {
		if p.access[ctx.dev.id] {
			reachable[p.dev.id] = 1
		}
	}
	if ctx.heap == 0 {
		ctx.heap, _ = mapPrivate(0, heapSize) // without it, kernels get none
	}
	a.heap, a.textures = uint64(ctx.heap), uint64(m.objects.table)
	var ranges []uint64
	for _, r := range sp.registered {
		ranges = append(ranges, uint64(r.base), uint64(r.end()))
	}
	var regions []uint64 // what accesses are found to lie in at once
	for _, b := range reach {
		if !b.freed && (sp.arenaOf(b.base) == nil || reachable[(b.base-sp.base)>>sp.shift] != 0) {
			regions = append(regions, uint64(b.base), uint64(b.end()))
		}
	}
	m.mu.Unlock()
	a.reachable = address(reachable)
	a.image = f.mod.code.image()
	a.ranges, a.nranges = address(ranges), uint64(len(ranges))
	a.regions, a.nregions = address(regions), uint64(len(regions))
	workers := min(uint64(runtime.GOMAXPROCS(0)), a.blocks, uint64(a.limit))
	if a.cooperative != 0 {
		workers = 1
	} else if small := uint64(a.block[0]) * uint64(a.block[1]) * uint64(a.block[2]) * a.blocks; small <= 1024 {
		workers = 1
	}
	a.counted = a.blocks
	if f.mod.code.sites > 0 {
		a.counted = countedBlocks(a.blocks)
	}
	if f.mod.code.counted {
		workers = 1
	} else if f.mod.code.observed && a.blocks < 1<<22 {
		at, err := m.orders.take()
		if err != nil {
			return fail(call, driver.ErrOutOfMemory, "%v", err)
		}
		defer m.orders.give(at)
		a.order, workers = at, 1
	}
	err := m.crew.run(f, a, int(workers), &ctx.ending, func() bool { return m.sched.waits(o, a) })
	flushOutput()
	if a.zeros > 0 {
		fmt.Fprintln(os.Stderr, zeroDivision(o.name, a))
	}
	if a.order != 0 && f.mod.code.observed {
		m.reportRaces(o.name, f, a, pointers, tell)
	}
	runtime.KeepAlive(reachable)
	runtime.KeepAlive(ranges)
	runtime.KeepAlive(regions)
	if err != nil {
		return fail(call, driver.ErrLaunchOutOfResources, "%v", err)
	}
	if a.failure.kind == 9 { // of which the kernel's own are none that the launch gave
		a.failure.line -= uint32(f.kernel.describe.shared)
		a.failure.address -= f.kernel.describe.shared
	}
	return m.failure(ctx, o.name, &a.failure)
}

// zeroDivision reports that threads of a launch divided by zero.
func zeroDivision(name string, a *launchABI) string {
	line, more := "", ""
	if a.zeroLine > 0 {
		line = fmt.Sprintf(", line %d", a.zeroLine)
	}
	if a.zeros > 1 {
		more = fmt.Sprintf(", the first of %d in this launch", a.zeros)
	}
	return fmt.Sprintf("check: kernel %s%s, block (%d,%d,%d), thread (%d,%d,%d): an integer division by zero%s; its result is undefined in CUDA",
		name, line, a.zeroBlock[0], a.zeroBlock[1], a.zeroBlock[2], a.zeroThread[0], a.zeroThread[1], a.zeroThread[2], more)
}

// failure is the error of a launch that failed.
func (m *Driver) failure(ctx *context, name string, f *failureABI) error {
	const call = "cuLaunchKernel"
	at := fmt.Sprintf("kernel %s, block (%d,%d,%d)", name, f.block[0], f.block[1], f.block[2])
	if f.thread[0] < maxThreads {
		at += fmt.Sprintf(", thread (%d,%d,%d)", f.thread[0], f.thread[1], f.thread[2])
	}
	text, line := goString(address(&f.text)), ""
	if f.line > 0 {
		line = fmt.Sprintf(" (line %d)", f.line)
	}
	switch f.kind {
	case 0:
		return nil
	case 1:
		return fail(call, driver.ErrIllegalAddress, "%s: %s%s", at, m.explain(ctx, f), line)
	case 2:
		return fail(call, driver.ErrAssert, "%s: line %d: assertion `%s` failed", at, f.line, text)
	case 3:
		return fail(call, driver.ErrLaunchFailed, "%s: __trap()", at)
	case 4:
		return fail(call, driver.ErrLaunchFailed, "kernel %s, block (%d,%d,%d): threads wait at a barrier or for a shuffle that others never reach; on a GPU this hangs or is undefined",
			name, f.block[0], f.block[1], f.block[2])
	case 6:
		return fail(call, driver.ErrHardwareStack, "%s: a thread's stack overflowed: it has %d KiB", at, stackUsable>>10)
	case 5:
		if f.size == 0 {
			return fail(call, driver.ErrMisalignedAddress, "%s: an access to a vector that is not aligned as its type asks for", at)
		}
		return fail(call, driver.ErrMisalignedAddress, "%s: an access of %d bytes at %#x%s", at, f.size, f.address, line)
	case 9:
		return fail(call, driver.ErrIllegalAddress, "%s: illegal %s of %d bytes, %d bytes past the end of the block's dynamic shared memory, of which the launch gave %d bytes (cuda.SharedMemory)",
			at, access(f), f.size, f.address-uint64(f.line), f.line)
	case 10:
		return fail(call, driver.ErrLaunchFailed, "%s%s: %s", at, line, text)
	case 11:
		return fail(call, driver.ErrLaunchFailed, "%s%s: the 32 lanes of a warp do %s together, and some have returned or are at another instruction; on a GPU this is undefined", at, line, text)
	case 7:
		return fail(call, driver.ErrIllegalInstruction, "%s: an instruction that the processor does not know, or a trap", at)
	case 8:
		return fail(call, driver.ErrLaunchFailed, "%s: arithmetic for which the processor raises a signal, such as a division by zero in 128 bits", at)
	}
	return fail(call, driver.ErrLaunchFailed, "%s: failure %d", at, f.kind)
}

// access is what a failure did with an address.
func access(f *failureABI) string { return [...]string{"read", "write", "jump"}[min(f.write, 2)] }

// explain says what is wrong with an address.
func (m *Driver) explain(ctx *context, f *failureABI) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	verb := access(f)
	what := fmt.Sprintf("illegal %s of %d bytes at %#x", verb, f.size, f.address)
	at := uintptr(f.address)
	switch {
	case f.size == 0 && f.address == ^uint64(0):
		return "an access to an address that cannot exist"
	case f.size == 0: // not found by a check
		what = fmt.Sprintf("illegal %s at %#x", verb, f.address)
	}
	if a := m.space.find(at); a != nil {
		if f.size == 0 {
			return what
		}
		if at+uintptr(f.size) <= a.end() && a.device != ctx.dev.id {
			return fmt.Sprintf("%s, which is memory of device %d: peer access from device %d is not enabled", what, a.device, ctx.dev.id)
		}
		return fmt.Sprintf("%s, across the end of an allocation of %d bytes", what, a.size)
	}
	if a := m.space.nearest(at); a != nil {
		if at >= a.end() {
			return fmt.Sprintf("%s, %d bytes past the end of an allocation of %d bytes at %#x", what, at-a.end(), a.size, a.base)
		}
		return fmt.Sprintf("%s, %d bytes before an allocation of %d bytes at %#x", what, a.base-at, a.size, a.base)
	}
	if m.space.arenaOf(at) == nil {
		what += ", which is not memory that devices can reach"
		if at < 1<<16 {
			what += " (a nil pointer?)"
		}
	}
	return what
}
