package trace

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/record"
)

// events measures by an event before each operation and one after it.
type events struct {
	d driver.Driver
	c *collector

	mu     sync.Mutex
	spare  map[driver.Context][]driver.Event
	zeros  map[driver.Context]zero
	queued []pair
	most   int // of queued, before it is read
}

// pair is around a box.
type pair struct {
	n          int
	ctx        driver.Context
	begin, end driver.Event
}

// zero is an event whose time on the system's clock is known.
type zero struct {
	e  driver.Event
	at time.Duration
}

// mostPairs is how many may be in use before those that are done are read.
const mostPairs = 4096

func newEvents(d driver.Driver, c *collector) *events {
	return &events{d: d, c: c, spare: map[driver.Context][]driver.Event{}, zeros: map[driver.Context]zero{}, most: mostPairs}
}

func (s *events) clock() driver.TraceClock { return driver.TraceClock{Name: "events"} }
func (s *events) moment(int)               {}

func (s *events) around(n int, o *record.Op, call func() error) error {
	p, err := s.pair(n, o.Lane.Context)
	if err == nil {
		err = s.d.EventRecord(p.ctx, p.begin, o.Lane.Handle)
	}
	if err != nil {
		return call() // not measured
	}
	if err := call(); err != nil {
		return err
	}
	if s.d.EventRecord(p.ctx, p.end, o.Lane.Handle) != nil {
		return nil
	}
	s.mu.Lock()
	s.queued = append(s.queued, p)
	full := len(s.queued) >= s.most
	s.mu.Unlock()
	if full {
		s.read(false)
	}
	return nil
}

func (s *events) pair(n int, c driver.Context) (p pair, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.zeros[c]; !ok {
		z, err := s.zero(c)
		if err != nil {
			return p, err
		}
		s.zeros[c] = z
	}
	p = pair{n: n, ctx: c}
	for _, e := range []*driver.Event{&p.begin, &p.end} {
		if k := len(s.spare[c]); k > 0 {
			*e, s.spare[c] = s.spare[c][k-1], s.spare[c][:k-1]
		} else if *e, err = s.d.EventCreate(c, 0); err != nil {
			return p, err
		}
	}
	return p, nil
}

// zero finds the event whose record took the least time, of some.
func (s *events) zero(c driver.Context) (best zero, err error) {
	stream, err := s.d.StreamCreate(c, driver.StreamNonBlocking, 0)
	if err != nil {
		return best, err
	}
	defer s.d.StreamDestroy(c, stream) //nolint:errcheck // nothing is on it
	least := time.Duration(-1)
	for range 8 {
		e, err := s.d.EventCreate(c, 0)
		if err != nil {
			return best, err
		}
		from := now()
		if err := s.d.EventRecord(c, e, stream); err != nil {
			return best, err
		}
		if err := s.d.EventSynchronize(c, e, nil); err != nil {
			return best, err
		}
		took := now() - from
		if least >= 0 && took >= least {
			s.d.EventDestroy(c, e) //nolint:errcheck // it is done
			continue
		}
		if best.e != 0 {
			s.d.EventDestroy(c, best.e) //nolint:errcheck // it is done
		}
		best, least = zero{e, from + took/2}, took
	}
	return best, nil
}

// read takes the times of pairs that are done, all of them if last.
func (s *events) read(last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := s.queued[:0]
	for _, p := range s.queued {
		if done, err := s.d.EventQuery(p.ctx, p.end); err != nil || !done {
			rest = append(rest, p)
			continue
		}
		z := s.zeros[p.ctx]
		begin, err1 := s.d.EventElapsed(p.ctx, z.e, p.begin)
		end, err2 := s.d.EventElapsed(p.ctx, z.e, p.end)
		if err1 == nil && err2 == nil {
			s.c.take(driver.Activity{Tag: uint64(p.n), Begin: z.at + begin, End: z.at + end})
		}
		s.spare[p.ctx] = append(s.spare[p.ctx], p.begin, p.end)
	}
	s.queued = slices.Clip(rest)
	s.most = max(mostPairs, 2*len(rest))
	if !last {
		return
	}
	for _, p := range s.queued { // not done: their work goes on without them
		s.spare[p.ctx] = append(s.spare[p.ctx], p.begin, p.end)
	}
	s.queued = nil
}

func (s *events) end() (err error) {
	s.read(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, list := range s.spare {
		for _, e := range append(list, s.zeros[c].e) {
			if e == 0 {
				continue
			}
			if failed := s.d.EventDestroy(c, e); failed != nil && err == nil {
				err = fmt.Errorf("trace: %w", failed)
			}
		}
	}
	s.spare, s.zeros = map[driver.Context][]driver.Event{}, map[driver.Context]zero{}
	return err
}
