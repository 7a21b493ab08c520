package sim

import (
	"math"
	"time"
)

// kernelLoad is what a launch is and does, as far as the model looks: its blocks,
// what its pointers reach, and what its threads accessed.
type kernelLoad struct {
	blocks, threads uint64 // in the grid; in a block
	resident        uint64 // blocks that the device holds at a time
	areas           []area // what its arguments point to

	counted bool // what follows was; else it is guessed
	// Of all threads together:
	read, stored  uint64 // bytes of memory
	shared        uint64 // bytes of shared memory, both ways
	loads, stores uint64 // accesses to memory
	elsewhere     uint64 // bytes of memory that no argument points to
	// Of each thread:
	rounds   float64 // how often it passed the load that it passed most often
	barriers float64
}

// area is memory that an argument points to.
type area struct {
	span
	where        whereabouts
	written      bool   // not only through pointers to const
	read, stored uint64 // bytes
}

type whereabouts uint8

const (
	inDevice whereabouts = iota
	inPeer
	inHost
)

const (
	maxAreas        = 8
	cycleBytes      = 128  // that an SM's own cache and shared memory give in a cycle
	fitsCache       = 0.6  // of the L2 cache: what a kernel works on then stays there
	overLink        = 0.93 // of a link's rate, for a kernel's accesses
	sharpness       = 5    // how little two limits of a kernel's speed add up
	uncheckedThread = 16   // bytes that a thread is taken to access where nobody counts,
	uncheckedLoads  = 1    // and in how many loads and stores
	fewWarps        = 8    // of a block, whose start the time of a block has in it
)

// kernelTime is how long a kernel takes. Three things can limit it:
//
//   - Blocks begin at a certain rate, however small they are.
//   - Memory has a bandwidth: device memory, or the L2 cache if all that the
//     kernel works on fits there; links to peers and the host; the SMs' caches and
//     shared memory.
//   - A device holds so many blocks at a time. Each takes its turn of latency: a
//     load that a loop repeats waits each time, different loads overlap and only
//     cost their issue, barriers cost a little, and memory takes the longer to
//     answer the busier it is.
//
// The slowest decides, and one that is nearly as slow adds a little. What the
// threads compute takes no time here: the model is of kernels that move data.
func (p *Profile) kernelTime(k *kernelLoad) time.Duration {
	threads := float64(k.blocks * k.threads)
	read, stored, loads, stores, rounds := float64(k.read), float64(k.stored), float64(k.loads), float64(k.stores), k.rounds
	if !k.counted && len(k.areas) > 0 {
		read, stored = threads*uncheckedThread/2, threads*uncheckedThread/2
		loads, stores, rounds = threads*uncheckedLoads, threads*uncheckedLoads, uncheckedLoads
	}
	moved, footprint := [3]float64{inDevice: float64(k.elsewhere)}, 0.0
	for _, a := range k.areas {
		in, out := k.moved(&a)
		moved[a.where] += in + out
		if a.where == inDevice {
			footprint += max(in, out)
		}
	}
	latency, dram := p.CacheLatency, 0.0
	memory := moved[inDevice] / p.CacheRate
	if footprint > fitsCache*float64(p.L2Bytes) {
		dram = moved[inDevice] / p.MemoryRate
		latency, memory = p.MemoryLatency, dram
	}
	if moved[inPeer] > 0 {
		latency = max(latency, p.PeerAccess)
		memory = max(memory, moved[inPeer]/(p.PeerRate*overLink))
	}
	if moved[inHost] > 0 {
		latency = max(latency, p.HostAccess)
		memory = max(memory, moved[inHost]/(p.HostRate*overLink))
	}
	issue := float64(k.blocks) / p.BlockRate
	sms := (read + stored + float64(k.shared)) / (cycleBytes * float64(p.SMs) * float64(p.ClockKHz) * 1e3)

	if loads > 0 {
		rounds = max(rounds, 1) // the others wait for those that load
	}
	warps := (k.threads + 31) / 32
	block := rounds*latency.Seconds() + (loads+stores)/max(threads, 1)*p.AccessTime.Seconds() + k.barriers*p.BarrierTime.Seconds()
	if warps > fewWarps && block > 0 {
		block += float64(warps-fewWarps) * p.WarpTime.Seconds() // until the last of them is done
	}
	last := block / max(rounds, 1) // what the last of it takes, when all else is done
	waves := max(1, float64(k.blocks)/float64(max(k.resident, 1)))
	t := last
	for range 4 { // memory's answer depends on how busy it is
		busy := min(1, dram/max(t, dram, 1e-12))
		turns := waves*(block+rounds*p.BusyLatency.Seconds()*busy) + (waves-1)*p.BlockTurn.Seconds()
		t = last + slowest(issue, memory, sms, turns-last)
	}
	return p.KernelTime + time.Duration(t*1e9)
}

// moved is what of an area comes from memory and goes there: each byte once. A
// store to what was loaded before may not have been counted.
func (k *kernelLoad) moved(a *area) (in, out float64) {
	size := float64(a.hi - a.lo)
	if !k.counted {
		all := 0.0
		for _, b := range k.areas {
			all += float64(b.hi - b.lo)
		}
		in = min(size, size/all*float64(k.blocks*k.threads)*uncheckedThread/2)
		if a.written {
			out = in
		}
		return in, out
	}
	in, out = min(float64(a.read), size), min(float64(a.stored), size)
	if a.stored == 0 && a.written {
		out = in
	}
	return in, out
}

// slowest is the largest of some limits, and a little more for each that comes
// near.
func slowest(limits ...float64) float64 {
	most, sum := 0.0, 0.0
	for _, l := range limits {
		most = max(most, l)
	}
	if most == 0 {
		return 0
	}
	for _, l := range limits {
		sum += math.Pow(max(l, 0)/most, sharpness)
	}
	return most * math.Pow(sum, 1.0/sharpness)
}

// share is how much of the device a launch fills.
func (k *kernelLoad) share() float64 {
	return min(1, float64(k.blocks)/float64(max(k.resident, 1)))
}
