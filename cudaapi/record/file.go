package record

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/callsite"
)

// A file holds the record of one process: chunks, each with its length before it, of
// entries, each with its kind before it. What stands in many operations is written once.

// Kinds of entries. There are millions of operations, so these and what they touched are
// as a [coder] writes them; the others, as package gob does.
const (
	asEntry byte = iota
	asOp
	asTouched
)

// entry is one of its fields.
type entry struct {
	Process *Process
	World   *World
	Site    *fileSite
	Lane    *Lane
	Note    []byte
}

// Process is who made a record.
type Process struct {
	Program string
	PID     int
	Began   time.Time
}

type fileSite struct {
	ID int
	callsite.Site
}

// fileOp is an [Op]. Others that it refers to are numbers; 0 is none.
type fileOp struct {
	Seq                   uint64
	Kind                  Kind
	Call, Name            string
	Site                  int
	Meant, Guess          bool
	Lane                  int
	Event                 int
	Accesses, HostReads   []byte
	Watched               bool
	Bytes, Addr, Value    uint64
	HostBefore, HostAfter bool
	Around                []driver.Context
	Also                  []int
	Behind                []driver.Device
	Context               driver.Context
	Width                 int
	Flags                 driver.WaitFlags
	ID, Target, Of        int
	Single, Keeps         bool
	Key                   string
	Message               *Message
	Nodes                 []fileNode
	Exec                  uint64
}

type fileNode struct {
	Op   fileOp
	Deps []int
}

// fileTouched is what an operation touched that has run: the number of the
// operation, and of the node, from 1, if that is a graph's launch.
type fileTouched struct {
	Seq            uint64
	Node           int
	Accesses, Told []byte
	HostFlag       bool
}

// packed is accesses, each as its distance from the one before.
func packed(list []Access) []byte {
	var b []byte
	at := uint64(0)
	for _, a := range list {
		b = append(b, byte(a.Mode))
		b = binary.AppendVarint(b, int64(a.Lo-at))
		b = binary.AppendUvarint(b, a.Hi-a.Lo)
		at = a.Hi
	}
	return b
}

func unpacked(b []byte) (list []Access, err error) {
	at := uint64(0)
	for len(b) > 0 {
		lo, n := binary.Varint(b[1:])
		if n <= 0 {
			return nil, errCorrupt
		}
		size, m := binary.Uvarint(b[1+n:])
		if m <= 0 {
			return nil, errCorrupt
		}
		a := Access{Lo: at + uint64(lo), Mode: Mode(b[0])}
		a.Hi = a.Lo + size
		at = a.Hi
		list, b = append(list, a), b[1+n+m:]
	}
	return list, nil
}

var errCorrupt = fmt.Errorf("the record is damaged")

// Suffix is how the names of records end.
const Suffix = ".record"

// chunk is how much is written at a time.
const chunk = 64 << 10

// Writer is a [Sink] that writes the record of this process to a file.
type Writer struct {
	mu       sync.Mutex
	f        *os.File
	out      bytes.Buffer // the next chunk
	enc      *gob.Encoder
	ops      coder
	world    World
	sites    map[callsite.Site]int
	lanes    map[*Lane]bool
	ids      map[*Op]int  // of those that others refer to
	captured map[*Op]bool // host functions of graphs
	count    int
	err      error // the first
}

// Create makes a file in a folder, which it makes too, and begins a record in it.
func Create(folder string) (*Writer, error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(folder, fmt.Sprintf("%d-*%s", os.Getpid(), Suffix))
	if err != nil {
		return nil, err
	}
	w := &Writer{f: f, sites: map[callsite.Site]int{}, lanes: map[*Lane]bool{}, ids: map[*Op]int{}, captured: map[*Op]bool{}}
	w.enc = gob.NewEncoder(&w.out)
	w.put(entry{Process: &Process{filepath.Base(os.Args[0]), os.Getpid(), time.Now()}})
	w.mu.Lock()
	defer w.mu.Unlock()
	return w, w.flush()
}

