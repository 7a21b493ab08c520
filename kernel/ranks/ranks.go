// Package ranks is MPI in the notebook: a pool of ranks, each an evaluator
// process like the notebook's own, and the magics that run cells on them.
//
// The pool lives in the notebook's evaluator. Ranks are its children (the
// local launcher), or are started by mpirun, on other hosts too, and connect
// back over a signed link.
package ranks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"time"

	"gocuda/kernel/display"
	"gocuda/kernel/evaluator"
	"gocuda/kernel/golang"
	"gocuda/kernel/ranks/pushpull"
	"gocuda/kernel/session"
)

// Attach adds the pool and its magics to a notebook's evaluator.
func Attach(h *evaluator.Host) evaluator.Extension {
	if os.Getenv(rankEnv) != "" {
		return attachRank(h)
	}
	n := &notebook{host: h}
	pushpull.Set(n)
	return evaluator.Extension{
		Builtins: map[string]any{makeBuiltin: func(maker func() (any, func() any)) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.made = maker
		}},
		Magics:   n.magics(),
		Eval:     n.eval,
		Begin:    n.begin,
		Complete: n.complete,
		Inspect:  n.inspect,
		Peers:    n.peers,
		Close:    n.stop,
	}
}

// notebook is the pool of the notebook, if it has one.
type notebook struct {
	host *evaluator.Host

	mu      sync.Mutex
	pool    *pool
	options startOptions // of the pool, or of the one that could not be restarted
	auto    bool
	stopped <-chan struct{}          // closes when the running cell is interrupted
	made    func() (any, func() any) // makes a variable, and gives its value
}

// begin is told about each cell of the notebook.
func (n *notebook) begin(stop <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stopped = stop
}

// settings are how the pool was started, and whether %autompi is on.
func (n *notebook) settings() (o startOptions, auto bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.options, n.auto
}

// live returns the pool, or an error that tells how to get one.
func (n *notebook) live() (*pool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.pool != nil:
		return n.pool, nil
	case n.options.n > 0:
		return nil, errors.New("no ranks are running: the last %mpi restart failed. %mpi restart tries again with the same options")
	}
	return nil, errors.New("no ranks are running: %mpi start -n 4 starts four")
}

