package main

import (
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
	for _, name := range names {
		build := exec.Command("go", "build", "-trimpath", "-o", bin, name)
		build.Dir = dir
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", name, err, out)
		}
		out, err := exec.Command(bin).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", name, err, out)
		}
		if err := os.WriteFile(filepath.Join(dir, strings.TrimSuffix(name, ".go")+".out"), out, 0o644); err != nil {
			return err
		}
	}
	return nil
}
