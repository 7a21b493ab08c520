package record

import (
	"maps"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
)

// sharedMemory is what of memory operations use, or may use: what the program does to other
// memory is of no interest.
type sharedMemory struct {
	mu   sync.Mutex
	list atomic.Pointer[[]span] // by address, apart from each other; replaced, never changed
}

type span struct{ lo, hi uint64 }

// sharedUnit is what shared memory is rounded to, so that many small slices are few spans.
const sharedUnit = 1 << 16

func (s *sharedMemory) spans() []span {
	if list := s.list.Load(); list != nil {
		return *list
	}
	return nil
}

// firstAfter is the first span that ends after an address.
func firstAfter(list []span, lo uint64) int {
	return sort.Search(len(list), func(i int) bool { return list[i].hi > lo })
}

// has reports whether a part of a range is shared.
func (s *sharedMemory) has(lo, hi uint64) bool {
	list := s.spans()
	i := firstAfter(list, lo)
	return i < len(list) && list[i].lo < hi
}

func (s *sharedMemory) add(lo, hi uint64) {
	if lo >= hi {
		return
	}
	lo, hi = lo/sharedUnit*sharedUnit, (hi+sharedUnit-1)/sharedUnit*sharedUnit
	covered := func(list []span) bool {
		i := firstAfter(list, lo)
		return i < len(list) && list[i].lo <= lo && hi <= list[i].hi
	}
	if covered(s.spans()) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.spans()
	i := sort.Search(len(list), func(i int) bool { return list[i].hi >= lo })
	j := i
	for ; j < len(list) && list[j].lo <= hi; j++ {
		lo, hi = min(lo, list[j].lo), max(hi, list[j].hi)
	}
	list = slices.Concat(list[:i], []span{{lo, hi}}, list[j:])
	s.list.Store(&list)
}

// uses notes what an operation uses.
func (s *sharedMemory) uses(o *Op) {
	for _, list := range [][]Access{o.Accesses, o.HostReads} {
		for _, a := range list {
			s.add(a.Lo, a.Hi)
		}
	}
	for _, n := range o.Nodes {
		s.uses(n.Op)
	}
}

// pending is the work that is queued and that the program has not waited for. What it
// waited for by an event counts as pending until it waits for the stream.
type pending struct {
	lanes    map[*Lane]bool
	requests map[*Op]bool
	any      bool
	tell     func(any bool)
}

// begins notes an operation that the program may have to wait for.
func (p *pending) begins(o *Op) {
	switch {
	case o.Kind == Request:
		p.requests[o] = true
	case o.Lane != nil && o.Kind >= Kernel && o.Kind <= GraphLaunch && !o.HostAfter:
		p.lanes[o.Lane] = true
	}
	p.changed()
}

// ends notes what the program has waited for.
func (p *pending) ends(o *Op) {
	switch {
	case o.Kind == SyncRequest:
		delete(p.requests, o.Target)
	case o.Kind == SyncLane, o.Lane != nil && o.HostAfter:
		delete(p.lanes, o.Lane)
	case o.Kind == SyncContext:
		maps.DeleteFunc(p.lanes, func(l *Lane, _ bool) bool { return l.Context == o.Context })
	case o.Kind == SyncAll:
		clear(p.lanes)
		clear(p.requests)
	}
	p.changed()
}

func (p *pending) changed() {
	if now := len(p.lanes)+len(p.requests) > 0; now != p.any {
		p.any = now
		if p.tell != nil {
			p.tell(now)
		}
	}
}