// start starts a pool. The caller has made sure that there is none.
func (n *notebook) start(ctx context.Context, o startOptions) error {
	o.launcher = resolve(o.launcher)
	l, err := newLauncher(o.launcher)
	if err != nil {
		return err
	}
	m := newMerger(o.n, n.host.Show)
	m.debugged = n.host.DebugEvent
	ranks, err := l.start(ctx, o, m, n.host)
	if err != nil {
		m.close()
		l.close(nil)
		return err
	}
	p := newPool(ranks, l, m, n.host)
	if err := p.prepare(ctx); err != nil {
		p.close()
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pool, n.options = p, o
	return nil
}

// peers are the ranks, by their numbers, for the debugger.
func (n *notebook) peers() (list []session.Evaluator) {
	if p, err := n.live(); err == nil {
		for _, r := range p.ranks {
			list = append(list, r.member)
		}
	}
	return list
}

// end ends the pool, if there is one. Its settings are kept for the next.
func (n *notebook) end() {
	n.mu.Lock()
	p := n.pool
	n.pool = nil
	n.mu.Unlock()
	if p != nil {
		p.close()
	}
}

// stop ends the pool, if there is one, and forgets its settings.
func (n *notebook) stop() {
	n.end()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.options, n.auto = startOptions{}, false
}

// run runs a cell on ranks and shows what it gave.
func (n *notebook) run(ctx context.Context, p *pool, cell session.Cell, ranks []int, timeout time.Duration) error {
	cell.Trace = tracingCells()
	j, err := p.post(cell, ranks, timeout)
	if err != nil {
		return session.NewError("RankLost", err.Error())
	}
	if err := p.wait(ctx, j); err != nil {
		return err
	}
	if cell.Trace {
		keepTraces(j)
	}
	values, failure := j.values(), j.err()
	for i, b := range values {
		if failure == nil && i == len(values)-1 {
			return n.host.SetValue(&b)
		}
		if err := n.host.Show(session.Output{Kind: session.Display, Bundle: b}); err != nil {
			return err
		}
	}
	if failure != nil {
		return n.hinted(failure)
	}
	return nil
}

// undefined is what the ranks say of a name that they do not have.
var undefined = regexp.MustCompile(`undefined: ([\pL_][\pL_\d]*)\b`)

// hinted says what to write in the place of a name that package mpi does not have, and
// of one that the ranks do not have and the notebook has, how they can get it.
func (n *notebook) hinted(e *session.Error) *session.Error {
	if advice := instead(e.Message); advice != "" && e.Name == "CompileError" {
		e.Traceback = append(e.Traceback, advice)
	}
	if m := undefined.FindStringSubmatch(e.Message); m != nil && e.Name == "CompileError" {
		if of, ok := n.host.Named(m[1]); ok {
			e.Traceback = append(e.Traceback, n.howRanksGet(of))
		}
	}
	return e
}

func (n *notebook) howRanksGet(of golang.Name) string {
	kind := map[string]string{"func": "function", "type": "type", "const": "constant"}[of.Kind]
	v := n.host.Value(of.Name)
	what, how := of.Name+" ("+of.Type+") is a variable", fmt.Sprintf("mpi.Push(%q, %[1]s), in a cell without %%%%mpi, gives them a copy", of.Name)
	switch {
	case kind != "":
		what, how = of.Name+" is a "+kind, "run its cell on them too, with %%mpi as its first line"
	case of.Type == kernelType:
		what, how = of.Name+" is a kernel", compileThere
	case v != nil && portable(reflect.TypeOf(v), of.Name, 0) != nil:
		how = "it cannot be copied to them: make one in a %%mpi cell"
	}
	return what + " of the notebook; ranks have names of their own: " + how
}

// background shows what a cell gave that nobody waits for.
func (n *notebook) background(j *job) {
	<-j.done
	for _, b := range j.values() {
		n.host.Show(session.Output{Kind: session.Display, Bundle: b})
	}
	if e := j.err(); e != nil {
		text := fmt.Sprintf("%s failed in the background:\n%s\n", j.cell.Name, strings.Join(e.Traceback, "\n"))
		n.host.Show(session.Output{Kind: session.Stderr, Text: text})
	}
}

// eval runs Go code of the notebook's cell on the ranks, under %autompi.
func (n *notebook) eval(ctx context.Context, code string, show bool) (bool, error) {
	n.mu.Lock()
	auto := n.auto
	n.mu.Unlock()
	if !auto {
		return false, nil
	}
	p, err := n.live()
	if err != nil { // a restart failed; these cells are not for the notebook
		return true, session.NewError("NoRanks", err.Error()+"; %autompi off runs Go cells in the notebook")
	}
	cell := n.host.Cell()
	cell.Code, cell.Expressions, cell.Silent = code, nil, cell.Silent || !show
	return true, n.run(ctx, p, cell, all(len(p.ranks)), 0)
}

// body finds the code in a cell that is for ranks, which keeps its offsets; ok
// is false if the cell, or the cursor, is not for them.
func (n *notebook) body(code string, cursor int) (p *pool, blanked string, ok bool) {
	n.mu.Lock()
	p, auto := n.pool, n.auto
	n.mu.Unlock()
	if p == nil {
		return nil, "", false
	}
	head := strings.TrimLeft(code, " \t\r\n")
	begin := len(code) - len(head)
	line, _, found := strings.Cut(head, "\n")
	switch name, _, _ := strings.Cut(strings.TrimRight(line, "\r"), " "); {
	case name == "%%timeline" && found: // whose body is a cell
		at := begin + len(line) + 1
		if cursor < at {
			return nil, "", false
		}
		if p, blanked, ok = n.body(code[at:], cursor-at); ok {
			blanked = strings.Repeat(" ", at-1) + "\n" + blanked
		}
		return p, blanked, ok
	case name == "%%mpi":
		if !found || cursor <= begin+len(line) {
			return nil, "", false
		}
		return p, code[:begin] + strings.Repeat(" ", len(line)) + head[len(line):], true
	case auto && !strings.HasPrefix(name, "%"):
		return p, code, true
	}
	return nil, "", false
}

func (n *notebook) complete(code string, cursor int) (session.Completion, bool) {
	p, code, ok := n.body(code, cursor)
	if !ok {
		return session.Completion{}, false
	}
	answer, err := p.ranks[0].Complete(code, cursor)
	return answer, err == nil
}

func (n *notebook) inspect(code string, cursor, detail int) (*display.Bundle, bool) {
	p, code, ok := n.body(code, cursor)
	if !ok {
		return nil, false
	}
	answer, err := p.ranks[0].Inspect(code, cursor, detail)
	return answer, err == nil
}
