package hazard

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/callsite"
	"gocuda/cudaapi/record"
)

// checking is the check of this process.
var checking struct {
	sync.Mutex
	checker  *Checker
	recorder *record.Recorder
	beside   *beside
	namer    Namer
	folder   string         // for records; "" for none
	file     *record.Writer // of this one
	last     List           // of the check before
	pending  func(any bool) // see SetPending
}

// recording are the drivers that record for the check.
var recording struct {
	sync.Mutex
	list []driver.Driver
}

// SetNamer makes a program's names known to reports.
func SetNamer(n Namer) {
	checking.Lock()
	defer checking.Unlock()
	checking.namer = n
	callsite.SetExact(n.Place)
}

// SetPending has f told when work is queued that nobody has waited for, and when there is
// none any more: only in between a check wants to know of [HostAccess].
func SetPending(f func(any bool)) {
	checking.Lock()
	defer checking.Unlock()
	checking.pending = f
	if checking.checker != nil {
		checking.recorder.WhenPending(f)
	}
}

// On begins to check what this process queues on its devices. Work that is queued
// already is waited for first.
func On() error {
	checking.Lock()
	defer checking.Unlock()
	if checking.checker != nil {
		return nil
	}
	c := New()
	sinks := []record.Sink{}
	if checking.folder != "" {
		file, err := record.Create(checking.folder)
		if err != nil {
			return err
		}
		checking.file = file
		sinks = append(sinks, file)
	}
	b := newBeside(append(sinks, c)...) // the file is first: the checker changes operations
	r := record.New(b)
	err := cuda.Decorate(func(d driver.Driver, inUse map[driver.Context]driver.Device) driver.Driver {
		w := record.Wrap(d, r, inUse)
		recording.Lock()
		recording.list = append(recording.list, w)
		recording.Unlock()
		return w
	})
	if err != nil {
		return errors.Join(err, closeFile())
	}
	checking.checker, checking.recorder, checking.beside = c, r, b
	if checking.pending != nil {
		r.WhenPending(checking.pending)
	}
	record.Use(r)
	return nil
}

// Off ends the check. Its reports stay until it begins again.
func Off() error {
	checking.Lock()
	defer checking.Unlock()
	if checking.checker == nil {
		return nil
	}
	checking.last = found()
	r, rest := record.Rest()
	record.Use(r)
	err := errors.Join(cuda.Decorate(rest), closeFile())
	checking.recorder.WhenPending(nil)
	if checking.pending != nil {
		checking.pending(false)
	}
	checking.checker = nil
	recording.Lock()
	recording.list = nil
	recording.Unlock()
	return err
}

// closeFile ends the record, if there is one. checking is locked.
func closeFile() error {
	if checking.file == nil {
		return nil
	}
	err := errors.Join(writeFile(), checking.file.Close())
	checking.file = nil
	return err
}

// writeFile writes what was recorded so far, with what reports need to know.
func writeFile() error {
	checking.beside.wait()
	n := notes{Sources: map[string]string{}}
	if checking.namer.Names != nil {
		n.Names = checking.namer.Names()
	}
	for _, at := range checking.file.Places() {
		if line := checking.namer.line(&record.Op{Site: at}); line != "" {
			n.Sources[at.Place.String()] = line
		}
	}
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return checking.file.Flush(text)
}

// Several reports whether this process is one of several ranks that keep records, so
// that whoever started them checks these as one.
func Several() bool {
	checking.Lock()
	defer checking.Unlock()
	return checking.file != nil && record.Place().Size > 1
}

// Write writes what was recorded so far to the record that [Env] asks for, so that a
// reader finds it; without one it does nothing. It waits, for some seconds at most,
// for the work that is queued.
func Write() error {
	checking.Lock()
	defer checking.Unlock()
	if checking.file == nil {
		return nil
	}
	settle()
	return writeFile()
}

// Checking reports whether the check is on.
func Checking() bool {
	checking.Lock()
	defer checking.Unlock()
	return checking.checker != nil
}

// settleTime is how long a report waits for queued work, so that kernels tell what
// they touched. One that waits for what a later cell does never ends before.
const settleTime = 5 * time.Second

