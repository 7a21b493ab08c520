package trace

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// clock is by how much a machine's clock is to be moved to agree with that of the
// process that merges: no less than lo, no more than hi.
type clock struct {
	lo, hi   time.Duration
	by       time.Duration
	within   time.Duration // how much by may be wrong
	compared bool
}

// unknown is further than clocks can be apart.
const unknown = time.Duration(1) << 61

// align compares the clocks of machines: what a process was asked for began after the
// question, and ended before the answer; and a message ends after it began elsewhere.
// That is the Network Time Protocol's reasoning (RFC 5905), with the bounds of all
// exchanges together in place of its best one.
func align(parts []*Timeline, of map[int]*Timeline, boxes []Box) map[string]*clock {
	clocks := map[string]*clock{}
	own := parts[0].Host
	for _, p := range parts {
		c := clocks[p.Host]
		if c == nil {
			c = &clock{lo: -unknown, hi: unknown}
			clocks[p.Host] = c
		}
		if p.asked[1] > 0 {
			own = machine()
			c.lo, c.hi = max(c.lo, p.asked[0]-p.begun), min(c.hi, p.asked[1]-p.sealed)
		}
	}
	if c := clocks[own]; c != nil {
		*c = clock{compared: true}
	}
	if len(clocks) < 2 && clocks[own] != nil {
		return clocks
	}
	least := leasts(of, boxes)
	hosts := slices.Sorted(maps.Keys(clocks))
	for _, h := range hosts {
		if clocks[h].compared {
			continue
		}
		for range hosts { // a bound reaches the furthest in so many rounds
			for way, d := range least {
				from, to := clocks[way.from], clocks[way.to]
				to.lo = max(to.lo, from.lo+d)
				from.hi = min(from.hi, to.hi-d)
			}
		}
		c := clocks[h]
		switch known := [2]bool{c.lo > -unknown/2, c.hi < unknown/2}; {
		case known[0] && known[1]:
			c.by, c.within, c.compared = c.lo+(c.hi-c.lo)/2, max(c.hi-c.lo, c.lo-c.hi)/2, true
		case known[0]:
			c.by = c.lo
		case known[1]:
			c.by = c.hi
		default:
			at := slices.IndexFunc(parts, func(p *Timeline) bool { return p.Host == h })
			c.by = parts[0].Begin - parts[at].Begin
		}
		c.lo, c.hi = c.by, c.by
	}
	return clocks
}

// way is from one machine to another.
type way struct{ from, to string }

// leasts tell by how much the clock of a machine that received must at least be moved
// more than that of the one that sent.
func leasts(of map[int]*Timeline, boxes []Box) map[way]time.Duration {
	at := make(map[who]*Box, len(boxes))
	for i := range boxes {
		at[who{boxes[i].Rank, boxes[i].ID}] = &boxes[i]
	}
	least := map[way]time.Duration{}
	for i := range boxes {
		b := &boxes[i]
		for _, p := range b.Peers {
			o := at[who{p.Rank, p.ID}]
			if o == nil || of[o.Rank].Host == of[b.Rank].Host {
				continue
			}
			begin, ok := ofSystem(of, o)
			end, ok2 := ofSystem(of, b)
			if !ok || !ok2 {
				continue
			}
			w := way{of[o.Rank].Host, of[b.Rank].Host}
			if d, known := least[w]; !known || begin[0]-end[1] > d {
				least[w] = begin[0] - end[1]
			}
		}
	}
	return least
}

// ofSystem are the begin and end of a message by the machine's clock.
func ofSystem(of map[int]*Timeline, b *Box) ([2]time.Duration, bool) {
	if b.wall[1] != 0 {
		return b.wall, true
	}
	return [2]time.Duration{b.Begin, b.End}, !of[b.Rank].Modelled
}

// noteOf says how well clocks agree.
func noteOf(clocks map[string]*clock) []string {
	if len(clocks) < 2 {
		return nil
	}
	worst := slices.MaxFunc(slices.Collect(maps.Values(clocks)), func(a, b *clock) int { return cmp.Compare(a.within, b.within) })
	for _, c := range clocks {
		if !c.compared {
			return []string{"Ranks of several machines, whose clocks could not be compared: they are set alike at the beginning of the cell."}
		}
	}
	return []string{fmt.Sprintf("Ranks of %d machines: their clocks agree within %v.", len(clocks), worst.within.Round(time.Microsecond))}
}
