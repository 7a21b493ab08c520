package evaluator

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gocuda/kernel/golang"
	"gocuda/kernel/magic"
	"gocuda/kernel/session"
)

// attempts are the cells that made each name, or tried to. A cell that fails leaves the
// old definition of its names in force, and a judge must not take that for the new one.
type attempts struct {
	mu    sync.Mutex
	count int
	of    map[string]attempt
}

// attempt is the newest of a name.
type attempt struct {
	cell   string
	number int
	failed string          // what the cell did: "did not compile", for instance; "": it made the name
	uses   map[string]bool // the names in the cells that made this one, or gave it a value
}

// note takes note of a cell that has ended.
func (a *attempts) note(cell session.Cell, err error) {
	o := outline(cell.Code, err)
	failed, made := "", slices.Concat(o.Declares, o.Variables, o.Assigns)
	switch kind := kindOf(err); {
	case kind == "CompileError" || kind == "ImportError" || kind == "InternalError":
		failed = "did not compile"
	case kind == "UnknownMagic" || kind == "UsageError":
		failed = "failed"
	case err != nil: // while it ran: its functions are in force
		failed, made = "failed", o.Variables
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = map[string]attempt{}
	}
	a.count++
	for _, name := range made {
		uses := map[string]bool{}
		if failed != "" || slices.Contains(o.Assigns, name) {
			maps.Copy(uses, a.of[name].uses)
		}
		for _, n := range o.Uses {
			uses[n] = true
		}
		a.of[name] = attempt{cell.Name, a.count, failed, uses}
	}
}

// forget begins again.
func (a *attempts) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.of = nil
}

// unmade says why what a cell is about to use is not what the user wrote last: the first
// cell that failed to make it. missing gives the names that a function of that name waits
// for.
func (a *attempts) unmade(names []string, missing func(name string) []string) (why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	first, seen := attempt{}, map[string]bool{}
	for next := slices.Clone(names); len(next) > 0; next = next[1:] {
		t, ok := a.of[next[0]]
		if !ok || seen[next[0]] {
			continue
		}
		seen[next[0]] = true
		if lacks := missing(next[0]); t.failed == "" && len(lacks) > 0 {
			t.failed = fmt.Sprintf("calls %s, which no cell has declared", strings.Join(lacks, ", "))
		}
		if t.failed != "" && (first.failed == "" || t.number < first.number) {
			first = t
		}
		next = slices.AppendSeq(next, maps.Keys(t.uses))
	}
	if first.failed == "" {
		return ""
	}
	return fmt.Sprintf("the cell above, %s, %s", first.cell, first.failed)
}

// refuses gives the verdicts of a cell that judges what an earlier one failed to make.
func (c *evaluator) refuses(code string) bool {
	o := golang.OutlineOf(magic.AllGo(code))
	if len(o.Judges) == 0 {
		return false
	}
	why := c.attempts.unmade(o.Uses, c.golang.Missing)
	if why == "" {
		return false
	}
	for _, id := range o.Judges {
		c.golang.Refuse(id, why)
	}
	return true
}

func kindOf(err error) string {
	if err == nil {
		return ""
	}
	return asError(err).Name
}

var (
	recorded      = regexp.MustCompile(`(?m)^%%timeline\b`)
	definedInCUDA = regexp.MustCompile(`\b([A-Za-z_]\w*)\s*\([^;{}]*\)\s*\{`)
	calledInCUDA  = regexp.MustCompile(`\b([A-Za-z_]\w*)\s*\(`)
)

// outline reads a cell of Go, or of CUDA C++.
func outline(code string, err error) golang.Outline {
	var unknown *magic.Error
	if errors.As(err, &unknown) && unknown.Name == "UnknownMagic" {
		_, code, _ = strings.Cut(strings.TrimLeft(code, " \t\r\n"), "\n")
	}
	cpp := magic.CUDA(code)
	if cpp == "" {
		o := golang.OutlineOf(magic.AllGo(code))
		if recorded.MatchString(code) { // and judges read that by the package
			o.Variables = append(o.Variables, "timeline")
		}
		return o
	}
	var o golang.Outline
	for _, m := range definedInCUDA.FindAllStringSubmatch(cpp, -1) {
		o.Declares = append(o.Declares, m[1])
	}
	for _, m := range calledInCUDA.FindAllStringSubmatch(cpp, -1) {
		if !slices.Contains(o.Declares, m[1]) {
			o.Uses = append(o.Uses, m[1])
		}
	}
	return o
}
