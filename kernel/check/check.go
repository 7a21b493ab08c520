// Package check gives cells the check for missing waits: %check and %%check.
package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/hazard"
	"gocuda/cudaapi/record"
	"gocuda/internal/ownfolder"
	"gocuda/kernel/display"
	"gocuda/kernel/evaluator"
	"gocuda/kernel/magic"
	"gocuda/kernel/session"
)

// Metadata is the name under which the metadata of an output holds its hazards, a
// [hazard.List]. As data of a type of their own they would be something that tools
// cannot show, and warn of.
const Metadata = "gocuda_hazards"

// state is what the extension knows of a notebook.
type state struct {
	host     *evaluator.Host
	shown    int           // reports that earlier cells showed
	looked   hazard.Counts // when the cell began
	replayed bool          // what the cell queued ran late on purpose
	racy     string        // the last cell that showed reports ...
	found    hazard.List   // ... and these

	mu    sync.Mutex
	names hazard.Names
	cells map[string]string // code by name

	ranks  *hazard.Folder      // where the ranks of this notebook keep their records
	before []session.Evaluator // the ranks that were started before, and keep none
	remove func()              // removes that folder, if this process made it
	inTime func()              // ends what runs late in this rank; nil if nothing does
	quit   func()              // ends the reading of them while a cell runs; nil if none goes on
}

// Attach adds the magics to an evaluator. A rank has the number of its job.
func Attach(h *evaluator.Host) evaluator.Extension {
	s := &state{host: h, cells: map[string]string{}}
	hazard.SetNamer(hazard.Namer{
		Stream: func(handle uintptr) string { return s.held().Stream(handle) },
		Memory: func(lo, hi uint64) string { return s.held().Variable(lo, hi) },
		Names:  s.held,
		Place:  h.Place, Source: s.source,
	})
	err := hazard.FromEnv()
	if err == nil && hazard.Checking() {
		err = s.gather()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the check cannot be turned on:", err)
	}
	return evaluator.Extension{Magics: s.magics(), Begin: s.begin, End: s.end, Close: s.release}
}

// gather has ranks that are started from now on keep records, and reads these: in the
// folder that [hazard.Env] names, or in one of this process.
func (s *state) gather() (err error) {
	folder := os.Getenv(hazard.Env)
	if folder == "" || folder == "0" || folder == "1" {
		if folder, s.remove, err = ownfolder.Temporary("", "gocuda-check-"); err != nil {
			return err
		}
		if err := os.Setenv(hazard.Env, folder); err != nil {
			return err
		}
	}
	s.ranks, err = hazard.OpenFolder(folder, false)
	return err
}

// unchecked is how many ranks run that keep no records.
func (s *state) unchecked() (n int) {
	for _, p := range s.host.Peers() {
		if s.ranks == nil || slices.Contains(s.before, p) {
			n++
		}
	}
	return n
}

// release ends what gather began.
func (s *state) release() {
	s.before = nil
	if s.ranks == nil {
		return
	}
	s.follow(false)
	s.ranks.Close()
	s.ranks = nil
	if s.remove != nil {
		s.remove()
		s.remove = nil
	}
}

func (s *state) magics() []magic.Magic {
	return []magic.Magic{
		{Name: "check", Usage: "%check [on | off | status | replay]", Run: s.run,
			Doc: "Turns the check for missing waits on or off, from the next cell on.\n" +
				"Below each cell it shows the operations on the same memory that nothing orders: both places, and the missing wait.\n" +
				"It does not depend on the schedule: a cell with a report may have given the right result. hazard.Reports() gives the reports as values.\n" +
				"Ranks that are started while it is on are checked together, in cells for ranks too: turn it on before %mpi start, or write %mpi restart.\n" +
				"Cells run slower while it is on.\n" +
				"%check replay runs the last cell with reports again, on simulated devices, in the order that does the damage:\n" +
				"the first operation of each report runs as late as the order allows."},
		{Name: "check", Usage: "%%check", Cell: true, Run: s.cell,
			Doc: "Checks this cell for missing waits; see %check."},
	}
}

