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
	bytes.Buffer
	stop func()
}

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxOutput {
		l.stop()
		return len(p), nil
	}
	return l.Buffer.Write(p)
}

func (p program) run(args []string, limit time.Duration) result {
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
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], append(slices.Clone(args[1:]), p.name)...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "GOENV=off", "GOFLAGS=", "PWD="+p.dir, "STDLIB_IMPORTCFG="+filepath.Join(filepath.Dir(p.dir), importcfg))
	out := &limited{stop: cancel}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = 2 * time.Second
	group(cmd)
	err = cmd.Run()
	got := strings.ReplaceAll(out.String(), "\r\n", "\n")
	r.output = got
	switch {
	case ctx.Err() != nil && out.Len() >= maxOutput/2:
		r.cause = "prints without end"
	case ctx.Err() != nil:
		r.cause = fmt.Sprintf("not finished in %v", limit)
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
