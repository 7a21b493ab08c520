package golang

import (
	"errors"
	"fmt"
	"strings"

	"gocuda/kernel/golang/answer"
)

// errTodo is what todo ends a judged function with.
var errTodo = errors.New(answer.NotSolved)

// judging are the builtins by which a notebook checks itself (check), and what its
// reader wrote (judge, todo). Unlike a function that returns an error, check fails
// the cell wherever it stands, as must does.
func (ev *Evaluator) judging() map[string]any {
	return map[string]any{
		"check": func(ok bool, format string, args ...any) {
			if !ok {
				ev.rt.Fail(fmt.Errorf(format, args...))
			}
		},
		"todo":  func() { ev.rt.Fail(errTodo) },
		"judge": ev.judge,
	}
}

// judge says in one line how f ended: right if it returned, not solved yet if it
// called todo, or a kernel that it launched did, else wrong, and why. The cell goes on
// in any case.
func (ev *Evaluator) judge(id string, f func()) {
	ev.judged(id, "")
	ev.judged(id, ev.verdict(f))
}

// Refuse says, in place of a judge, that an exercise is wrong, and why.
func (ev *Evaluator) Refuse(id, why string) {
	ev.judged(id, "")
	ev.judged(id, answer.Wrong+why)
}

// judged says that a judge begins, with no verdict, or how it ended.
func (ev *Evaluator) judged(id, verdict string) {
	said := ev.options.Judged != nil && ev.options.Judged(id, verdict)
	if !said && verdict != "" {
		fmt.Fprintf(ev.route(ev.options.Stdout), "exercise %s: %s\n", id, verdict)
	}
}

// verdict is how f ended, in words.
func (ev *Evaluator) verdict(f func()) string {
	value, trace, ok := ev.rt.Try(f)
	err, _ := value.(error)
	if errors.Is(err, errTodo) || err != nil && strings.Contains(err.Error(), answer.NotSolved) {
		return answer.Unsolved
	}
	if ok {
		return answer.Right
	}
	e := ev.texts.panicError(value, trace)
	verdict := answer.Wrong + e.Message
	if e.Name == "Panic" { // where it was
		for _, line := range e.Traceback[1:] {
			verdict += "\n" + withoutColour(line)
		}
	}
	return verdict
}
