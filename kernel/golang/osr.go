package golang

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
	"weak"

	"gocuda/cudaapi/gokernel"
	"gocuda/cudaapi/gokernel/osr"
	"gocuda/cudaapi/native"
	"gocuda/kernel/golang/lower"
	"gocuda/kernel/golang/rt"
)

// On-stack replacement: a loop that runs for long is compiled beside the cell, with those
// around it, and entered at the head of its next iteration. Which loops these are, they say themselves: now
// and then lowered code is asked to look at the heads of loops, as it does when a cell
// is to end, and calls a function of each loop there.

// loops are those that can go on in a compiled form.
type loops struct {
	mu         sync.Mutex
	numbers    *loopNumbers
	told       []*Compiled // what became of loops, the last one last
	uncompiled []*Compiled // the loops that are never compiled, by their numbers
	full       string      // the first cell with a loop for which there was no number
	asked      func()      // ends the looks at the heads of loops
	begun      time.Time
	group      *rt.Group // the cell that runs

	// eager has every loop compiled that can be, by the first of its iterations that asks,
	// and entered each time it has asked so often; 0: what runs for long is.
	eager int
}

// loopNumbers are those that lowered code has for loops. A loop lives as long as code
// that calls it; then another can have its number.
type loopNumbers struct {
	mu    sync.Mutex
	list  []weak.Pointer[osrLoop]
	free  []int
	flags []bool // those that lowered code reads before it begins a loop
}

// add gives a loop its number, and says whether there is one.
func (n *loopNumbers) add(c *osrLoop) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if last := len(n.free) - 1; last >= 0 {
		c.number = n.free[last]
		n.free = n.free[:last]
	} else if len(n.list) < len(n.flags) {
		c.number = len(n.list)
		n.list = append(n.list, weak.Pointer[osrLoop]{})
	} else {
		return false
	}
	n.list[c.number] = weak.Make(c)
	runtime.AddCleanup(c, n.release, c.number)
	return true
}

func (n *loopNumbers) release(number int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	rt.SetLoop(n.flags, number, false)
	n.list[number] = weak.Pointer[osrLoop]{}
	n.free = append(n.free, number)
}

// none says whether no loop has a number.
func (n *loopNumbers) none() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.list) == len(n.free)
}

// all are the loops that have numbers.
func (n *loopNumbers) all() (list []*osrLoop) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.list {
		if c := w.Value(); c != nil {
			list = append(list, c)
		}
	}
	return list
}

// osrLoop is a loop of a cell.
type osrLoop struct {
	ev      *tiers
	loop    *osr.Loop
	around  *osrLoop
	number  int
	in, out []reflect.Type
	native  atomic.Pointer[nativeCall]

	// Under loops.mu:
	state loopState
	at    *Compiled
	asked int // since it was entered
}

type loopState int

const (
	loopCold loopState = iota
	loopWarm           // it is being compiled
	loopHot            // it is entered
	loopOut            // it is not, and never will be
)

const (
	maxLoops = 1 << 16
	// looksFor is how long lowered code looks at loop heads each time.
	looksFor = time.Millisecond
	// firstLook is after how long a cell is asked first; what was compiled before is
	// entered then.
	firstLook = 300 * time.Microsecond
	// compilesAfter is after how long of a cell something is compiled again.
	compilesAfter = 3 * time.Millisecond
	// rarestLook is how much later, at most, the next look comes than the one before.
	rarestLook = time.Second
	// maxTold is of how many loops it is known what became of them.
	maxTold = 1000
)

// reset forgets all loops. v is the interpreter's variable for the flags.
func (l *loops) reset(v reflect.Value) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.full, l.told, l.uncompiled = "", nil, nil
	l.numbers = &loopNumbers{flags: make([]bool, maxLoops)}
	v.Set(reflect.ValueOf(l.numbers.flags))
	l.eager = 0
	if after, ok := strings.CutPrefix(os.Getenv(CompileVariable), compileEverything); ok {
		l.eager = 1
		if n, err := strconv.Atoi(strings.TrimPrefix(after, ":")); err == nil && n > 0 {
			l.eager = n
		}
	}
}

