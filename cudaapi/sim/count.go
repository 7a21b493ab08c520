package sim

import (
	"cmp"
	"errors"
	"slices"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/ptx/cpp"
)

// While somebody counts, kernels run in code that tells what their threads do
// (include/runtime/count.h).

var _ driver.Counter = (*Driver)(nil)

// Count has kernels counted that run from now on.
func (m *Driver) Count(take func(*driver.Counts)) {
	if take == nil {
		m.counter.Store(nil)
	} else {
		m.counter.Store(&take)
	}
}

const (
	countSites = 8192
	countSize  = 4 << 30 // most that the counts of one launch take, of which what is used is memory
)

// countABI begins gocuda::Counts.
type countABI struct {
	size, used, full uint64
	sectors          [2]uint64
	pages            uint64
	sites            [2][countSites]countSite
	stretches        [countSites]countStretch
}

type countSite struct {
	requests, threads, sectors, wavefronts, least, met, most, parted uint64
}

type countStretch struct{ warps, threads uint64 }

// countHead is more than gocuda::Counts takes.
const countHead = 128 << 20

// newCounts gives room for a launch's counts.
func newCounts() (uintptr, error) {
	at, err := mapPrivate(0, countSize)
	if err == nil {
		h := (*countABI)(pointer(at))
		h.size, h.used = countSize, countHead
	}
	return at, err
}

// counted gives the kernel of the code that counts; an error says why there is none.
func (m *Driver) counted(f *function, from *driver.Origin) (*function, error) {
	if m.opt.NoCheck {
		return nil, errors.New("what kernels access is not counted with GOCUDA_SIM=check=off")
	}
	g, err := m.watched(f, &f.mod.count, from, true)
	if err == nil && g == nil {
		err = errors.New("counts of kernels need NVRTC on simulated devices: pip install nvidia-cuda-nvrtc")
	}
	return g, err
}

// countsOf reads what a launch counted.
func (m *Driver) countsOf(f *function, h *countABI, c *driver.Counts) {
	w := &f.mod.count
	c.Source = w.source
	lines := map[int]*driver.LineCounts{}
	of := func(n int) *driver.LineCounts {
		if lines[n] == nil {
			lines[n] = &driver.LineCounts{Line: n}
		}
		return lines[n]
	}
	for k, s := range w.counting.Stretches {
		n := &h.stretches[k]
		if n.warps == 0 {
			continue
		}
		for _, x := range s {
			l := of(x.Line)
			l.Instructions += n.warps * uint64(x.Instructions)
			l.Threads += n.threads * uint64(x.Instructions)
			l.Half += n.threads * uint64(x.Half)
			l.Single += n.threads * uint64(x.Single)
			l.Double += n.threads * uint64(x.Double)
		}
	}
	for k, s := range w.counting.Sites {
		for shared := range h.sites {
			n := &h.sites[shared][k]
			if n.requests == 0 {
				continue
			}
			l := of(s.Line)
			if s.Kind == cpp.SiteBranch {
				l.Branches += n.requests
				l.Parted += n.parted
				continue
			}
			memory := []*driver.MemoryCounts{&l.Global, &l.Shared}[shared]
			to := []*driver.RequestCounts{cpp.SiteLoad: &memory.Loads, cpp.SiteStore: &memory.Stores, cpp.SiteAtomic: &memory.Atomics}[s.Kind]
			to.Add(driver.RequestCounts{Requests: n.requests, Threads: n.threads, Bytes: n.threads * uint64(s.Bytes),
				Sectors: n.sectors, Wavefronts: n.wavefronts, Ideal: n.least, Met: n.met, Most: n.most})
		}
	}
	for _, l := range lines {
		c.Lines = append(c.Lines, *l)
	}
	slices.SortFunc(c.Lines, func(a, b driver.LineCounts) int { return cmp.Compare(a.Line, b.Line) })
	c.Read, c.Written = 32*h.sectors[0], 32*h.sectors[1]
	if h.full != 0 {
		c.Missing = errors.New("there was no memory to count more than the launch's first part")
	}
}
