package hazard

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"strings"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/callsite"
	"gocuda/cudaapi/record"
)

// Place is a line of a program: of a cell such as "In[3]", or of a file such as "main.go".
// As text it is "In[3], line 2", or "main.go:14".
type Place = callsite.Place

// Operation is one of the two of a [Report].
type Operation struct {
	What   string // "kernel fill", "copy (cuMemcpyAsync)", "free (cuMemFree)"
	Does   string // "reads", "writes", "changes atomically", "frees", "allocates"
	Place  Place  // not known if it has no cell and no file
	Source string // that line, if it is known
	Caller Place  `json:",omitzero"` // the place that called the function that this is in, if it is known
	Queue  string // "stream s of device 0", "the default stream of device 1", "the host"
	Device int    // -1 for the host
	Rank   int
	// Launched is where the graph was launched of which this is a node.
	Launched Place `json:",omitzero"`
	// Guess says that a kernel's arguments let it touch the bytes; whether it did is
	// not known.
	Guess bool
}

// Report is two operations on the same memory that nothing orders.
type Report struct {
	First, Second Operation // in the order of the calls
	Bytes         uint64    // that both touch, from the first of them to the last
	Address       uint64
	Memory        string // "x[1024:2048]" where a variable is known, else the allocation's place, or an address
	Missing       string // which order is missing
	Fix           string // lines that would make it, with comments that say where they belong
	Note          string // what else there is to say, or ""
	Times         int    // how often the same two places met so
	// Threads says what threads of a kernel do wrong together, in the place of two
	// operations on memory.
	Threads string `json:",omitzero"`
	// Possible says that it is not known whether both touch the bytes: of a kernel only
	// the arguments tell what it may touch. Such a report is no proof of a fault.
	Possible bool
}

// Namer knows a program's names for things; both give "" for what they do not know.
type Namer struct {
	// Stream is the variable that holds the stream with a handle.
	Stream func(handle uintptr) string
	// Memory is the variable that holds the memory from lo to before hi, with
	// indices.
	Memory func(lo, hi uint64) string
	// Place is the statement of interpreted code that the calling goroutine is in, and
	// the one that called its function, if there is one.
	Place func() (place, caller Place)
	// Source is the line of code at a place.
	Source func(Place) string
	// Names are the variables that hold streams and memory, for the reader of the
	// record: Stream and Memory tell them one by one.
	Names func() Names

	// Of records that are read.
	stream func(*record.Lane) string
	source func(*record.Op) string
	ranks  bool // there are several
}

