package magic

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

const timeDoc, timeitDoc = "Runs Go code and prints how long it took.",
	"Runs Go code many times and prints how long one run takes.\n" +
		"-n: runs in a row (chosen so that they take about 0.2 s), -r: rows (5).\n" +
		"A row during which code was compiled does not count, unless -n is given.\n" +
		"Code in cells is interpreted: the time of a loop or of arithmetic is not that of compiled Go."

var timeMagics = []Magic{
	{Name: "time", Usage: "%time STATEMENT", Doc: timeDoc, Run: timeOnce},
	{Name: "time", Usage: "%%time", Doc: timeDoc, Cell: true, Run: timeOnce},
	{Name: "timeit", Usage: "%timeit [-n LOOPS] [-r REPEATS] STATEMENT", Doc: timeitDoc, Run: timeMany},
	{Name: "timeit", Usage: "%%timeit [-n LOOPS] [-r REPEATS]", Doc: timeitDoc, Cell: true, Run: timeMany},
}

// at puts code where it stands in the cell, for the positions in errors.
func at(code string, line, column int) string {
	return strings.Repeat("\n", line-1) + strings.Repeat(" ", max(column-1, 0)) + code
}

func timeOnce(_ context.Context, env Env, call Call) error {
	code := at(call.Args, call.Line, call.Column)
	if call.Magic.Cell {
		if call.Args != "" {
			return call.UsageErrorf("write the code below the first line")
		}
		code = at(call.Body, call.Line+1, 1)
	}
	if strings.TrimSpace(code) == "" {
		return call.UsageErrorf("there is no code to time")
	}
	begun := time.Now()
	err := env.Eval(code, true)
	spent := time.Since(begun)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout(), "Wall time: %s\n", digits(spent.Seconds()))
	return nil
}

// What %timeit aims at where the user does not say.
const (
	enough    = 200 * time.Millisecond // of runs in a row
	repeats   = 5
	mostExtra = 20 // rows that do not count
)

func timeMany(ctx context.Context, env Env, call Call) error {
	loops, rows, code, err := timeitOptions(call)
	if err != nil {
		return err
	}
	clock := &stopwatch{}
	if err := env.Define("_timeit", clock.press); err != nil {
		return err
	}
	run := func(loops int) (time.Duration, error) {
		clock.reset()
		err := env.Eval(fmt.Sprintf("_timeit(); for _i := 0; _i < %d; _i++ {%s\n}; _timeit()", loops, code), false)
		return clock.spent, err
	}
	// Is it Go? A value that nothing uses is, with a blank before it.
	if err := env.Eval(neverRun(code), false); err != nil {
		blank, ok := asValue(call, code)
		if !ok || env.Eval(neverRun(blank), false) != nil {
			return err
		}
		code = blank
	}
	chosen := loops == 0
	var per []float64
	for extra := 0; len(per) < rows; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		before, _ := env.Compilations()
		if chosen && len(per) == 0 {
			if loops, err = enoughLoops(run, max(loops/100, 1)); err != nil {
				return err
			}
		}
		spent, err := run(loops)
		if err != nil {
			return err
		}
		per = append(per, spent.Seconds()/float64(loops))
		if after, more := env.Compilations(); chosen && (more || after != before) && extra < mostExtra {
			per, extra = nil, extra+1
		}
	}
	mean, deviation := meanDeviation(per)
	fmt.Fprintf(env.Stdout(), "%s per loop (mean ± %s of %d runs of %d loops each), best %s\n"+
		"Loops and functions that were compiled (%%compile lists them) and packages run at full speed; other code of cells is interpreted.\n",
		digits(mean), digits(deviation), rows, loops, digits(slices.Min(per)))
	return nil
}

// enoughLoops finds how many runs in a row take long enough to be measured.
func enoughLoops(run func(loops int) (time.Duration, error), loops int) (int, error) {
	for {
		spent, err := run(loops)
		if err != nil || spent >= enough || loops >= 1e9 {
			return loops, err
		}
		// Aim past the mark, but do not trust one short measurement far.
		next := 1.2 * float64(loops) * float64(enough) / float64(max(spent, 1))
		loops = int(min(max(next, float64(loops)+1), 100*float64(loops)))
	}
}