// wantsLoops says whether loops that are lowered now are to be able to go on in a
// compiled form.
func (ev *tiers) wantsLoops() bool { return !ev.compilesNothing() && native.Possible() }

// loweredLoops takes the loops of the code that is being lowered.
type loweredLoops struct{ *tiers }

func (ev loweredLoops) Refusal(l *osr.Loop) (at ast.Node, why string) { return gokernel.LoopRefusal(l) }

// AddRefused notes why a loop can never be compiled, for when it runs for long.
func (ev loweredLoops) AddRefused(loop ast.Stmt, at token.Pos, why string) int {
	p, q := ev.fset.Position(loop.Pos()), ev.fset.Position(at)
	ls := &ev.loops
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.uncompiled = append(ls.uncompiled, &Compiled{Name: "loop", Cell: p.Filename, Line: p.Line, Reason: fmt.Sprintf("%s: %s", q, why)})
	return len(ls.uncompiled) - 1
}

// runsUncompiled is called by a loop that is never compiled.
func (ls *loops) runsUncompiled(number int) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if number < len(ls.uncompiled) { // %reset took the others away
		ls.tell(ls.uncompiled[number])
	}
}

// Add makes the function that lowered code calls to go on with a loop, and returns
// its number; -1: there is none.
func (ev loweredLoops) Add(l *osr.Loop) int {
	c := &osrLoop{ev: ev.tiers, loop: l, out: []reflect.Type{reflect.TypeFor[int]()}}
	for _, v := range l.Vars {
		t := ev.lower.Reflect(v.Type())
		if v.Place {
			t = reflect.PointerTo(t)
		} else if v.Set {
			c.out = append(c.out, t)
		}
		c.in = append(c.in, t)
	}
	for _, t := range l.State {
		c.in = append(c.in, ev.lower.Reflect(t))
	}
	for _, t := range l.Results {
		c.out = append(c.out, ev.lower.Reflect(t))
	}
	if len(l.State) > 0 && l.Leaves {
		c.out = append(c.out, c.in[len(c.in)-1])
	}
	p := ev.fset.Position(l.Stmt.Pos())
	c.at = &Compiled{Name: "loop", Cell: p.Filename, Line: p.Line}
	ls := &ev.loops
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if !ls.numbers.add(c) {
		if ls.full == "" {
			ls.full = c.at.Cell
		}
		return -1
	}
	if l.Around != nil {
		for _, o := range ev.fresh {
			if o.loop == l.Around {
				c.around = o
			}
		}
	}
	ev.fresh = append(ev.fresh, c)
	ev.defineLoop(c)
	return c.number
}

// defineLoop defines the function that lowered code calls to go on with a loop.
func (ev *machine) defineLoop(c *osrLoop) {
	ev.define(lower.LoopSymbol(c.number), reflect.MakeFunc(reflect.FuncOf(c.in, c.out, false), c.enter))
}

// tell notes what became of a loop. The caller holds mu.
func (ls *loops) tell(at *Compiled) {
	if !slices.Contains(ls.told, at) {
		ls.told = append(ls.told[max(0, len(ls.told)+1-maxTold):], at)
	}
}

// enter goes on with the loop, if it was compiled.
func (c *osrLoop) enter(args []reflect.Value) []reflect.Value {
	results := []reflect.Value{reflect.ValueOf(0)}
	f := c.native.Load()
	if f == nil {
		c.ev.loopRuns(c)
		f = c.native.Load()
	}
	if f != nil && (c.loop.Leaves && c.ev.rt.Pending().Load() || !c.ev.loops.inTurn(c)) {
		f = nil
	}
	if f == nil {
		for i, v := range c.loop.Vars {
			if v.Set {
				results = append(results, args[i])
			}
		}
		for _, t := range c.out[len(results):] {
			results = append(results, reflect.Zero(t))
		}
		if len(c.loop.State) > 0 && c.loop.Leaves {
			results[len(results)-1] = args[len(args)-1]
		}
		return results
	}
	results, o := f.call(args, c.ev.rt.Ending())
	if o.State != native.Returned {
		c.ev.endInLoop(o)
	}
	return results
}

