package magic

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// testBuiltin is how %test gets at the functions of cells: a builtin of a name
// that no cell writes by chance.
const testBuiltin = "testʹ"

// A cell's function that package testing runs, by its type.
var (
	isTest      = regexp.MustCompile(`^func\((\w+ )?\*testing\.T\)$`)
	isBenchmark = regexp.MustCompile(`^func\((\w+ )?\*testing\.B\)$`)
)

// Tests is %test, which runs the tests that cells declared.
type Tests struct {
	// Guard runs a function of a cell; failed is told why it did not return.
	Guard func(f func(), failed func(why string))

	failed bool // when %test last ran
}

// Builtins are the functions that cells must be able to call for %test.
func (t *Tests) Builtins() map[string]any { return map[string]any{testBuiltin: t.run} }

// Magic is %test itself.
func (t *Tests) Magic() Magic {
	return Magic{
		Name: "test", Usage: "%test [-v] [-bench REGEXP] [REGEXP]", Run: t.magic,
		Doc: "Runs the functions TestX(t *testing.T) that cells declared, or those whose\n" +
			"names match; -v shows the log of each. -bench runs those called BenchmarkX(b *testing.B) that match\n" +
			"its expression. A test that fails makes the cell fail. Interpreted code is\n" +
			"slower than compiled Go: benchmarks compare what cells do with one another.",
	}
}

func (t *Tests) magic(_ context.Context, env Env, call Call) error {
	fields, err := call.Fields()
	if err != nil {
		return err
	}
	given, rest, err := call.Options(fields, []string{"-v"}, []string{"-bench"})
	if err != nil {
		return err
	}
	if len(rest) > 1 {
		return call.UsageErrorf("%q is one argument too many", rest[1])
	}
	pattern := strings.Join(rest, "")
	_, verbose := given["-v"]
	for _, p := range []string{pattern, given["-bench"]} {
		if _, err := regexp.Compile(p); err != nil {
			return call.UsageErrorf("%v", err)
		}
	}
	var tests, benchmarks []string
	for _, n := range env.Names() {
		switch {
		case n.Kind != "func":
		case strings.HasPrefix(n.Name, "Test") && isTest.MatchString(n.Type):
			tests = append(tests, n.Name)
		case strings.HasPrefix(n.Name, "Benchmark") && isBenchmark.MatchString(n.Type):
			benchmarks = append(benchmarks, n.Name)
		}
	}
	if len(tests)+len(benchmarks) == 0 {
		return call.UsageErrorf("no cell has declared a func TestX(t *testing.T)")
	}
	list := func(names []string, arg string) string {
		return fmt.Sprintf("%#v, []func(*testing.%s){%s}", names, arg, strings.Join(names, ", "))
	}
	err = env.Eval(fmt.Sprintf("%s(%v, %q, %q, %s, %s)", testBuiltin, verbose, pattern, given["-bench"],
		list(tests, "T"), list(benchmarks, "B")), false)
	if err == nil && t.failed {
		err = call.Errorf("TestError", "tests failed")
	}
	return err
}

// initTesting readies package testing, whose RunTests runs nothing before a
// program's Main has begun. That ends the process when its tests have ended: so
// its only one never does.
var initTesting = sync.OnceFunc(func() {
	testing.Init()
	began := make(chan bool)
	go testing.Main(matchName, []testing.InternalTest{{Name: "TestNothing", F: func(*testing.T) {
		close(began)
		select {}
	}}}, nil, nil)
	<-began
})

func matchName(pattern, name string) (bool, error) { return regexp.MatchString(pattern, name) }

// run runs tests whose names match run, and benchmarks whose names match
// bench if that is not "", as go test does, and notes whether one failed.
func (t *Tests) run(verbose bool, run, bench string, names []string, tests []func(*testing.T), benchNames []string, benchmarks []func(*testing.B)) error {
	initTesting()
	for name, value := range map[string]string{"test.v": fmt.Sprint(verbose), "test.run": run, "test.bench": bench} {
		if err := flag.Set(name, value); err != nil {
			return err
		}
	}
	var all []testing.InternalTest
	for i, test := range tests {
		all = append(all, testing.InternalTest{Name: names[i], F: func(tt *testing.T) {
			t.Guard(func() { test(tt) }, func(why string) { tt.Fatal(why) })
		}})
	}
	var benches []testing.InternalBenchmark
	for i, benchmark := range benchmarks {
		benches = append(benches, testing.InternalBenchmark{Name: benchNames[i], F: func(b *testing.B) {
			t.Guard(func() { benchmark(b) }, func(why string) { b.Fatal(why) })
		}})
	}
	t.failed = false
	return withoutPositions(func() {
		if bench == "" || run != "" {
			t.failed = !testing.RunTests(matchName, all)
			if !t.failed {
				fmt.Fprintln(os.Stdout, "PASS")
			}
		}
		if bench != "" {
			testing.RunBenchmarks(matchName, benches)
		}
	})
}

// interpreterLine begins a message of t.Error and its like: package testing
// takes a frame of the interpreter for the caller, and the cell's place, where it
// is known, stands after it, between two zero bytes.
var interpreterLine = regexp.MustCompile(`^( +)\w+\.go:\d+: (?:\x00([^\x00]*)\x00)?`)

// withoutPositions calls f and leaves the interpreter's positions out of what
// package testing prints meanwhile.
func withoutPositions(f func()) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	out := os.Stdout
	done := make(chan error, 1)
	go func() {
		lines := bufio.NewReader(r)
		for {
			line, err := lines.ReadString('\n')
			fmt.Fprint(out, interpreterLine.ReplaceAllString(line, "$1$2"))
			if err != nil {
				done <- r.Close()
				return
			}
		}
	}()
	os.Stdout = w
	defer func() {
		os.Stdout = out
		w.Close()
		<-done
	}()
	f()
	return nil
}
