package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/build/constraint"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// program is one file of Go's test directory.
type program struct {
	name string // relative to dir
	dir  string // the test directory
	skip bool   // for another platform
}

// result is how a program ended.
type result struct {
	program
	cause  string // why it failed; "" if it passed
	output string
	took   time.Duration // of processor time
}

// isRun says whether a test's recipe, its first line that is not a build
// constraint, is a bare run.
func isRun(src string) bool {
	for line := range strings.Lines(src) {
		line = strings.TrimRight(line, "\n")
		if constraint.IsGoBuild(line) || constraint.IsPlusBuild(line) || strings.TrimSpace(strings.TrimPrefix(line, "//")) == "" {
			continue
		}
		return strings.HasPrefix(line, "//") && strings.TrimSpace(line[2:]) == "run"
	}
	return false
}

// wanted evaluates the build constraints before the package clause, for this
// platform and no cgo.
func wanted(src string) bool {
	header, _, _ := strings.Cut(src, "\npackage")
	unix := runtime.GOOS != "windows" && runtime.GOOS != "plan9" && runtime.GOOS != "js" && runtime.GOOS != "wasip1"
	for line := range strings.Lines(header) {
		expr, err := constraint.Parse(strings.TrimRight(line, "\n"))
		if err != nil {
			continue
		}
		ok := expr.Eval(func(tag string) bool {
			return tag == runtime.GOOS || tag == runtime.GOARCH || tag == "gc" || tag == "unix" && unix ||
				slices.Contains([]string{"gc_opt", "goexperiment.regabiwrappers", "goexperiment.regabiargs"}, tag) ||
				strings.HasPrefix(tag, "go1.")
		})
		if !ok {
			return false
		}
	}
	return true
}

// maxOutput is how much a program may print before it is stopped.
const maxOutput = 4 << 20

// limited keeps output up to a size, then ends the program.
type limited struct {
	kept bytes.Buffer // not embedded: its ReadFrom knows no limit
	stop func()
}

func (l *limited) Write(p []byte) (int, error) {
	if l.kept.Len()+len(p) > maxOutput {
		l.stop()
		return len(p), nil
	}
	return l.kept.Write(p)
}

// limits are how long a program may take. They do not depend on what else the
// machine does, so that a busy one gives the same score.
type limits struct {
	processor time.Duration // that the program takes, with its children
	idle      time.Duration // of the clock, while it takes next to none
}

var (
	errWaits   = errors.New("waits without end")
	errPrints  = errors.New("prints without end")
	pollPeriod = 250 * time.Millisecond
)

// watch ends a program that exceeds its limits, and says why.
func (l limits) watch(ctx context.Context, group int, stop context.CancelCauseFunc) {
	next := l.idle / 50 // what waits is looked at, which takes a little, too
	start := time.Now()
	mark, marked := time.Duration(0), start
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollPeriod):
		}
		used, ok := processorTime(group, start)
		if !ok { // it has ended
			return
		}
		if used > l.processor {
			stop(fmt.Errorf("takes more than %v", l.processor))
		}
		if used > mark+next {
			mark, marked = used, time.Now()
		} else if time.Since(marked) > l.idle {
			stop(errWaits)
		}
	}
}

func (p program) run(args []string, limit limits) result {
	r := result{program: p}
	if p.skip {
		r.cause = "not for this platform"
		return r
	}
	want, err := os.ReadFile(filepath.Join(p.dir, strings.TrimSuffix(p.name, ".go")+".out"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		r.cause = err.Error()
		return r
	}
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	cmd := exec.CommandContext(ctx, args[0], append(slices.Clone(args[1:]), p.name)...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "GOENV=off", "GOFLAGS=", "PWD="+p.dir, "STDLIB_IMPORTCFG="+filepath.Join(filepath.Dir(p.dir), importcfg))
	out := &limited{stop: func() { stop(errPrints) }}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = 2 * time.Second
	group(cmd)
	if err := cmd.Start(); err != nil {
		r.cause = err.Error()
		return r
	}
	go limit.watch(ctx, cmd.Process.Pid, stop)
	err = cmd.Wait()
	r.took = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	got := strings.ReplaceAll(out.kept.String(), "\r\n", "\n")
	r.output = got
	switch {
	case ctx.Err() != nil:
		r.cause = context.Cause(ctx).Error()
	case err != nil:
		r.cause = cause(got, err)
	case got != string(want):
		r.cause = "output differs"
		if len(want) == 0 {
			r.cause = "prints: " + general(firstLine(got))
		}
	}
	return r
}

func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

var (
	notes     = regexp.MustCompile(`(?i)panic|error|fatal|undefined|cannot|invalid|expected`)
	positions = regexp.MustCompile(`^\S*?\.?[\w\[\]]*(\.go)?:\d+:(\d+:)?\s*`)
	quoted    = regexp.MustCompile("\"[^\"]*\"|`[^`]*`|'[^']*'")
	numbers   = regexp.MustCompile(`\b(0x)?[0-9a-f]*\d[0-9a-f]*\b`)
)

// cause names the class of a failure by its most telling line.
func cause(output string, err error) string {
	line := firstLine(output)
	for l := range strings.Lines(output) {
		if notes.MatchString(l) {
			line = strings.TrimSpace(l)
			break
		}
	}
	if line == "" {
		line = "no message"
	}
	return fmt.Sprintf("%v: %s", err, general(line))
}

// general leaves out of a message what differs from program to program.
func general(line string) string {
	line = positions.ReplaceAllString(line, "")
	line = strings.ReplaceAll(line, filepath.ToSlash(os.TempDir()), "TMP")
	line = quoted.ReplaceAllString(line, "Q")
	line = numbers.ReplaceAllString(line, "N")
	if len(line) > 100 {
		line = line[:100] + "..."
	}
	return line
}
