// Package hostcxx finds the host's C++ compiler, gives it folders to work in, and
// loads what it made.
package hostcxx

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// Compiler is the host's C++ compiler.
type Compiler struct {
	Path    string
	Version string // its --version, which is part of the keys of caches
	Clang   bool
	Err     error // there is none: which were tried, and why not
}

// Find is the compiler that $CXX names, or g++, or clang++.
var Find = sync.OnceValue(func() *Compiler {
	candidates := []string{"g++", "clang++"}
	if cxx := os.Getenv("CXX"); cxx != "" {
		candidates = append([]string{cxx}, candidates...)
	}
	var tried []string
	for _, name := range candidates {
		path, err := exec.LookPath(name)
		if err != nil {
			tried = append(tried, name+": not found")
			continue
		}
		version, err := exec.Command(path, "--version").Output()
		if err != nil {
			tried = append(tried, fmt.Sprintf("%s: %v", path, err))
			continue
		}
		return &Compiler{Path: path, Version: string(version), Clang: bytes.Contains(version, []byte("clang"))}
	}
	return &Compiler{Err: fmt.Errorf("no C++ compiler found (%s)", strings.Join(tried, "; "))}
})

// Command is a run of the compiler; with a context, it ends when that does, with all that
// it started.
func (c *Compiler) Command(ctx context.Context, args ...string) *exec.Cmd {
	if ctx == nil {
		return exec.Command(c.Path, args...)
	}
	cmd := exec.CommandContext(ctx, c.Path, args...)
	endWhole(cmd)
	return cmd
}
