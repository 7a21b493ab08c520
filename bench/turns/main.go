// Turns measures programs side by side. All of them stay alive at once, and one at
// a time is told to measure one case for some milliseconds, in turns, so that
// whatever else keeps the machine busy meets them all alike: differences of a
// twentieth of a microsecond between two of them show, which runs of whole
// programs one after the other cannot tell from noise.
//
//	turns [-rounds N] [-copies N] [-trial] LABEL COMMAND [ARGUMENT...] [-- LABEL COMMAND ...]
//
// A program writes "ready" when it has set up, then reads lines "N BYTES CASE"
// and answers each with the nanoseconds that N calls took, or with "-" if it has
// no such case. It ends with its standard input.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// measured is a case: what is called, how often in a turn, and for copies of how
// many bytes.
type measured struct {
	name     string
	n, bytes int
}

// title is the case's name in the tables.
func (m measured) title() string {
	switch {
	case m.bytes == 0:
		return m.name
	case m.bytes < 1<<20:
		return fmt.Sprintf("%s %d KiB, GB/s", m.name, m.bytes>>10)
	}
	return fmt.Sprintf("%s %d MiB, GB/s", m.name, m.bytes>>20)
}

// figure is what a turn of so many nanoseconds says: microseconds a call, or GB/s.
func (m measured) figure(ns float64) float64 {
	if m.bytes > 0 {
		return float64(m.n) * float64(m.bytes) / ns
	}
	return ns / float64(m.n) / 1e3
}

// So few launches that CUDA's queue of some 1000 does not fill: what they cost the
// CPU counts, not how fast the GPU begins them.
var calls = []measured{
	{"launch", 400, 0},
	{"launch, grid and block again", 400, 0},
	{"launch, 16 arguments", 400, 0},
	{"launch, 16 arguments, prepared", 400, 0},
	{"launch and synchronize", 100, 0},
	{"event record", 1000, 0},
	{"stream wait event", 1000, 0},
	{"stream query", 1000, 0},
	{"malloc and free async", 1024, 0},
	{"malloc async", 1024, 0},
	{"free async", 1024, 0},
}

// A staged copy's bytes are its chunks'.
func copies(most int) []measured {
	list := []measured{{"peer copy", 100, 4 << 10}, {"peer copy", 100, 1 << 20}, {"peer copy", 10, most >> 4}, {"peer copy", 4, most}}
	for _, chunk := range []int{1 << 20, 4 << 20, 16 << 20} {
		list = append(list, measured{"staged copy", most / chunk, chunk})
	}
	return list
}

// pairs are compared turn by turn.
var pairs = [][2]string{{"go", "c++"}, {"cell", "go"}, {"cell", "cupy"}}

// program is one that measures.
type program struct {
	label string
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Scanner
}

func start(args []string) (*program, error) {
	if len(args) < 2 {
		return nil, fmt.Errorf("%q: want a label and a command", args)
	}
	p := &program{label: args[0], cmd: exec.Command(args[1], args[2:]...)}
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	return p, p.cmd.Start()
}

// ready waits until the program has set up; what it says before goes to out.
func (p *program) ready(out io.Writer) error {
	for p.out.Scan() {
		if p.out.Text() == "ready" {
			return nil
		}
		fmt.Fprintln(out, p.label+":", p.out.Text())
	}
	return fmt.Errorf("%s ended before it was ready (%v)", p.label, p.cmd.Wait())
}

// ask has the program measure a case; ok is false if it has none such.
func (p *program) ask(m measured) (ns float64, ok bool, err error) {
	if _, err := fmt.Fprintf(p.in, "%d %d %s\n", m.n, m.bytes, m.name); err != nil {
		return 0, false, fmt.Errorf("%s, %s: %w", p.label, m.name, err)
	}
	if !p.out.Scan() {
		return 0, false, fmt.Errorf("%s ended at %s (%v)", p.label, m.name, p.cmd.Wait())
	}
	if p.out.Text() == "-" {
		return 0, false, nil
	}
	ns, err = strconv.ParseFloat(p.out.Text(), 64)
	if err == nil && ns <= 0 {
		err = fmt.Errorf("%g ns", ns)
	}
	if err != nil {
		err = fmt.Errorf("%s, %s: %w", p.label, m.name, err)
	}
	return ns, true, err
}

// order is who measures after whom in a round: each is first at times, and before
// each other one at times.
func order(programs []*program, round int) []*program {
	k := round / 2 % len(programs)
	turned := append(slices.Clone(programs[k:]), programs[:k]...)
	if round%2 == 1 {
		slices.Reverse(turned)
	}
	return turned
}

// figures are those of a case's turns, by the program's label.
type figures map[string][]float64