func (n Namer) line(o *record.Op) string {
	if n.source != nil {
		return n.source(o)
	}
	if n.Source != nil {
		if s := n.Source(o.Site.Place); s != "" {
			return s
		}
	}
	if o.Site.Path == "" {
		return ""
	}
	f, err := os.Open(o.Site.Path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line := o.Site.Line
	for s := bufio.NewScanner(f); s.Scan(); {
		if line--; line == 0 {
			return strings.TrimSpace(s.Text())
		}
	}
	return ""
}

// name is the variable that holds a stream, "" if none is known.
func (n Namer) name(l *record.Lane) string {
	switch {
	case l.Handle <= 2:
	case n.stream != nil:
		return n.stream(l)
	case n.Stream != nil:
		return n.Stream(uintptr(l.Handle))
	}
	return ""
}

func (n Namer) queue(l *record.Lane) string {
	switch {
	case l == nil:
		return "the host"
	case l.Handle <= 2:
		return fmt.Sprintf("%s of device %d", l.Name, l.Device)
	}
	if name := n.name(l); name != "" {
		return fmt.Sprintf("stream %s of device %d", name, l.Device)
	}
	made := ""
	if l.Made.Known() {
		made = fmt.Sprintf(" (made at %s)", l.Made)
	}
	return fmt.Sprintf("a stream of device %d%s", l.Device, made)
}

// its is the stream of an operation, as sentences have it.
func (n Namer) its(o *record.Op) string {
	if o.Lane == nil || o.Lane.Handle <= 2 || n.name(o.Lane) != "" {
		return n.queue(o.Lane)
	}
	return "the stream of " + o.Site.String()
}

func (n Namer) operation(o *record.Op, m record.Mode) Operation {
	r := Operation{Place: o.Site.Place, Caller: o.Site.Caller, Source: n.line(o), Queue: n.queue(o.Lane), Device: o.Device(), Rank: o.Rank, Guess: o.Guess}
	switch o.Kind {
	case record.Kernel:
		r.What = "kernel " + o.Name
	case record.Request:
		r.What = o.Call
	case record.HostAccess:
		if r.What = "the program"; o.Lane != nil {
			r.What = "a host function"
		}
		if !strings.HasSuffix(o.Call, " it") { // a call of the driver's
			r.What = o.Call
		}
	default:
		r.What = fmt.Sprintf("%s (%s)", o.Kind, o.Call)
	}
	if o.Kind == record.Request && o.Lane == nil {
		r.Queue = "a message in transfer"
	}
	r.Does = map[record.Mode]string{record.Read: "reads", record.Write: "writes", record.Atomic: "changes atomically"}[m]
	if o.Guess {
		r.Does = map[record.Mode]string{record.Read: "may read", record.Write: "may write"}[m]
	}
	switch o.Kind {
	case record.Free, record.FreeAsync:
		r.Does = "frees"
	case record.AllocAsync:
		r.Does = "allocates"
	}
	if o.Via != nil {
		r.Launched = o.Via.Site.Place
	}
	return r
}

// Report puts a hazard into words.
func (n Namer) Report(h *Hazard) Report {
	a, b := h.First, h.Second
	r := Report{First: n.operation(a, h.FirstMode), Second: n.operation(b, h.SecondMode), Bytes: h.Hi - h.Lo, Address: h.Lo, Times: h.Times, Possible: a.Guess || b.Guess}
	if n.Memory != nil {
		r.Memory = n.Memory(h.Lo, h.Hi)
	}
	if r.Memory == "" {
		r.Memory = allocated(h.Lo, h.Hi)
	}
	r.Missing, r.Fix = n.advice(h)
	switch w, mark := h.early[0], h.early[1]; {
	case w != nil:
		r.Note = fmt.Sprintf("%s waits for an event that is recorded only later, at %s; such a wait waits for nothing.", w.Site.Place, mark.Site.Place)
	case h.others && a.Rank != b.Rank:
		r.Note = "Other ranks have this hazard at the same two places."
	case r.Possible:
		r.Note = "What a kernel touches could not be recorded. By its arguments it may be the whole allocation of each pointer, written unless the pointer is const."
	}
	return r
}

// allocated names memory that no variable holds.
func allocated(lo, hi uint64) string {
	for _, l := range cuda.Leaks() {
		if at := uint64(l.Address); l.Where != "" && at <= lo && hi <= at+l.Bytes {
			name := "what was allocated at " + l.Where
			if hi-lo < l.Bytes {
				name += fmt.Sprintf(", bytes %d to %d of it", lo-at, hi-at)
			}
			return name
		}
	}
	return fmt.Sprintf("%#x", lo)
}

// advice says which order is missing, and what would make it.
func (n Namer) advice(h *Hazard) (missing, fix string) {
	a, b := h.First, h.Second
	first, second := n.its(a), n.its(b)
	if first == second && a.Lane != b.Lane { // neither has a name
		first, second = "that of the first", "the stream of the second"
	}
	_, before := spots(a, b)
	freed := a.Kind == record.Free || a.Kind == record.FreeAsync
	switch {
	case a.Rank != b.Rank:
		return n.acrossRanks(h)
	case freed && b.Lane != nil && (a.Lane == nil || a.Lane == b.Lane):
		return "The memory is used after it was freed.", "free it after the last use"
	case freed:
		return fmt.Sprintf("The memory is freed on %s, and %s may use it afterwards.", first, second), "free it when all that uses it is done"
	case transfers(a):
		return early(h), "request.Wait() // before " + before
	case transfers(b) && a.Lane != nil:
		return n.unready(h), n.synchronize(a, "before "+before)
	case b.Lane == nil && a.Lane == nil:
		return "The host does not wait for the first before it makes the second.", "wait for the first before " + before
	case b.Lane == nil:
		does := "touches the memory"
		if b.Kind == record.Free {
			does = "frees the memory"
		}
		return fmt.Sprintf("The host %s without having waited for %s: no call before it promises that the work there is done.", does, first), n.synchronize(a, "before "+before)
	case a.Lane == nil:
		return fmt.Sprintf("The host's access may not be over when %s touches the memory: nothing orders the goroutine that makes it before the one that queues the second.", second),
			fmt.Sprintf("queue what is at %s after the host is done with the memory", before)
	case a.Lane == b.Lane:
		return "Both are nodes of a graph, or of graphs, of which neither follows the other.", "capture them one after the other, or join the streams by an event"
	case a.Lane != nil && a.Lane.Legacy != b.Lane.Legacy && !a.Lane.Blocking && !b.Lane.Blocking:
		return fmt.Sprintf("%s does not wait for %s: a non-blocking stream and the default stream do not wait for each other.", upper(second), first), n.between(a, b)
	}
	return fmt.Sprintf("%s does not wait for %s.", upper(second), first), n.between(a, b)
}

// acrossRanks is advice on what two ranks do.
func (n Namer) acrossRanks(h *Hazard) (missing, fix string) {
	a, b := h.First, h.Second
	done := fmt.Sprintf("what rank %d does here", a.Rank)
	if a.Lane != nil {
		done = fmt.Sprintf("the work on %s of rank %d", n.its(a), a.Rank)
	}
	tell := fmt.Sprintf("world.Barrier() // before %s; or a message from rank %d that rank %d receives before it", b.Site.Place, a.Rank, b.Rank)
	switch {
	case a.Kind == record.Free || a.Kind == record.FreeAsync:
		return fmt.Sprintf("Rank %d frees the memory, and rank %d may use it afterwards.", a.Rank, b.Rank), "free it when the other ranks have said that they are done with it"
	case b.Kind == record.Free || b.Kind == record.FreeAsync:
		missing = fmt.Sprintf("Rank %d frees the memory, and no message, collective or interprocess event tells it that %s is over.", b.Rank, done)
	default:
		missing = fmt.Sprintf("No message, collective or interprocess event tells rank %d that %s is over.", b.Rank, done)
	}
	if a.Lane == nil {
		return missing, tell
	}
	return missing, n.synchronize(a, "after "+a.Site.String()) + "\n" + tell
}

// transfers reports whether an operation is a message or a collective that follows no
// stream.
func transfers(o *record.Op) bool { return o.Kind == record.Request && o.Lane == nil }

// early says what is wrong with an operation on a buffer that is in transfer.
func early(h *Hazard) string {
	const rule = "the buffer is MPI's until the request is waited for."
	switch b := h.Second; {
	case b.Kind == record.Free || b.Kind == record.FreeAsync:
		return "The buffer of a request is freed before Wait: " + rule
	case transfers(b):
		return "Two requests have the same buffer at a time: " + rule
	case h.FirstMode == record.Read:
		return "The buffer of a request is written before Wait, while it may still be sent: " + rule
	case h.SecondMode == record.Read:
		return fmt.Sprintf("A %s reads what is still being received: %s", what(b), rule)
	}
	return "The buffer of a request is touched before Wait, while it is still being received: " + rule
}

// unready says what is wrong with a message whose buffer is in use.
func (n Namer) unready(h *Hazard) string {
	const rule = "MPI knows nothing of streams; a message comes after the default stream's work, and after what the host has waited for."
	a := h.First
	if h.SecondMode == record.Read {
		return fmt.Sprintf("A %s on %s still writes what is sent: %s", what(a), n.its(a), rule)
	}
	return fmt.Sprintf("A %s on %s still uses the buffer that is received into: %s", what(a), n.its(a), rule)
}

// what is an operation's kind, as sentences about messages have it.
func what(o *record.Op) string {
	switch {
	case o.Lane == nil:
		return "host access"
	case o.Kind == record.HostAccess:
		return "host function"
	}
	return o.Kind.String()
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// synchronize is the call by which the host waits for an operation's stream.
func (n Namer) synchronize(a *record.Op, where string) string {
	v, of := n.variable(a.Lane), ""
	if v == "" {
		v, of = "stream", "; stream is that of "+a.Site.String()
	}
	return v + ".Synchronize() // " + where + of
}

// variable is how Go code may name a stream, "" if that is not known.
func (n Namer) variable(l *record.Lane) string {
	switch l.Handle {
	case driver.StreamPerThread:
		return fmt.Sprintf("must(cuda.Get(%d)).PerThreadStream()", l.Device)
	case driver.StreamLegacy, driver.StreamDefault:
		return fmt.Sprintf("must(cuda.Get(%d)).DefaultStream()", l.Device)
	}
	return n.name(l)
}

// between is the lines that have one stream wait for another.
func (n Namer) between(a, b *record.Op) string {
	after, before := spots(a, b)
	after, before = "after "+after, "before "+before
	first, second := n.variable(a.Lane), n.variable(b.Lane)
	if first == "" {
		first, after = "first", after+"; first is its stream"
	}
	if second == "" {
		second, before = "second", before+"; second is its stream"
	}
	return fmt.Sprintf("done := must(%s.Device().NewEvent())\ndone.Record(%[1]s) // %s\n%s.WaitEvent(done) // %s", first, after, second, before)
}

// spots are the lines between which a call may order two operations. Where functions
// that are called make the operations, these are the lines that call them.
func spots(a, b *record.Op) (after, before string) {
	first, second := a.Site.Place, b.Site.Place
	up, up2 := a.Site.Caller, b.Site.Caller
	switch {
	case up == up2: // in one function, or in a loop
	case !up.Known() || up2.Known() && up.Unit() != up2.Unit() && first.Unit() == up2.Unit():
		second = up2
	case !up2.Known() || up.Unit() != up2.Unit() && up.Unit() == second.Unit():
		first = up
	default:
		first, second = up, up2
	}
	return first.String(), second.String()
}

// ranks reports whether it is of interest whose the operations are.
func (r Report) ranks() bool { return r.First.Rank > 0 || r.Second.Rank > 0 }

// at is the place, as sentences have it.
func (o Operation) at() string { return cmp.Or(o.Place.String(), "an unknown place") }

func (o Operation) lines(which string, ranks bool, object string) string {
	s := fmt.Sprintf("  %-7s %s: %s %s%s, on %s", which, o.at(), o.What, o.Does, object, o.Queue)
	if ranks {
		s += fmt.Sprintf(", rank %d", o.Rank)
	}
	if o.Caller.Known() {
		s += ", called from " + o.Caller.String()
	}
	if o.Launched.Known() {
		s += ", in a graph that is launched at " + o.Launched.String()
	}
	if o.Source != "" {
		s += "\n            " + o.Source
	}
	return s + "\n"
}

// object is what both work on, as sentences have it.
func (r Report) object() string {
	if r.Threads != "" {
		return ""
	}
	return " it"
}

// toDo stands before what would repair it.
func (r Report) toDo() string {
	if r.Threads != "" {
		return "Instead"
	}
	return "To order them"
}

// fix is what orders the two, after a break if these are several lines.
func (r Report) fix(newline string) string {
	if !strings.Contains(r.Fix, "\n") {
		return " " + r.Fix
	}
	return newline + strings.ReplaceAll(r.Fix, "\n", newline)
}

// String is the report as text.
func (r Report) String() string {
	var b strings.Builder
	switch {
	case r.Threads != "":
		b.WriteString("hazard: " + r.Threads)
	case r.Possible:
		fmt.Fprintf(&b, "possible hazard: nothing orders two operations that may touch the same %s of memory, %s", bytes(r.Bytes), r.Memory)
	default:
		fmt.Fprintf(&b, "hazard: nothing orders two operations on %s of memory, %s", bytes(r.Bytes), r.Memory)
	}
	if r.Times > 1 {
		fmt.Fprintf(&b, " (%d times)", r.Times)
	}
	b.WriteString("\n" + r.First.lines("first", r.ranks(), r.object()) + r.Second.lines("second", r.ranks(), r.object()))
	fmt.Fprintf(&b, "  %s\n  %s:%s\n", r.Missing, r.toDo(), r.fix("\n      "))
	if r.Note != "" {
		b.WriteString("  " + r.Note + "\n")
	}
	return b.String()
}

func bytes(n uint64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// Proved is how many of the hazards are more than possible.
func (r List) Proved() (n int) {
	for _, x := range r {
		if !x.Possible {
			n++
		}
	}
	return n
}

// counted says how many hazards there are.
func (r List) counted() string {
	n := r.Proved()
	s := fmt.Sprintf("%d hazards", n)
	if rest := len(r) - n; rest > 0 {
		s += fmt.Sprintf(", %d possible ones", rest)
	}
	return s
}

// List is hazards in the order in which they were found.
type List []Report

// String is all of them as text; "" if there are none.
func (r List) String() string {
	var parts []string
	for _, x := range r {
		parts = append(parts, x.String())
	}
	return strings.Join(parts, "\n")
}
