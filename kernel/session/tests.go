package session

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"gocuda/kernel/golang"
	"gocuda/kernel/magic"
)

// testBuiltin is how %test gets at the functions of cells: a builtin of a name
// that no cell writes by chance.
const testBuiltin = "testʹ"

// A cell's function that package testing runs, by its type.
var (
	isTest      = regexp.MustCompile(`^func\((\w+ )?\*testing\.T\)$`)
	isBenchmark = regexp.MustCompile(`^func\((\w+ )?\*testing\.B\)$`)
)

// testMagic is %test, which runs the tests that cells declared.
func (c *cells) testMagic() magic.Magic {
	return magic.Magic{
		Name: "test", Usage: "%test [-v] [-bench REGEXP] [REGEXP]",
		Doc: "Runs the functions TestX(t *testing.T) that cells declared, or those whose\n" +
			"names match; -bench runs those called BenchmarkX(b *testing.B) that match\n" +
			"its expression. A test that fails makes the cell fail. Interpreted code is\n" +
			"slower than compiled Go: benchmarks compare what cells do with one another.",
		Run: func(_ context.Context, env magic.Env, call magic.Call) error {
			f := flag.NewFlagSet("test", flag.ContinueOnError)
			f.SetOutput(io.Discard)
			verbose := f.Bool("v", false, "")
			bench := f.String("bench", "", "")
			if err := f.Parse(strings.Fields(call.Args)); err != nil {
				return call.UsageErrorf("%v", err)
			}
			if f.NArg() > 1 {
				return call.UsageErrorf("%q is one argument too many", f.Arg(1))
			}
			for _, pattern := range []string{f.Arg(0), *bench} {
				if _, err := regexp.Compile(pattern); err != nil {
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
			err := env.Eval(fmt.Sprintf("%s(%v, %q, %q, %s, %s)", testBuiltin, *verbose, f.Arg(0), *bench,
				list(tests, "T"), list(benchmarks, "B")), false)
			if err == nil && c.testsFailed {
				err = call.Errorf("TestError", "tests failed")
			}
			return err
		},
	}
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

// runTests runs tests whose names match run, and benchmarks whose names match
// bench if that is not "", as go test does, and notes whether one failed.
func (c *cells) runTests(verbose bool, run, bench string, names []string, tests []func(*testing.T), benchNames []string, benchmarks []func(*testing.B)) error {
	initTesting()
	for name, value := range map[string]string{"test.v": fmt.Sprint(verbose), "test.run": run, "test.bench": bench} {
		if err := flag.Set(name, value); err != nil {
			return err
		}
	}
	var all []testing.InternalTest
	for i, test := range tests {
		all = append(all, testing.InternalTest{Name: names[i], F: func(t *testing.T) {
			c.golang.Guard(func() { test(t) }, func(e *golang.Error) { t.Fatal(ended(e)) })
		}})
	}
	var benches []testing.InternalBenchmark
	for i, benchmark := range benchmarks {
		benches = append(benches, testing.InternalBenchmark{Name: benchNames[i], F: func(b *testing.B) {
			c.golang.Guard(func() { benchmark(b) }, func(e *golang.Error) { b.Fatal(ended(e)) })
		}})
	}
	c.testsFailed = false
	return withoutPositions(func() {
		if bench == "" || run != "" {
			c.testsFailed = !testing.RunTests(matchName, all)
			if !c.testsFailed {
				fmt.Fprintln(os.Stdout, "PASS")
			}
		}
		if bench != "" {
			testing.RunBenchmarks(matchName, benches)
		}
	})
}

// ended is why a test did not return, with where that was.
func ended(e *golang.Error) string {
	return strings.TrimRight(colour.ReplaceAllString(strings.Join(e.Traceback, "\n"), ""), "\n")
}

var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

// interpreterLine begins a message of t.Error and its like: package testing
// takes a frame of the interpreter for the caller.
var interpreterLine = regexp.MustCompile(`^( +)\w+\.go:\d+: `)

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
			fmt.Fprint(out, interpreterLine.ReplaceAllString(line, "$1"))
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