func (s *state) run(ctx context.Context, env magic.Env, call magic.Call) error {
	fields, err := call.Fields()
	if err != nil {
		return err
	}
	switch word := strings.Join(fields, " "); word {
	case "on":
		if s.ranks == nil {
			s.before = s.host.Peers()
			if err := s.gather(); err != nil {
				return err
			}
		}
		if n := s.unchecked(); n > 0 {
			fmt.Fprintf(env.Stdout(), "%d ranks that run already are not checked: %%mpi restart starts them again, with the check\n", n)
		}
		s.shown, s.looked = 0, hazard.Counts{}
		s.begin(nil)
		return hazard.On()
	case "off":
		s.end()
		s.release()
		return errors.Join(os.Unsetenv(hazard.Env), hazard.Off())
	case "replay":
		return s.replay(ctx, env, call)
	case "", "status":
		text := "the check is off"
		if hazard.Checking() {
			text = "the check is on: " + hazard.Looked().String()
		}
		fmt.Fprintln(env.Stdout(), text)
		return nil
	}
	return call.UsageErrorf("on, off, status or replay")
}

// replay runs the last cell with reports again, in the order in which they do damage.
func (s *state) replay(ctx context.Context, env magic.Env, call magic.Call) error {
	if len(s.found) == 0 {
		return errors.New("no cell has reported a hazard: write %check on, and run the cell again")
	}
	if b, err := cuda.Backend(); err != nil || b.Name != "sim" {
		return errors.Join(err, errors.New("GPUs choose the order themselves: replay needs simulated devices, GOCUDA_BACKEND=sim"))
	}
	s.mu.Lock()
	code := s.cells[s.racy]
	s.mu.Unlock()
	var places []session.Place
	for _, r := range s.found {
		at := r.First.Place
		if r.First.Launched.Known() && !r.Second.Launched.Known() {
			at = r.First.Launched
		}
		what := fmt.Sprintf("%s at %s", r.First.What, at)
		if r.First.Device < 0 {
			fmt.Fprintf(env.Stdout(), "unchanged: %s, because no device decides when it runs\n", what)
			continue
		}
		fmt.Fprintf(env.Stdout(), "late: %s, after %s at %s\n", what, r.Second.What, r.Second.Place)
		if at.Cell == s.racy {
			at.Cell = s.host.Cell().Name
		}
		places = append(places, session.Place{Cell: at.Cell, Line: at.Line})
	}
	if len(places) == 0 {
		return errors.New("no other order shows the damage of these hazards")
	}
	s.replayed = true
	if strings.HasPrefix(code, "%%mpi") {
		s.host.SetLate(places)
		return call.Cell(ctx, env, code)
	}
	was := hazard.Checking()
	if err := hazard.On(); err != nil { // by which the places are known
		return err
	}
	end := late(places)
	err := call.Cell(ctx, env, code)
	end()
	if !was {
		err = errors.Join(err, hazard.Off())
	}
	return err
}

// late has what is queued at some places run late, on purpose, until end is called.
func late(places []session.Place) (end func()) {
	var list []hazard.Place
	for _, p := range places {
		list = append(list, hazard.Place{Cell: p.Cell, Line: p.Line})
	}
	meant, late := hazard.OnPurpose(), hazard.Late(list...)
	return func() { late(); meant() }
}

func (s *state) cell(ctx context.Context, env magic.Env, call magic.Call) error {
	if call.Args != "" {
		return call.UsageErrorf("it takes no arguments")
	}
	if n := s.unchecked(); n > 0 && strings.HasPrefix(strings.TrimSpace(call.Body), "%%mpi") {
		return fmt.Errorf("%d ranks that run already are not checked: write %%check on, then %%mpi restart", n)
	}
	was := hazard.Checking()
	if !was {
		s.shown, s.looked = 0, hazard.Counts{}
	}
	if err := hazard.On(); err != nil {
		return err
	}
	s.begin(nil)
	err := call.Within(ctx, env)
	if !was {
		s.end()
		if off := hazard.Off(); err == nil {
			err = off
		}
	}
	return err
}

// follow has what ranks record read while a cell runs, or ends that.
func (s *state) follow(on bool) {
	if s.quit != nil {
		s.quit()
		s.quit = nil
	}
	if on && s.ranks != nil && !hazard.Several() {
		s.quit = s.ranks.Follow()
	}
}