func (w *Writer) put(e entry) {
	w.out.WriteByte(asEntry)
	if err := w.enc.Encode(e); err != nil && w.err == nil {
		w.err = err
	}
	if w.out.Len() >= chunk {
		w.flush()
	}
}

// putCoded writes what w.ops was given.
func (w *Writer) putCoded(kind byte) {
	var head [1 + binary.MaxVarintLen64]byte
	head[0] = kind
	w.out.Write(binary.AppendUvarint(head[:1], uint64(len(w.ops.b))))
	w.out.Write(w.ops.b)
	w.ops.b = w.ops.b[:0]
	if w.out.Len() >= chunk {
		w.flush()
	}
}

// flush writes what there is. A chunk that is not whole is not read.
func (w *Writer) flush() error {
	if w.world != Place() {
		w.world = Place()
		w.put(entry{World: &w.world})
	}
	if w.out.Len() == 0 || w.err != nil {
		return w.err
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(w.out.Len()))
	b = append(b, w.out.Bytes()...)
	w.out.Reset()
	_, w.err = w.f.Write(b)
	return w.err
}

// Places are those that stand in the record.
func (w *Writer) Places() (list []callsite.Site) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.sites {
		list = append(list, s)
	}
	return list
}

// Flush writes what was recorded so far, and a note, if there is one: a reader gets
// the last.
func (w *Writer) Flush(note []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if note != nil {
		w.put(entry{Note: note})
	}
	return w.flush()
}

// Close ends the file.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.flush()
	if closed := w.f.Close(); err == nil {
		err = closed
	}
	return err
}

