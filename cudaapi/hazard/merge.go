package hazard

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/record"
)

// Folder is a folder that processes keep their records in. Those of the ranks of a
// job are checked as one, so that a message or a collective orders what one rank does
// after what another did, and memory that several have open is the same memory.
type Folder struct {
	name string

	mu    sync.Mutex
	known map[string]bool
	files []*source // that belong to no job yet
	jobs  []*world
	err   error // of what was read since it was last told
}

// world is a program, of one process or of several ranks.
type world struct {
	size    int // of the world
	ranks   []*source
	check   *Checker
	exports map[string]export
	shown   map[*Hazard]bool // those that were told
	counted Counts           // ... when they were
	partial bool             // it was told that records are missing
}

// export is memory that others can open.
type export struct{ at, n uint64 }

// source is the record of a rank on its way into the check.
type source struct {
	*record.Reader
	rank    int
	queue   []*record.Op
	last    *record.Op // that was placed
	imports []imported
	lanes   map[*record.Lane]*record.Lane
	events  map[*record.Event]*record.Event
	posted  []*posted
	numbers record.Numbers
	mail    map[record.Envelope]*record.Message // receives by what they got
}

// imported is memory of another rank's: at its addresses here, and where it is.
type imported struct{ lo, hi, at uint64 }

// posted is a receive that was asked for.
type posted struct {
	op   *record.Op
	done *record.Op // the SyncRequest, once it was read
}

// OpenFolder begins to read a folder's records: all, or those only that are not there
// yet.
func OpenFolder(name string, all bool) (*Folder, error) {
	f := &Folder{name: name, known: map[string]bool{}}
	if all {
		return f, nil
	}
	names, err := f.names()
	for _, name := range names {
		f.known[name] = true
	}
	return f, err
}

func (f *Folder) names() ([]string, error) {
	return filepath.Glob(filepath.Join(f.name, "*"+record.Suffix))
}

// Close lets go of the files.
func (f *Folder) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, j := range f.jobs {
		for _, s := range j.ranks {
			s.Close()
		}
	}
	for _, s := range f.files {
		s.Close()
	}
	f.jobs, f.files = nil, nil
}

// Processes tells whose records there are.
func (f *Folder) Processes() (list []record.Process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, j := range f.jobs {
		for _, s := range j.ranks {
			list = append(list, s.Process)
		}
	}
	return list
}

// look finds new records.
func (f *Folder) look() error {
	names, err := f.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if f.known[name] {
			continue
		}
		r, err := record.Open(name)
		if err != nil {
			return err
		}
		f.known[name] = true
		f.files = append(f.files, &source{Reader: r, lanes: map[*record.Lane]*record.Lane{}, events: map[*record.Event]*record.Event{},
			mail: map[record.Envelope]*record.Message{}})
	}
	return nil
}

// sort gives each record its job. One that does not say which rank it is of may still
// do so, unless all have ended.
func (f *Folder) sort(all bool) error {
	for _, s := range f.files {
		for s.World.Size < 2 {
			if more, err := s.read(1); err != nil {
				return err
			} else if !more {
				break
			}
		}
	}
	slices.SortStableFunc(f.files, func(a, b *source) int { return a.Process.Began.Compare(b.Process.Began) })
	f.files = slices.DeleteFunc(f.files, func(s *source) bool {
		if s.World.Size < 2 && !all {
			return false
		}
		s.rank = s.World.Rank
		i := slices.IndexFunc(f.jobs, func(j *world) bool {
			return j.size > 1 && j.size == s.World.Size && !slices.ContainsFunc(j.ranks, func(o *source) bool { return o.rank == s.rank })
		})
		if i < 0 || s.World.Size < 2 {
			i = len(f.jobs)
			c := New()
			c.merged = true
			f.jobs = append(f.jobs, &world{size: s.World.Size, check: c, exports: map[string]export{}, shown: map[*Hazard]bool{}})
			for rank := range s.World.Size {
				c.process(rank)
			}
		}
		f.jobs[i].ranks = append(f.jobs[i].ranks, s)
		return true
	})
	return nil
}