func (s *state) begin(<-chan struct{}) {
	s.replayed = false
	if hazard.Checking() {
		s.looked = hazard.Looked()
	}
	s.follow(true)
	// Kept in any case: the check may begin in the middle of the cell.
	c := s.host.Cell()
	if c.Late != nil {
		s.inTime = late(c.Late)
	}
	if !c.Silent {
		s.mu.Lock()
		s.cells[c.Name] = c.Code
		s.mu.Unlock()
	}
}

// end shows what was found in the cell.
func (s *state) end() {
	s.follow(false)
	if s.inTime != nil {
		s.inTime()
		s.inTime = nil
	}
	if !hazard.Checking() {
		return
	}
	s.read()
	if hazard.Several() { // the notebook's process shows what all records say
		if err := hazard.Write(); err != nil {
			fmt.Fprintln(os.Stderr, "the record of the check:", err)
		}
		return
	}
	list := hazard.Reports()
	if s.shown > len(list) {
		s.shown = 0 // hazard.Forget was called
	}
	found := list[s.shown:]
	s.shown = len(list)
	now := hazard.Looked()
	now.Operations, now.Pairs = max(0, now.Operations-s.looked.Operations), max(0, now.Pairs-s.looked.Pairs)
	now.Guessed = max(0, now.Guessed-s.looked.Guessed)
	s.looked = hazard.Looked()
	if s.ranks != nil {
		ranks, counts, err := s.ranks.Check(false)
		if err != nil {
			fmt.Fprintln(os.Stderr, "the check of ranks:", err)
		}
		found = append(slices.Clip(found), ranks...)
		now = now.Plus(counts)
	}
	switch {
	case len(found) > 0:
		s.racy, s.found = s.host.Cell().Name, slices.Clone(found)
		o := session.Output{Kind: session.Display, Bundle: display.Bundle{
			Data:     map[string]any{"text/plain": found.String(), "text/html": found.HTML()},
			Metadata: map[string]any{Metadata: found},
		}}
		if err := s.host.Show(o); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	case s.replayed: // what is run late on purpose is in no report
	case now.Operations > 0 || now.Held > 0:
		fmt.Printf("checked: %s: no hazard\n", now)
	}
}

// source is the line of a cell.
func (s *state) source(at hazard.Place) string {
	s.mu.Lock()
	lines := strings.Split(s.cells[at.Cell], "\n")
	s.mu.Unlock()
	if at.Line < 1 || at.Line > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[at.Line-1])
}

// each calls f with the variables of a type, and the elements of those that are
// slices of it.
func each[T any](s *state, typ string, f func(name string, v T)) {
	for _, name := range s.host.Variables(typ) {
		if v, ok := s.host.Value(name).(T); ok {
			f(name, v)
		}
	}
	for _, name := range s.host.Variables("[]" + typ) {
		list, _ := s.host.Value(name).([]T)
		for i, v := range list {
			f(fmt.Sprintf("%s[%d]", name, i), v)
		}
	}
}

func (s *state) read() {
	n := hazard.Names{Streams: map[uintptr]string{}}
	each(s, "*cuda.Stream", func(name string, v *cuda.Stream) {
		if v != nil {
			n.Streams[v.Handle()] = name
		}
	})
	add := func(name string, at uint64, bytes, size int) {
		if bytes > 0 {
			n.Memory = append(n.Memory, hazard.Variable{Name: name, Lo: at, Hi: at + uint64(bytes), Size: size})
		}
	}
	each(s, "*cuda.Buffer", func(name string, v *cuda.Buffer) {
		if v != nil {
			add(name, uint64(v.Address()), v.Bytes(), v.Type().Size())
		}
	})
	each(s, "*cuda.HostBuffer", func(name string, v *cuda.HostBuffer) {
		if v != nil {
			add(name, uint64(v.Address()), v.Bytes(), v.Type().Size())
		}
	})
	each(s, "*cuda.Array", func(name string, v *cuda.Array) {
		if v != nil {
			lo, hi := record.ArrayRange(driver.Array(v.Handle()))
			d := v.Desc()
			add(name, lo, int(hi-lo), d.Type.Size()*d.Channels)
		}
	})
	s.mu.Lock()
	s.names = n
	s.mu.Unlock()
}

// held are what the variables hold, as read found them.
func (s *state) held() hazard.Names {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names
}