// Op writes an operation. Of what this project's packages do for reasons of their
// own, only what becomes of memory is of interest to others.
func (w *Writer) Op(o *Op) {
	if o.Site.Library {
		switch o.Kind {
		case Alloc, Free, AllocAsync, FreeAsync, ShareMemory:
		default:
			return
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.world != Place() {
		w.flush()
	}
	f := w.flat(o)
	for _, n := range o.Nodes {
		of := w.flat(n.Op)
		if n.Op.Kind == HostFunc {
			of.Of = w.id(n.Op.Of)
			w.captured[n.Op.Of] = true
		}
		f.Nodes = append(f.Nodes, fileNode{of, n.Deps})
	}
	w.ops.op(&f)
	w.putCoded(asOp)
	w.watch(o, o.Seq, 0) // which may be known already
	for i, n := range o.Nodes {
		w.watch(n.Op, o.Seq, i+1)
	}
	if last(o) && !w.captured[o.Target] {
		delete(w.ids, o.Target)
	}
	if o.Kind == LaneGone {
		delete(w.lanes, o.Lane)
	}
}

// last reports whether an operation is the last that speaks of its target.
func last(o *Op) bool {
	switch {
	case o.Target == nil:
		return false
	case o.Kind == SyncRequest:
		m := o.Target.Message
		return m == nil || !m.InStream || o.Message == nil
	}
	switch o.Kind {
	case HostFuncDone, Request, SyncLane, SyncEvent, SyncContext, SyncEnded:
		return true
	}
	return false
}

// watch writes what an operation touches, when that is known.
func (w *Writer) watch(o *Op, seq uint64, node int) {
	if o.Watched == nil {
		return
	}
	tell := func(list []Access) {
		w.ops.touched(&fileTouched{seq, node, packed(list), packed(o.Told), o.HostFlag})
		w.putCoded(asTouched)
	}
	list, known := o.Watched.Then(func(list []Access) {
		w.mu.Lock()
		defer w.mu.Unlock()
		tell(list)
	})
	if known {
		tell(list)
	}
}

func (w *Writer) id(o *Op) int {
	if o == nil {
		return 0
	}
	if w.ids[o] == 0 {
		w.count++
		w.ids[o] = w.count
	}
	return w.ids[o]
}

func (w *Writer) lane(l *Lane) int {
	if l == nil {
		return 0
	}
	if !w.lanes[l] {
		w.lanes[l] = true
		w.put(entry{Lane: l})
	}
	return l.ID + 1
}

func (w *Writer) flat(o *Op) fileOp {
	site := w.sites[o.Site]
	if site == 0 {
		site = len(w.sites) + 1
		w.sites[o.Site] = site
		w.put(entry{Site: &fileSite{site, o.Site}})
	}
	f := fileOp{Seq: o.Seq, Kind: o.Kind, Call: o.Call, Name: o.Name, Site: site, Meant: o.Meant, Guess: o.Guess, Lane: w.lane(o.Lane),
		HostReads: packed(o.HostReads), Watched: o.Watched != nil, Bytes: o.Bytes, Addr: o.Addr, Value: o.Value, HostBefore: o.HostBefore, HostAfter: o.HostAfter,
		Around: o.Around, Behind: o.Behind, Context: o.Context, Width: o.Width, Flags: o.Flags, Single: o.Single, Keeps: o.Keeps, Key: o.Key, Message: o.Message, Exec: o.Exec}
	if o.Watched == nil {
		f.Accesses = packed(o.Accesses)
	}
	if o.Event != nil {
		f.Event = o.Event.ID + 1
	}
	for _, l := range o.Also {
		f.Also = append(f.Also, w.lane(l))
	}
	switch o.Kind {
	case HostFunc, Request, SyncBegun:
		if o.Via == nil {
			f.ID = w.id(o)
		}
	}
	f.Target = w.id(o.Target)
	return f
}

// Reader reads the record of a process, also while that writes it.
type Reader struct {
	Process Process
	World   World // the only one, until the record says another
	Note    []byte

	f       *os.File
	at      int64
	err     error // what is damaged, after which nothing can be read
	in      bytes.Buffer
	dec     *gob.Decoder
	coded   coder
	sites   map[int]callsite.Site
	lanes   map[int]*Lane
	events  map[int]*Event
	ops     map[int]*Op
	watched map[[2]uint64]awaited
}

// awaited is an operation whose accesses are not read yet, and where they arrive: a
// reader may since have put others in that place of the operation's.
type awaited struct {
	*Op
	accesses *Watched
}

// Open opens a record.
func Open(name string) (*Reader, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	r := &Reader{f: f, World: World{0, 1}, sites: map[int]callsite.Site{}, lanes: map[int]*Lane{}, events: map[int]*Event{}, ops: map[int]*Op{}, watched: map[[2]uint64]awaited{}}
	r.dec = gob.NewDecoder(&r.in) // which takes no more than it decodes
	r.coded.reads = true
	return r, nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.f.Close() }

// fill reads the next chunk, if it is whole.
func (r *Reader) fill() error {
	var head [4]byte
	if n, err := r.f.ReadAt(head[:], r.at); n < len(head) {
		if err == nil || err == io.EOF {
			return io.EOF
		}
		return err
	}
	size := int64(binary.LittleEndian.Uint32(head[:]))
	if info, err := r.f.Stat(); err != nil {
		return err
	} else if info.Size() < r.at+4+size { // or the size is damaged
		return io.EOF
	}
	b := make([]byte, size)
	if n, err := r.f.ReadAt(b, r.at+4); n < len(b) {
		if err == nil || err == io.EOF {
			return io.EOF
		}
		return err
	}
	r.at += int64(4 + len(b))
	r.in.Write(b)
	return nil
}

// Next gives the next operation, or io.EOF if there is none yet. What operations
// touched that have run by then becomes known on the way. The numbers of what
// belongs to the process are its own: see [Op] and [Lane].
func (r *Reader) Next() (*Op, error) {
	if r.err != nil {
		return nil, r.err
	}
	o, err := r.next()
	if err != nil && err != io.EOF {
		r.err = err
	}
	return o, err
}

func (r *Reader) next() (*Op, error) {
	for {
		for r.in.Len() == 0 {
			if err := r.fill(); err != nil {
				return nil, err
			}
		}
		switch kind, _ := r.in.ReadByte(); kind {
		case asOp:
			var f fileOp
			if err := r.decode(func() { r.coded.op(&f) }); err != nil {
				return nil, err
			}
			return r.op(&f)
		case asTouched:
			var t fileTouched
			err := r.decode(func() { r.coded.touched(&t) })
			if err == nil {
				err = r.touched(&t)
			}
			if err != nil {
				return nil, err
			}
			continue
		}
		var e entry
		if err := r.dec.Decode(&e); err != nil {
			return nil, err
		}
		switch {
		case e.Process != nil:
			r.Process = *e.Process
		case e.World != nil:
			r.World = *e.World
		case e.Site != nil:
			r.sites[e.Site.ID] = e.Site.Site
		case e.Lane != nil:
			r.lanes[e.Lane.ID+1] = e.Lane
		case e.Note != nil:
			r.Note = e.Note
		}
	}
}

// decode has what a coder wrote read.
func (r *Reader) decode(read func()) error {
	n, err := binary.ReadUvarint(&r.in)
	if err != nil || n > uint64(r.in.Len()) {
		return errCorrupt
	}
	r.coded.b = r.in.Next(int(n))
	if read(); r.coded.failed || len(r.coded.b) > 0 {
		return errCorrupt
	}
	return nil
}

func (r *Reader) touched(t *fileTouched) error {
	key := [2]uint64{t.Seq, uint64(t.Node)}
	o, ok := r.watched[key]
	if !ok {
		return nil
	}
	delete(r.watched, key)
	list, err := unpacked(t.Accesses)
	if err != nil {
		return err
	}
	if o.Told, err = unpacked(t.Told); err != nil {
		return err
	}
	o.HostFlag = t.HostFlag
	o.accesses.Touched(list)
	return nil
}

// ref is the operation with a number of the file's.
func (r *Reader) ref(id int) *Op {
	if id == 0 {
		return nil
	}
	if r.ops[id] == nil {
		r.ops[id] = &Op{}
	}
	return r.ops[id]
}

func (r *Reader) op(f *fileOp) (*Op, error) {
	o, err := r.unflat(f)
	if err != nil {
		return nil, err
	}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		no, err := r.unflat(&n.Op)
		if err != nil {
			return nil, err
		}
		no.Via, no.Of = o, r.ref(n.Op.Of)
		if no.Watched != nil {
			r.watched[[2]uint64{f.Seq, uint64(i + 1)}] = awaited{no, no.Watched}
		}
		o.Nodes = append(o.Nodes, Node{no, n.Deps})
	}
	if o.Watched != nil {
		r.watched[[2]uint64{f.Seq, 0}] = awaited{o, o.Watched}
	}
	if last(o) && o.Target.Kind != None { // which a graph's host function has not
		delete(r.ops, f.Target)
	}
	switch o.Kind {
	case LaneGone:
		delete(r.lanes, f.Lane)
	case EventGone:
		delete(r.events, f.Event)
	}
	return o, nil
}

func (r *Reader) unflat(f *fileOp) (*Op, error) {
	o := &Op{}
	if f.ID != 0 {
		o = r.ref(f.ID)
	}
	*o = Op{Seq: f.Seq, Kind: f.Kind, Call: f.Call, Name: f.Name, Site: r.sites[f.Site], Rank: r.World.Rank, Meant: f.Meant, Guess: f.Guess, Lane: r.lanes[f.Lane],
		Bytes: f.Bytes, Addr: f.Addr, Value: f.Value, HostBefore: f.HostBefore, HostAfter: f.HostAfter,
		Around: f.Around, Behind: f.Behind, Context: f.Context, Width: f.Width, Flags: f.Flags, Single: f.Single, Keeps: f.Keeps, Key: f.Key, Message: f.Message, Exec: f.Exec,
		Target: r.ref(f.Target)}
	for _, l := range f.Also {
		o.Also = append(o.Also, r.lanes[l])
	}
	if f.Event != 0 {
		if r.events[f.Event] == nil {
			r.events[f.Event] = &Event{ID: f.Event - 1}
		}
		o.Event = r.events[f.Event]
	}
	if f.Watched {
		o.Watched = &Watched{}
	}
	var err error
	if o.Accesses, err = unpacked(f.Accesses); err != nil {
		return nil, err
	}
	o.HostReads, err = unpacked(f.HostReads)
	return o, err
}
