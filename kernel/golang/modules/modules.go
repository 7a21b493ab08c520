// Package modules fetches Go modules for cells: the machine's go command
// resolves and downloads them, and cells get the source of their packages.
package modules

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"gocuda/kernel/golang"
)

// Set is the modules that a session has asked for. Its methods may be called
// from several goroutines.
//
// What the set requires is kept in memory: an evaluator may end at any time,
// and leaves nothing behind but the go command's own cache.
type Set struct {
	mu       sync.Mutex
	mod, sum []byte // go.mod and go.sum; nil before the first module
}

// Get adds a module to the set, or changes its version: "path@version", or
// "path" for the latest. It returns the version that was chosen.
func (s *Set) Get(ctx context.Context, module string) (version string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := exec.LookPath("go"); err != nil {
		return "", errors.New("fetching modules needs the go command in the PATH: install Go from https://go.dev/dl")
	}
	if _, err := s.run(ctx, "get", "--", module); err != nil {
		return "", err
	}
	name, _, _ := strings.Cut(module, "@")
	// The module of a package has a path that begins the package's.
	for p := name; p != "." && p != "/"; p = parent(p) {
		if out, err := s.run(ctx, "list", "-m", "-f", "{{.Path}} {{.Version}}", "--", p); err == nil {
			return strings.TrimSpace(string(out)), nil
		}
	}
	return name, nil
}

func parent(p string) string {
	i := strings.LastIndexByte(p, '/')
	if i < 0 {
		return "."
	}
	return p[:i]
}

// provides says whether a fetched module can have a package.
func (s *Set) provides(importPath string) bool {
	out, err := s.run(context.Background(), "list", "-m", "-f", "{{.Path}}", "all")
	if err != nil {
		return false
	}
	for _, m := range strings.Fields(string(out)) {
		if importPath == m || strings.HasPrefix(importPath, m+"/") {
			return true
		}
	}
	return false
}

// listed is what the go command tells of a package.
type listed struct {
	ImportPath     string
	Dir            string
	GoFiles        []string
	IgnoredGoFiles []string
	SFiles         []string
	Standard       bool
	Error          *struct{ Err string }
}

// tags choose plain Go where a module has it beside assembly and C.
const tags = "purego,noasm,nounsafe,appengine"

// Sources returns the source of a package of the set's modules, after that of
// the packages that it imports, the standard library's left out.
func (s *Set) Sources(importPath string) ([]golang.SourcePackage, error) {
	first, _, _ := strings.Cut(importPath, "/")
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !strings.Contains(first, "."):
		return nil, errors.New("no such package in the standard library or the kernel")
	case s.mod == nil || !s.provides(importPath):
		return nil, fmt.Errorf("fetch its module first: %%get %s", importPath)
	}
	out, err := s.run(context.Background(), "list", "-deps", "-e", "-tags", tags,
		"-json=ImportPath,Dir,GoFiles,IgnoredGoFiles,SFiles,Standard,Error", "--", importPath)
	if err != nil {
		return nil, err
	}
	var list []golang.SourcePackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.Standard {
			continue
		}
		src, err := p.read()
		if err != nil {
			return nil, err
		}
		list = append(list, src)
	}
}

func (p *listed) read() (golang.SourcePackage, error) {
	src := golang.SourcePackage{Path: p.ImportPath}
	if len(p.GoFiles) == 0 && len(p.IgnoredGoFiles) > 0 {
		for _, name := range p.IgnoredGoFiles {
			if text, err := os.ReadFile(filepath.Join(p.Dir, name)); err == nil && bytes.Contains(text, []byte("\nimport \"C\"")) {
				return src, fmt.Errorf("package %s is written with cgo, which cells cannot run", p.ImportPath)
			}
		}
	}
	if p.Error != nil {
		return src, errors.New(strings.TrimSpace(p.Error.Err))
	}
	for _, name := range p.GoFiles {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return src, err
		}
		src.Files = append(src.Files, golang.File{Name: p.ImportPath + "/" + name, Code: string(text)})
	}
	return src, nil
}

// run runs the go command in a module that requires what the set does, and
// keeps what it then requires.
func (s *Set) run(ctx context.Context, args ...string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "gocuda-modules")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	mod := s.mod
	if mod == nil {
		mod = []byte("module notebook\n\ngo 1.26\n")
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o644), os.WriteFile(filepath.Join(dir, "go.sum"), s.sum, 0o644)); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GO111MODULE=on", "GOWORK=off", "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local", "PWD="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, errors.New(complaint(stderr.String(), err))
	}
	mod, err = os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	sum, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		return nil, err
	}
	s.mod, s.sum = mod, sum
	return out, nil
}

// complaint is what the go command said, without its progress.
func complaint(stderr string, err error) string {
	var lines []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "go: downloading ") && !strings.HasPrefix(line, "go: added ") {
			lines = append(lines, strings.TrimPrefix(line, "go: "))
		}
	}
	if lines == nil {
		return err.Error()
	}
	return strings.Join(lines, "\n")
}