// neverRun is code that only checks a statement, which keeps its place: what is
// put before it stands where the cell has the name of the magic.
func neverRun(code string) string {
	const open = "if 1>2 {"
	return open + strings.TrimPrefix(code, strings.Repeat(" ", len(open))) + "\n}"
}

func timeitOptions(call Call) (loops, rows int, code string, err error) {
	rows = repeats
	// The options are words; the statement after them keeps its quotes and spaces.
	words, statement := leadingOptions(call.Args)
	given, rest, err := call.Options(words, nil, []string{"-n", "-r"})
	if err != nil {
		return 0, 0, "", err
	}
	if len(rest) > 0 {
		return 0, 0, "", call.UsageErrorf("there is no option %s", rest[0])
	}
	for name, n := range map[string]*int{"-n": &loops, "-r": &rows} {
		if text, ok := given[name]; ok {
			if *n, err = strconv.Atoi(text); err != nil || *n < 1 {
				return 0, 0, "", call.UsageErrorf("%s needs a number above zero, not %q", name, text)
			}
		}
	}
	code = at(statement, call.Line, call.Column+len(call.Args)-len(statement))
	if call.Magic.Cell {
		if statement != "" {
			return 0, 0, "", call.UsageErrorf("write the code below the first line")
		}
		code = at(call.Body, call.Line+1, 1)
	}
	if strings.TrimSpace(code) == "" {
		return 0, 0, "", call.UsageErrorf("there is no code to time")
	}
	return loops, rows, code, nil
}

// leadingOptions cuts -n and -r, with their values, off the front of args.
func leadingOptions(args string) (words []string, rest string) {
	rest = args
	for strings.HasPrefix(rest, "-") {
		end := strings.IndexAny(rest+" ", " \t")
		word := rest[:end]
		words = append(words, word)
		rest = strings.TrimLeft(rest[end:], " \t")
		if word == "-n" || word == "-r" {
			end := strings.IndexAny(rest+" ", " \t")
			if end > 0 {
				words = append(words, rest[:end])
			}
			rest = strings.TrimLeft(rest[end:], " \t")
		}
	}
	return words, rest
}

// asValue makes a statement of an expression whose value must be used.
func asValue(call Call, code string) (string, bool) {
	text := strings.TrimLeft(code, " \n")
	if call.Magic.Cell {
		text = strings.TrimSpace(call.Body)
	}
	if e, err := parser.ParseExpr(text); err != nil || isStatement(e) {
		return "", false
	}
	i := len(code) - len(strings.TrimLeft(code, " \n"))
	head := strings.TrimRight(code[:i], " ")
	return head + "_ = " + code[i:], true
}

// isStatement says whether an expression can stand by itself.
func isStatement(e ast.Expr) bool {
	u, ok := e.(*ast.UnaryExpr)
	return ok && u.Op.String() == "<-"
}

// stopwatch measures between two calls of press, made by the code itself, so
// that checking and translating it do not count.
type stopwatch struct {
	begun   time.Time
	running bool
	spent   time.Duration
}

func (s *stopwatch) reset() { *s = stopwatch{} }

func (s *stopwatch) press() {
	if s.running {
		s.spent += time.Since(s.begun)
		s.running = false
		return
	}
	s.running = true
	s.begun = time.Now()
}

func meanDeviation(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values))
	}
	return mean, math.Sqrt(deviation)
}

// digits writes seconds with three significant digits and a unit that fits.
func digits(seconds float64) string {
	if seconds >= 100 {
		return time.Duration(seconds * 1e9).Round(time.Second).String()
	}
	for _, unit := range []struct {
		size float64
		name string
	}{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}} {
		if seconds >= 0.9995*unit.size { // what three digits round to it
			return fmt.Sprintf("%.3g %s", seconds/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%.3g ns", seconds*1e9)
}