func measure(list []measured, rounds int, programs []*program) ([]figures, error) {
	found := make([]figures, len(list))
	for i := range found {
		found[i] = figures{}
	}
	for round := range rounds {
		for i, m := range list {
			for _, p := range order(programs, round) {
				ns, ok, err := p.ask(m)
				if err != nil {
					return nil, err
				}
				if ok {
					found[i][p.label] = append(found[i][p.label], m.figure(ns))
				}
			}
		}
	}
	return found, nil
}

// quantile is the value below which a share q of v lies; v is not empty.
func quantile(v []float64, q float64) float64 {
	v = slices.Sorted(slices.Values(v))
	at := q * float64(len(v)-1)
	i := int(at)
	return v[i] + (at-float64(i))*(v[min(i+1, len(v)-1)]-v[i])
}

// table prints a figure of each case and program.
func table(out io.Writer, title string, list []measured, found []figures, programs []*program, figure func(measured, []float64) float64) {
	fmt.Fprintf(out, "== %s\n| us |", title)
	for _, p := range programs {
		fmt.Fprintf(out, " %s |", p.label)
	}
	fmt.Fprintf(out, "\n|---|%s\n", strings.Repeat("---|", len(programs)))
	for i, m := range list {
		fmt.Fprintf(out, "| %s |", m.title())
		for _, p := range programs {
			if v := found[i][p.label]; len(v) > 0 {
				fmt.Fprintf(out, " %.3f |", figure(m, v))
			} else {
				fmt.Fprint(out, "  |")
			}
		}
		fmt.Fprintln(out)
	}
}

// differences prints what one program takes more than another in the same round,
// or as which part of the other's rate it copies.
func differences(out io.Writer, one, other string, list []measured, found []figures) {
	shown := false
	for i, m := range list {
		a, b := found[i][one], found[i][other]
		if len(a) == 0 || len(a) != len(b) {
			continue
		}
		if !shown {
			fmt.Fprintf(out, "== %s less %s (copies: in parts of its rate), turn by turn\n| us | median | a quarter below | a quarter above |\n|---|---|---|---|\n", one, other)
			shown = true
		}
		more, format := make([]float64, len(a)), "| %s | %+.3f | %+.3f | %+.3f |\n"
		for k := range a {
			more[k] = a[k] - b[k]
		}
		if m.bytes > 0 {
			for k := range a {
				more[k] = a[k] / b[k]
			}
			format = "| %s | %.3f | %.3f | %.3f |\n"
		}
		fmt.Fprintf(out, format, m.title(), quantile(more, 0.5), quantile(more, 0.25), quantile(more, 0.75))
	}
}

// run does what main does, and writes the tables to out.
func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("turns", flag.ContinueOnError)
	rounds := flags.Int("rounds", 201, "`turns` of each call and program")
	copyRounds := flags.Int("copies", 15, "`turns` of each copy and program")
	trial := flags.Bool("trial", false, "copy 64 MiB at most, in place of 1 GiB")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var programs []*program
	for args := flags.Args(); len(args) > 0; {
		group := args
		if i := slices.Index(args, "--"); i >= 0 {
			group, args = args[:i], args[i+1:]
		} else {
			args = nil
		}
		p, err := start(group)
		if err != nil {
			return err
		}
		programs = append(programs, p)
	}
	var failed error
	programs = slices.DeleteFunc(programs, func(p *program) bool {
		err := p.ready(out)
		if err != nil {
			failed = err
			fmt.Fprintln(out, err, "and is left out")
		}
		return err != nil
	})
	if len(programs) == 0 {
		return fmt.Errorf("no program to measure")
	}
	most := 1 << 30
	if *trial {
		most = 64 << 20
	}
	list := append(slices.Clone(calls), copies(most)...)
	found, err := measure(calls, *rounds, programs)
	if err != nil {
		return err
	}
	copied, err := measure(copies(most), *copyRounds, programs)
	if err != nil {
		return err
	}
	found = append(found, copied...)
	table(out, fmt.Sprintf("medians of %d turns, of copies %d", *rounds, *copyRounds), list, found, programs, func(_ measured, v []float64) float64 { return quantile(v, 0.5) })
	table(out, "best turns", list, found, programs, func(m measured, v []float64) float64 {
		if m.bytes > 0 {
			return slices.Max(v)
		}
		return slices.Min(v)
	})
	for _, p := range pairs {
		differences(out, p[0], p[1], list, found)
	}
	for _, p := range programs {
		_ = p.in.Close()
		if err := p.cmd.Wait(); err != nil {
			failed = fmt.Errorf("%s: %w", p.label, err)
		}
	}
	return failed
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "turns:", err)
		os.Exit(1)
	}
}