// settle waits for what is queued. checking is locked.
func settle() {
	c := checking.checker
	if c == nil {
		return
	}
	checking.recorder.Flush()
	stop := make(chan struct{})
	timer := time.AfterFunc(settleTime, func() { close(stop) })
	defer timer.Stop()
	idle := true
	recording.Lock()
	drivers := slices.Clone(recording.list)
	recording.Unlock()
	for _, d := range drivers {
		idle = record.Idle(d, stop) == nil && idle
	}
	checking.beside.wait()
	if idle {
		c.Finish()
	}
}

// Reports gives the hazards of this process since the check began, or since Forget;
// where it is off, those of the last one. What a rank does to memory that another has
// open shows in the records of both: a notebook reports it at the end of the cell. It
// waits, for some seconds at most, for the work that is queued.
func Reports() List {
	checking.Lock()
	defer checking.Unlock()
	if checking.checker == nil {
		return checking.last
	}
	return found()
}

// found is Reports. checking is locked.
func found() (list List) {
	settle()
	for _, h := range checking.checker.Found() {
		list = append(list, checking.namer.Report(h))
	}
	for _, r := range checking.recorder.Races() {
		list = append(list, checking.namer.race(r))
	}
	return list
}

// HostAccess tells a check of an access of the program's own to memory, which
// lowered code makes known: n bytes at p, one element or several. place is the
// statement's; called says that compiled code has called the
// function that it is in.
func HostAccess(place Place, p uintptr, n int, write, element, called bool) {
	r := record.InUse()
	if r == nil {
		return
	}
	mode := record.Read
	if write {
		mode = record.Write
	}
	r.Touch(place, record.Access{Lo: uint64(p), Hi: uint64(p) + uint64(n), Mode: mode}, element, called)
}

// OnPurpose says that what the program queues from now on, until end is called, may
// lack waits on purpose, to show what happens then: it is in no report. It is
//
//	defer hazard.OnPurpose()()
//
// at the beginning of a function, and does nothing where nobody checks.
func OnPurpose() (end func()) { return record.Mean() }

// Late has what the program queues at some places run as late as
// the order allows, until end is called: where a wait is missing, what comes after it
// runs first. It is for simulated devices; others choose the order themselves, and so
// does the check of them if it is off.
func Late(places ...Place) (end func()) {
	record.Delay(func(o *record.Op) bool { return !o.Site.Library && slices.Contains(places, o.Site.Place) })
	return func() { record.Delay(nil) }
}

// Looked tells how much was looked at since the check began, or since Forget.
func Looked() Counts {
	checking.Lock()
	defer checking.Unlock()
	if checking.checker == nil {
		return Counts{}
	}
	checking.beside.wait()
	return checking.checker.Counts()
}

// Forget drops the reports so far; what comes is still checked against what was
// queued before.
func Forget() {
	checking.Lock()
	defer checking.Unlock()
	checking.last = nil
	if checking.checker != nil {
		checking.beside.wait()
		checking.checker.Forget()
		checking.recorder.ForgetRaces()
	}
}

// Plus is both.
func (c Counts) Plus(o Counts) Counts {
	return Counts{c.Operations + o.Operations, c.Pairs + o.Pairs, c.Unknown + o.Unknown, c.Guessed + o.Guessed, c.Held + o.Held}
}

// since is what came after an earlier count.
func (c Counts) since(o Counts) Counts {
	return Counts{c.Operations - o.Operations, c.Pairs - o.Pairs, c.Unknown, c.Guessed - o.Guessed, c.Held}
}

// String says how much was looked at.
func (c Counts) String() string {
	s := fmt.Sprintf("%s, %s on the same memory", plural(c.Operations, "operation"), plural(c.Pairs, "pair"))
	if c.Guessed > 0 {
		s += fmt.Sprintf("; for %s the memory is guessed from the arguments", plural(c.Guessed, "kernel"))
	}
	if c.Held > 0 {
		s += fmt.Sprintf("; %d more are not checked yet, because they follow something that no rank has reported", c.Held)
	}
	if c.Unknown > 0 {
		s += fmt.Sprintf("; for %s the memory is not known, because they have not run", plural(c.Unknown, "kernel"))
	}
	return s
}

// plural is a number of things: 1 pair, 2 pairs.
func plural[N int | uint64](n N, thing string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", thing)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