// Check reads what was recorded since the last time, and gives the hazards that were
// found in it, and how much was looked at. all says that the processes have ended.
func (f *Folder) Check(all bool) (list List, n Counts, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(all)
	err, f.err = f.err, nil
	for _, j := range f.jobs {
		if !all && len(j.ranks) < j.size && !j.partial {
			j.partial = true
			err = errors.Join(err, fmt.Errorf("%d of %d ranks keep a record here: what they do is not checked", len(j.ranks), j.size))
		}
		counts := j.check.Counts()
		n, j.counted = n.Plus(counts.since(j.counted)), counts
		for _, s := range j.ranks {
			n.Held += len(s.queue)
		}
		list = append(list, j.reports()...)
	}
	return list, n, err
}

// Follow reads records while they are written, until stop is called, so that Check has
// less to read.
func (f *Folder) Follow() (stop func()) {
	const every = 20 * time.Millisecond
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for t := time.NewTicker(every); ; {
			select {
			case <-done:
				t.Stop()
				return
			case <-t.C:
			}
			f.mu.Lock()
			f.advance(false)
			f.mu.Unlock()
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// advance reads what was recorded since the last time, and checks it.
func (f *Folder) advance(all bool) {
	err := f.look()
	if err == nil {
		err = f.sort(all)
	}
	for _, j := range f.jobs {
		if err == nil && (all || len(j.ranks) == j.size) {
			err = j.advance(all)
		}
	}
	if f.err == nil {
		f.err = err
	}
}

// ahead is how many operations of a rank are read at a time.
const ahead = 256

// advance puts what was recorded in order: of each rank what it does, up to what
// comes after something of another rank that is not here yet.
func (j *world) advance(all bool) error {
	for {
		moved := false
		for _, s := range j.ranks {
			for {
				if len(s.queue) == 0 {
					if more, err := s.read(ahead); err != nil {
						return err
					} else if !more {
						break
					}
				}
				if j.awaits(s, s.queue[0]) {
					break
				}
				j.take(s)
				moved = true
			}
		}
		if moved {
			continue
		}
		// What a receive got may show only later.
		for _, s := range j.ranks {
			more, err := s.read(ahead)
			if err != nil {
				return err
			}
			moved = moved || more
		}
		if moved {
			continue
		}
		if !all {
			return nil
		}
		next := j.stalled()
		if next == nil {
			j.check.Finish()
			return nil
		}
		if !next.guess(next.queue[0]) && !j.answer(next.queue[0]) {
			j.take(next)
		}
	}
}

// guess finds which message a receive has got that was asked for behind others of
// which it is not known what they have got: these have got such messages before it.
func (s *source) guess(o *record.Op) bool {
	if o.Kind != record.SyncRequest || o.Message == nil || o.Message.N >= 0 {
		return false
	}
	for i, p := range s.posted {
		if asks(p.op.Message, o.Message) && p.done == nil {
			got := *o.Message
			s.posted[i].done = &record.Op{Message: &got}
			s.resolve()
			return true
		}
	}
	return false
}

// answer finds the receive that has ended a synchronous send, if nobody has waited for
// it: the first that can be it.
func (j *world) answer(o *record.Op) bool {
	if o.Kind != record.SyncRequest || o.Message != nil || o.Target == nil || o.Target.Message == nil || o.Target.Message.Role != record.Sends {
		return false
	}
	m := o.Target.Message
	for _, s := range j.ranks {
		i := slices.IndexFunc(s.posted, func(p *posted) bool {
			r := p.op.Message
			return p.done == nil && r.Rank == m.Peer && asks(r, &record.Message{Comm: m.Comm, Peer: m.Rank, Tag: m.Tag})
		})
		if i >= 0 {
			o.Message = s.posted[i].op.Message
			s.posted = slices.Delete(s.posted, i, i+1)
			return true
		}
	}
	return false
}

// stalled is a rank that waits for what is in no record, nil if none does: first one
// that says that something is done.
func (j *world) stalled() (next *source) {
	for _, s := range j.ranks {
		if len(s.queue) == 0 {
			continue
		}
		if next == nil || next.queue[0].Kind == record.SyncRequest && s.queue[0].Kind != record.SyncRequest {
			next = s
		}
	}
	return next
}

// awaits reports whether a rank's next operation comes after something that is not
// here yet.
func (j *world) awaits(s *source, o *record.Op) bool {
	switch o.Kind {
	case record.Alloc:
		if o.Key == "" {
			return false
		}
		_, ok := j.exports[o.Key]
		return !ok && len(j.ranks) > 1
	case record.ShareEvent:
		return o.Call == "cuIpcOpenEventHandle" && j.check.ranks.keys[o.Key] == nil && len(j.ranks) > 1
	case record.SyncRequest:
		if t := o.Target; t != nil && t.Message != nil && t.Message.Role == record.Sends && t.Message.Synchronous && o.Message == nil {
			for _, peer := range j.ranks {
				if m := peer.mail[t.Message.Envelope()]; m != nil {
					o.Message = m
				}
			}
		}
	case record.SyncLane, record.SyncContext, record.SyncEvent, record.SyncAll:
		o = s.placed(o)
	}
	return j.check.awaits(o)
}

// read reads some operations more; it reports whether there were any.
func (s *source) read(n int) (more bool, err error) {
	for range n {
		o, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return more, fmt.Errorf("the record of process %d: %w", s.Process.PID, err)
		}
		more = true
		s.number(o)
		s.queue = append(s.queue, o)
	}
	return more, nil
}

// number finds which message or collective an operation is.
func (s *source) number(o *record.Op) {
	switch {
	case o.Kind == record.SyncRequest && o.Target != nil && o.Target.Message != nil && o.Target.Message.Role == record.Receives:
		if o.Message != nil {
			o.Message.N = -1
		}
		for _, p := range s.posted {
			if p.op == o.Target {
				p.done = o
			}
		}
		s.resolve()
	case o.Kind != record.Request || o.Message == nil:
	case o.Message.Role == record.Receives:
		s.posted = append(s.posted, &posted{op: o})
	default:
		s.numbers.Number(o.Message)
	}
}

// asks reports whether a receive can get a message.
func asks(r, got *record.Message) bool {
	return r.Comm == got.Comm && (r.Peer < 0 || r.Peer == got.Peer) && (r.Tag < 0 || r.Tag == got.Tag)
}

// resolve finds which messages receives have got. Those of one sender and tag go to
// the receives that ask for them in the order of asking (MPI 4.1, 3.5), so one that
// is not done holds up those after it.
func (s *source) resolve() {
	var open []*record.Message
	s.posted = slices.DeleteFunc(s.posted, func(p *posted) bool {
		asked := p.op.Message
		if p.done == nil {
			open = append(open, asked)
			return false
		}
		got := p.done.Message
		if got == nil {
			return true
		}
		if slices.ContainsFunc(open, func(o *record.Message) bool { return asks(o, got) }) {
			return false
		}
		s.numbers.Number(got)
		asked.Peer, asked.Tag, asked.N = got.Peer, got.Tag, got.N
		s.mail[asked.Envelope()] = asked
		return true
	})
}

const rankBits = 48 // of an address; above it is the rank

// here is a number of a process's own as the job has it.
func (s *source) here(v uint64) uint64 { return v | uint64(s.rank)<<rankBits }

// locate is where memory is.
func locate(imports []imported, here func(uint64) uint64, at uint64) uint64 {
	for _, m := range imports {
		if at >= m.lo && at < m.hi {
			return at - m.lo + m.at
		}
	}
	return here(at)
}

func (s *source) accesses(imports []imported, list []record.Access) []record.Access {
	for i, a := range list {
		lo := locate(imports, s.here, a.Lo)
		list[i].Lo, list[i].Hi = lo, lo+a.Hi-a.Lo
	}
	return list
}

func (s *source) context(c driver.Context) driver.Context { return driver.Context(s.here(uint64(c))) }

func (s *source) lane(l *record.Lane) *record.Lane {
	if l == nil {
		return nil
	}
	if s.lanes[l] == nil {
		x := *l
		x.ID, x.Context, x.Rank = l.ID|s.rank<<32, s.context(l.Context), s.rank
		s.lanes[l] = &x
	}
	return s.lanes[l]
}

// placed is an operation as the job has it. It is the same one: others refer to it.
func (s *source) placed(o *record.Op) *record.Op {
	if o == s.last {
		return o
	}
	s.last, o.Rank = o, s.rank
	o.Lane, o.Context = s.lane(o.Lane), s.context(o.Context)
	for i, l := range o.Also {
		o.Also[i] = s.lane(l)
	}
	for i, c := range o.Around {
		o.Around[i] = s.context(c)
	}
	if o.Exec != 0 {
		o.Exec = s.here(o.Exec)
	}
	if e := o.Event; e != nil {
		if s.events[e] == nil {
			s.events[e] = &record.Event{ID: e.ID | s.rank<<32}
		}
		o.Event = s.events[e]
	}
	imports := s.imports
	s.accesses(imports, o.Accesses)
	s.accesses(imports, o.HostReads)
	if o.Addr != 0 {
		o.Addr = locate(imports, s.here, o.Addr)
	}
	if o.Watched != nil {
		was := o.Watched
		o.Watched = &record.Watched{}
		touched := func(list []record.Access) {
			s.accesses(imports, o.Told)
			o.Watched.Touched(s.accesses(imports, slices.Clone(list)))
		}
		if list, known := was.Then(touched); known {
			touched(list)
		}
	}
	for _, n := range o.Nodes {
		s.placed(n.Op)
	}
	s.last = o
	return o
}

// replace forgets what was opened where there is other memory now.
func (s *source) replace(lo, hi uint64) {
	over := func(m imported) bool { return m.lo < hi && lo < m.hi }
	if slices.ContainsFunc(s.imports, over) {
		s.imports = slices.DeleteFunc(slices.Clone(s.imports), over)
	}
}

// take hands a rank's next operation to the check.
func (j *world) take(s *source) {
	o := s.queue[0]
	s.queue = s.queue[1:]
	switch {
	case o.Kind == record.ShareMemory:
		j.exports[o.Key] = export{locate(s.imports, s.here, o.Addr), o.Bytes}
		return
	case o.Kind == record.Alloc || o.Kind == record.AllocAsync:
		s.replace(o.Addr, o.Addr+o.Bytes)
		if from, ok := j.exports[o.Key]; ok && o.Key != "" {
			opened := imported{o.Addr, o.Addr + min(o.Bytes, from.n), from.at}
			j.check.Op(s.placed(o)) // what was open there before is not this
			s.imports = append(slices.Clip(s.imports), opened)
			return
		}
	case o.Kind == record.Free || o.Kind == record.FreeAsync:
		if i := slices.IndexFunc(s.imports, func(m imported) bool { return m.lo == o.Addr }); i >= 0 {
			// The memory stays; what was opened is not to be used any more.
			m := s.imports[i]
			o.Closes = record.Access{Lo: m.at, Hi: m.at + m.hi - m.lo, Mode: record.Write}
			s.imports = slices.Delete(slices.Clone(s.imports), i, i+1)
		}
	}
	lane, event := o.Lane, o.Event
	o = s.placed(o)
	j.check.Op(o)
	switch o.Kind {
	case record.LaneGone:
		delete(s.lanes, lane)
	case record.EventGone:
		delete(s.events, event)
	}
	if len(s.queue) == 0 {
		s.queue = nil
	}
	if o.Kind == record.SyncRequest && o.Message != nil && o.Target != nil && o.Target.Message != nil {
		l := o.Target.Message.Envelope()
		if j.check.ranks.letters[l] == nil { // nothing more comes of it
			for _, peer := range j.ranks {
				delete(peer.mail, l)
			}
		}
	}
}

// notes are what a process knows of itself, for reports.
type notes struct {
	Names   Names
	Sources map[string]string // lines of code by the text of their place
}

// reports puts the hazards into words that were not yet.
func (j *world) reports() (list List) {
	found := j.check.Found()
	for _, h := range found {
		if !j.shown[h] { // some that were told may not count any more
			j.shown[h] = true
			list = append(list, j.report(h))
		}
	}
	return list
}

func (j *world) report(h *Hazard) Report {
	of := map[int]notes{}
	for _, s := range j.ranks {
		var n notes
		if s.Note != nil && json.Unmarshal(s.Note, &n) == nil {
			of[s.rank] = n
		}
	}
	return Namer{
		stream: func(l *record.Lane) string { return of[l.Rank].Names.Stream(uintptr(l.Handle)) },
		Memory: func(lo, hi uint64) string {
			rank := int(lo >> rankBits)
			const mask = 1<<rankBits - 1
			name := of[rank].Names.Variable(lo&mask, hi&mask)
			if name == "" {
				name = fmt.Sprintf("%#x", lo&mask)
			}
			if j.size > 1 {
				name += fmt.Sprintf(" of rank %d", rank)
			}
			return name
		},
		source: func(o *record.Op) string { return of[o.Rank].Sources[o.Site.Place.String()] },
		ranks:  j.size > 1,
	}.Report(h)
}