// endInLoop ends a loop that was compiled and did not end as a loop does. It does not
// return.
func (ev *tiers) endInLoop(o native.Outcome) {
	sites := append([]gokernel.HostSite{o.Site}, o.Calls...)
	last := ev.passed(sites[len(sites)-1]) // in the loop itself
	if o.State == native.Interrupted {
		ev.rt.EndIn(last.Line, last.Column)
	}
	var calls []rt.Call
	for _, s := range sites[:len(sites)-1] {
		calls = append(calls, ev.passed(s))
	}
	if o.State == native.Overflowed {
		ev.rt.OverflowAt(last, calls)
	}
	ev.rt.PanicAt(last, calls, panicAt(o))
}

// loopLooks looks at the loops of the cell that runs, or no longer, and says after how
// long it is to be called next.
func (ev *tiers) loopLooks(g *rt.Group) time.Duration {
	ls := &ev.loops
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.eager > 0 || ls.group != g {
		return rarestLook
	}
	if ls.asked != nil {
		ls.asked()
		ls.asked = nil
		return min(max(time.Since(ls.begun), compilesAfter-time.Since(ls.begun)), rarestLook)
	}
	if ls.numbers.none() && len(ls.uncompiled) == 0 || ev.compilesNothing() {
		return rarestLook
	}
	ls.asked = ev.rt.Ask()
	return looksFor
}

// loopsOf begins the looks at the loops of a cell, and returns what ends them.
func (ev *tiers) loopsOf(g *rt.Group) (done func()) {
	ls := &ev.loops
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.group != nil {
		return func() {} // one cell of those that run side by side is looked at
	}
	ls.begun, ls.group = time.Now(), g
	if ls.eager > 0 {
		ls.asked = ev.rt.Ask()
	}
	return func() {
		ls.mu.Lock()
		defer ls.mu.Unlock()
		if ls.asked != nil {
			ls.asked()
			ls.asked = nil
		}
		ls.group = nil
	}
}

// loopRuns is called at the head of an iteration of a loop that is not compiled.
func (ev *tiers) loopRuns(c *osrLoop) {
	if ev.compilesNothing() { // since the cell began
		return
	}
	ls := &ev.loops
	ls.mu.Lock()
	if c.state != loopCold {
		ls.mu.Unlock()
		return
	}
	var chain []*osrLoop // the outermost last
	for at := c; at != nil; at = at.around {
		if at.state == loopCold {
			at.state = loopWarm
			chain = append(chain, at)
		}
		if c.loop.Call {
			break
		}
	}
	eager, group := ls.eager > 0 || c.loop.Call, ls.group
	ls.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		ev.compileLoops(chain, group, eager)
	}()
	if !eager {
		return
	}
	ev.rt.Await(done)
	if end := ev.rt.Ending(); end != nil && end.Load() {
		p := ev.fset.Position(c.loop.Stmt.Pos())
		ev.rt.EndIn(p.Line, p.Column)
	}
}

// inTurn says whether a loop that was compiled is entered now that it asks.
func (ls *loops) inTurn(c *osrLoop) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if c.asked++; c.asked < ls.eager {
		return false
	}
	c.asked = 0
	return true
}

// compileLoops compiles loops that run, the innermost first, and has them entered. The cell
// waits for that, or it is done only if the cell runs for long.
func (ev *tiers) compileLoops(chain []*osrLoop, g *rt.Group, waits bool) {
	again := false
	defer func() {
		ls := &ev.loops
		ls.mu.Lock()
		defer ls.mu.Unlock()
		for _, c := range chain {
			if c.state == loopWarm && again {
				c.state = loopCold
			} else if c.state == loopWarm {
				c.state = loopOut
			}
		}
	}()
	if native.Available() != nil {
		return
	}
	ev.mu.Lock()
	p, generation := ev.loopProgram(chain), ev.compiling.now()
	ev.mu.Unlock()
	if !p.Some {
		return
	}
	code, err := native.Cached(p)
	if code == nil && err == nil {
		if !waits && !ev.worthCompiling(g) {
			again = true
			return
		}
		code, err = native.Compile(p)
		ev.compiling.end(!waits)
	}
	ev.mu.Lock()
	defer ev.mu.Unlock()
	again = ev.compiling.now() != generation // a cell has declared something since
	if !again {
		ev.useLoops(chain, code, err)
	}
}

