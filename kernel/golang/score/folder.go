package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// copied copies a folder of programs, since the go command may write there, and
// lists them.
func copied(folder string, match *regexp.Regexp) (dir string, programs []program, err error) {
	if dir, err = os.MkdirTemp("", "score"); err != nil {
		return "", nil, err
	}
	if err := os.CopyFS(dir, os.DirFS(folder)); err != nil {
		return dir, nil, err
	}
	names, err := inFolder(dir, match)
	for _, name := range names {
		programs = append(programs, program{name: name, dir: dir})
	}
	return dir, programs, err
}

// inFolder lists the programs of a folder: each of its Go files is one.
func inFolder(dir string, match *regexp.Regexp) (names []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, f := range files {
		if name := filepath.Base(f); match.MatchString(name) {
			names = append(names, name)
		}
	}
	return names, err
}

// recordAll compiles and runs the programs of a folder and writes down what
// they print.
func recordAll(dir string, match *regexp.Regexp) error {
	names, err := inFolder(dir, match)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "score")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	bin := filepath.Join(temp, "program")
	var failed []error
	for _, name := range names {
		if err := record(dir, name, bin); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(failed...)
}

func record(dir, name, bin string) error {
	build := exec.Command("go", "build", "-trimpath", "-o", bin, name)
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	out, err := exec.Command(bin).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return os.WriteFile(filepath.Join(dir, strings.TrimSuffix(name, ".go")+".out"), out, 0o644)
}