// worthCompiling waits until a cell has run for so long that loops of it are worth
// compiling, and says whether it still does. If so, that begins.
func (ev *tiers) worthCompiling(g *rt.Group) bool {
	ls := &ev.loops
	ls.mu.Lock()
	wait := compilesAfter - time.Since(ls.begun)
	ls.mu.Unlock()
	time.Sleep(wait)
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return ls.group == g && ev.compiling.begin()
}

// loopProgram is what is to be compiled of loops; those that cannot be say why.
func (ev *tiers) loopProgram(chain []*osrLoop) *gokernel.HostProgram {
	list := make([]*osr.Loop, len(chain))
	for i, c := range chain {
		list[i] = c.loop
	}
	p := native.Program(ev.fset, nil, list, ev.hostSource, ev.lower.Seen())
	ev.loops.mu.Lock()
	defer ev.loops.mu.Unlock()
	for i, e := range p.Loops {
		if e.Refused != nil {
			c := chain[i]
			c.state, c.at.Reason = loopOut, e.Refused[0].Error()
			ev.loops.tell(c.at)
		}
	}
	return p
}

// useLoops has loops entered that were compiled.
func (ev *tiers) useLoops(list []*osrLoop, code *native.Code, err error) {
	var entries []*native.Func
	if err == nil {
		code.Watch = ev.rt.Pending()
		entries, err = code.Loops()
	}
	if err == nil {
		err = ev.bindOutside(code)
	}
	if err == nil && len(code.Program.Globals) > 0 {
		err = ev.bindPlaces(code)
	}
	ls := &ev.loops
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for i, c := range list {
		if c.state == loopOut { // it was refused
			continue
		}
		ls.tell(c.at)
		if err != nil {
			c.state, c.at.Reason = loopOut, err.Error()
			continue
		}
		c.native.Store(newNativeCall(entries[i], c.in, c.out))
		c.state = loopHot
		c.at.Reason, c.at.Took, c.at.Cached, c.at.Code = "", code.Took, code.Cached, code.Program.Functions
		rt.SetLoop(ls.numbers.flags, c.number, ls.eager == 0)
	}
	if ls.group != nil && ls.asked == nil && err == nil {
		ls.asked = ev.rt.Ask() // until the next look
	}
}

// bindPlaces tells compiled code where the package variables are.
func (ev *tiers) bindPlaces(code *native.Code) error {
	bound := false
	if err := ev.lowered("compiled", func() { ev.lower.Places(code.Program.Globals, ev.binder(code, &bound)) }); err != nil {
		return err
	}
	if !bound {
		return errors.New("the places of its variables are not known")
	}
	return nil
}

// binder is a symbol for lowered code to tell the places of package variables.
func (ev *tiers) binder(code *native.Code, bound *bool) string {
	return ev.symbol(reflect.ValueOf(func(places ...any) {
		list := make([]unsafe.Pointer, len(places))
		for i, p := range places {
			list[i] = reflect.ValueOf(p).UnsafePointer()
		}
		code.Bind(list)
		*bound = true
	}))
}

// cool has loops interpreted again of which which is true, for a reason.
func (ls *loops) cool(which func(*gokernel.HostProgram) (reason string)) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, c := range ls.numbers.all() {
		f := c.native.Load()
		if f == nil {
			continue
		}
		if reason := which(f.Code.Program); reason != "" {
			c.native.Store(nil)
			c.state, c.at.Reason = loopCold, reason
			rt.SetLoop(ls.numbers.flags, c.number, false)
		}
	}
}

// compiled lists the loops that were compiled, or could not be.
func (ls *loops) compiled() (list []Compiled) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, at := range ls.told {
		list = append(list, *at)
	}
	if ls.full != "" {
		list = append(list, Compiled{Name: "loops", Cell: ls.full, Reason: fmt.Sprintf("the functions of the session have %d loops, and those of this cell are interpreted: %%reset begins again", maxLoops)})
	}
	return list
}
