// Package modules fetches Go modules for cells: the machine's go command
// resolves and downloads them, and cells get the source of their packages.
package modules

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gocuda/internal/ownfolder"
	"gocuda/kernel/golang"
)

// Set is the modules whose packages a session can import: those that a go.mod
// requires, and the module of that go.mod itself. Its methods may be called
// from several goroutines.
//
// The go.mod is that of the session's folder or of one above it, as the go
// command finds it. Where there is none, the first Get writes one into the
// folder: so the next session has the modules, in the same versions, whichever
// program starts it. A notebook's metadata would not do, since a kernel cannot
// write it, and the go command does not read it. A folder that is the user's
// home, or cannot be written, gets no go.mod: the set then lasts for the
// session.
type Set struct {
	dir   string // the session's folder
	cache cache

	mu       sync.Mutex
	mod, sum []byte            // go.mod and go.sum of a set that is kept in memory; nil before the first module
	given    map[string]string // the folders of the local packages that were given, by import path
	stamps   stamps            // of those folders
	packages []string          // of the modules ...
	listed   string            // ... when key("") was this
	arch     string            // of the packages that the go command is asked for; "": this machine's
}

// New returns the modules of a session whose notebook lies in dir.
func New(dir string) *Set {
	return &Set{dir: dir, cache: cache{defaultCache()}, given: make(map[string]string), stamps: make(stamps)}
}

// A Module is one that Get has added.
type Module struct {
	Path, Version string // the version of a folder is its path
	Written       string // the go.mod that Get made; "" if there was one, or none could be made
	Kept          bool   // it is kept for this session only
}

// Get adds a module to the set, or changes its version: "path@version", or
// "path" for the latest. A module that begins with "./", "../" or "/" is the
// folder of one, relative to the working directory.
func (s *Set) Get(ctx context.Context, module string) (Module, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := exec.LookPath("go"); err != nil {
		return Module{}, errors.New("fetching modules needs the go command in the PATH: install Go from https://go.dev/dl")
	}
	var m Module
	// What is written and turns out to be wrong is taken back.
	undo, err := s.begin(&m)
	if err != nil {
		return m, err
	}
	if isFolder(module) {
		err = s.getFolder(ctx, &m, module)
	} else {
		err = s.getModule(ctx, &m, module)
	}
	if err == nil {
		err = s.direct(m.Path)
	}
	if err != nil {
		undo()
		return Module{}, err
	}
	return m, nil
}

// direct takes the mark from a module's requirement that nothing imports it: no
// Go file does, but cells will.
func (s *Set) direct(module string) error {
	unmark := func(mod []byte) []byte {
		return regexp.MustCompile(`(?m)^((?:require)?\s*`+regexp.QuoteMeta(module)+` \S+) // indirect$`).ReplaceAll(mod, []byte("$1"))
	}
	home := s.home()
	if home == "" {
		s.mod = unmark(s.mod)
		return nil
	}
	file := filepath.Join(home, "go.mod")
	mod, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if now := unmark(mod); !bytes.Equal(now, mod) {
		return os.WriteFile(file, now, 0o644)
	}
	return nil
}

// isFolder tells a folder from a module's path, as the go command does.
func isFolder(module string) bool {
	return module == "." || module == ".." || strings.HasPrefix(module, "./") || strings.HasPrefix(module, "../") || filepath.IsAbs(module)
}

// begin makes a go.mod for the set if it has none.
func (s *Set) begin(m *Module) (undo func(), err error) {
	home := s.home()
	if home == "" && s.mod == nil && s.mayWrite() {
		file := filepath.Join(s.dir, "go.mod")
		if err := os.WriteFile(file, []byte(empty), 0o644); err == nil {
			m.Written = file
			return func() {
				os.Remove(file)
				os.Remove(filepath.Join(s.dir, "go.sum"))
			}, nil
		}
	}
	if home == "" {
		m.Kept = true
		mod, sum := s.mod, s.sum
		return func() { s.mod, s.sum = mod, sum }, nil
	}
	mod, err := os.ReadFile(filepath.Join(home, "go.mod"))
	if err != nil {
		return nil, err
	}
	return func() {
		if now, err := os.ReadFile(filepath.Join(home, "go.mod")); err != nil || !bytes.Equal(now, mod) {
			os.WriteFile(filepath.Join(home, "go.mod"), mod, 0o644)
		}
	}, nil
}

// empty is the go.mod of a set without modules.
const empty = "module notebook\n\ngo 1.26\n"

// home is the folder of the go.mod that the set goes by, "" if there is none
// or the set is kept in memory.
func (s *Set) home() string {
	if s.mod != nil || s.dir == "" {
		return ""
	}
	for dir := s.dir; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && info.Mode().IsRegular() {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// mayWrite says whether the session's folder may get a go.mod. All of a user's
// home, or of the machine, would become one module by it.
func (s *Set) mayWrite() bool {
	home, err := os.UserHomeDir()
	if err != nil || s.dir == "" || s.dir == filepath.Clean(home) || filepath.Dir(s.dir) == s.dir {
		return false
	}
	return s.dir != filepath.Clean(os.TempDir())
}

func (s *Set) getModule(ctx context.Context, m *Module, module string) error {
	if _, err := s.run(ctx, "mod", "get", "--", module); err != nil {
		return err
	}
	name, _, _ := strings.Cut(module, "@")
	m.Path = name
	// The module of a package has a path that begins the package's.
	for p := name; p != "." && p != "/"; p = parent(p) {
		out, err := s.run(ctx, "mod", "list", "-m", "-f", "{{.Path}} {{with .Replace}}{{.Path}}{{else}}{{.Version}}{{end}}", "--", p)
		if err == nil {
			m.Path, m.Version, _ = strings.Cut(strings.TrimSpace(string(out)), " ")
			return nil
		}
	}
	return nil
}

// getFolder adds the module that lies in a folder.
func (s *Set) getFolder(ctx context.Context, m *Module, folder string) error {
	dir, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("there is no folder %s", dir)
	}
	if home := s.home(); home != "" && m.Written == "" {
		if mod := (&Set{dir: dir}).home(); mod == home {
			return fmt.Errorf("%s belongs to the module of %s, which the notebook is in: import its packages without %%get", folder, home)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return fmt.Errorf("%s has no go.mod: make one with !cd %s && go mod init NAME", folder, folder)
	}
	out, err := s.command(ctx, dir, "readonly", "list", "-m")
	if err != nil {
		return err
	}
	m.Path = strings.TrimSpace(string(out))
	if m.Path == "notebook" || m.Path == "command-line-arguments" {
		return fmt.Errorf("%s is called %s, as the notebook's own is: give it another name in its go.mod", folder, m.Path)
	}
	target := dir
	if home := s.home(); home != "" && !filepath.IsAbs(folder) {
		if rel, err := filepath.Rel(home, dir); err == nil {
			if target = filepath.ToSlash(rel); !strings.HasPrefix(target, "../") {
				target = "./" + target
			}
		}
	}
	m.Version = target
	const none = "v0.0.0-00010101000000-000000000000" // as go mod tidy writes it
	if _, err := s.run(ctx, "mod", "mod", "edit", "-require="+m.Path+"@"+none, "-replace="+m.Path+"="+target); err != nil {
		return err
	}
	// With its version, or the go command asks the proxy for others.
	_, err = s.run(ctx, "mod", "get", "--", m.Path+"/...@"+none)
	return err
}

func parent(p string) string {
	i := strings.LastIndexByte(p, '/')
	if i < 0 {
		return "."
	}
	return p[:i]
}

// member is a module of the set.
type member struct{ Path, Dir string }

// members lists the set's modules, its own first.
func (s *Set) members() ([]member, error) {
	if s.mod == nil && s.home() == "" {
		return nil, nil
	}
	out, err := s.read("list", "-m", "-f", "{{.Path}}\t{{.Dir}}", "all")
	if err != nil {
		return nil, err
	}
	var list []member
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		list = append(list, member{path, dir})
	}
	return list, nil
}

// provides says whether a module of the set can have a package.
func (s *Set) provides(importPath string) (bool, error) {
	list, err := s.members()
	return slices.ContainsFunc(list, func(m member) bool {
		return importPath == m.Path || strings.HasPrefix(importPath, m.Path+"/")
	}), err
}

// Sources implements golang.Modules.
func (s *Set) Sources(importPath string, compiled func(importPath string) bool) ([]golang.SourcePackage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	graph, err := s.graph(importPath)
	if err != nil {
		return nil, err
	}
	byPath := make(map[string]*listed, len(graph))
	for i := range graph {
		byPath[graph[i].ImportPath] = &graph[i]
	}
	var list []golang.SourcePackage
	done := make(map[string]bool)
	var visit func(path string) error
	visit = func(path string) error {
		p := byPath[path]
		if p == nil || done[path] || compiled(path) {
			return nil
		}
		done[path] = true
		for _, dep := range p.Imports {
			if mapped, ok := p.ImportMap[dep]; ok {
				dep = mapped
			}
			if err := visit(dep); err != nil {
				return err
			}
		}
		src, err := p.read()
		if err != nil {
			return err
		}
		if p.Local != "" {
			s.given[path] = p.Dir
			s.stamps.take(p.Dir)
		}
		list = append(list, src)
		return nil
	}
	return list, visit(importPath)
}

// graph lists a package and what it imports, without the standard library.
func (s *Set) graph(importPath string) ([]listed, error) {
	key := s.key(importPath)
	if graph, ok := s.cache.get(key); ok {
		return graph, nil
	}
	first, _, _ := strings.Cut(importPath, "/")
	provided, err := s.provides(importPath)
	switch {
	case err != nil:
		return nil, err
	case !provided && !strings.Contains(first, "."):
		return nil, errors.New("no such package in the standard library or the kernel")
	case !provided:
		return nil, fmt.Errorf("fetch its module first: %%get %s", importPath)
	}
	graph, err := s.list(importPath)
	if err == nil {
		graph, err = s.plain(importPath, graph)
	}
	if err != nil {
		return nil, err
	}
	s.cache.put(s.key(importPath), graph) // go.sum may have changed
	return graph, nil
}

// list asks for a package and what it imports.
func (s *Set) list(importPath string) ([]listed, error) {
	out, err := s.read("list", "-deps", "-e", "-tags", tags, "-json="+listedFields, "--", importPath)
	if err != nil {
		return nil, err
	}
	return parseList(out)
}

// plainArch is an architecture for which hardly anybody writes assembly. Its
// words have the size and the order of bytes of those that notebooks run on.
const plainArch = "mips64le"

// plain takes, for packages with assembly, the files that they have for
// architectures for which they have none. Where a module has no such files for one
// of them, it may do without that package there: then all its packages are taken
// from there. What is written for plainArch itself would be wrong here, and is not
// taken.
func (s *Set) plain(importPath string, graph []listed) ([]listed, error) {
	if !slices.ContainsFunc(graph, listed.assembly) {
		return graph, nil
	}
	s.arch = plainArch
	other, err := s.list(importPath)
	s.arch = ""
	if err != nil {
		return nil, err
	}
	byPath := make(map[string]listed, len(other))
	for _, p := range other {
		if p.anywhere() {
			byPath[p.ImportPath] = p
		}
	}
	bound := make(map[string]bool) // modules
	for _, p := range graph {
		if o, ok := byPath[p.ImportPath]; p.assembly() && (!ok || o.assembly()) {
			bound[p.In] = true
		}
	}
	have := make(map[string]bool)
	for i, p := range graph {
		have[p.ImportPath] = true
		if o, ok := byPath[p.ImportPath]; ok && (p.assembly() || bound[p.In]) {
			graph[i] = o
		}
	}
	for _, p := range other { // the order does not matter: Sources follows the imports
		if !have[p.ImportPath] {
			graph = append(graph, p)
		}
	}
	return graph, nil
}

// assembly says whether a package has functions in assembly. A file without any
// lets the compiler take functions that are linked by name.
func (p listed) assembly() bool {
	return slices.ContainsFunc(p.SFiles, func(name string) bool {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		return err != nil || bytes.Contains(text, []byte("TEXT"))
	})
}

// anywhere says whether a package's Go files, chosen for plainArch, serve all
// architectures.
func (p listed) anywhere() bool {
	return p.Error == nil && len(p.GoFiles) > 0 &&
		!slices.ContainsFunc(p.GoFiles, func(name string) bool { return strings.Contains(name, "mips") })
}

// Changed implements golang.Modules.
func (s *Set) Changed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for path, dir := range s.given {
		if s.stamps[dir] != stamp(dir) {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return list
}

// Packages implements golang.Modules. It lists the packages of the modules that
// the set's own go.mod requires directly, and of its own module.
func (s *Set) Packages() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := s.key("")
	if key == "" || key == s.listed {
		return s.packages
	}
	out, err := s.read("list", "-m", "-f", "{{if not .Indirect}}{{.Path}}\t{{.Dir}}{{end}}", "all")
	if err != nil {
		return nil
	}
	s.packages, s.listed = nil, key
	for line := range strings.Lines(string(out)) {
		module, dir, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		if dir != "" {
			s.packages = append(s.packages, packagesIn(module, dir)...)
		}
	}
	return s.packages
}

// packagesIn lists the packages of a module that other modules can import.
func packagesIn(module, dir string) (list []string) {
	_ = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		name := d.Name()
		if file != dir {
			_, err := os.Stat(filepath.Join(file, "go.mod"))
			if err == nil || name == "internal" || name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
				return fs.SkipDir
			}
		}
		files, _ := filepath.Glob(filepath.Join(file, "*.go"))
		if !slices.ContainsFunc(files, func(f string) bool { return !strings.HasSuffix(f, "_test.go") }) {
			return nil
		}
		if rel, err := filepath.Rel(dir, file); err == nil {
			list = append(list, path.Join(module, filepath.ToSlash(rel)))
		}
		return nil
	})
	return list
}

// read runs the go command to learn of packages. It changes go.mod and go.sum
// only if they lack something.
func (s *Set) read(args ...string) ([]byte, error) {
	if s.mod == nil {
		if out, err := s.run(context.Background(), "readonly", args...); err == nil && !bytes.Contains(out, []byte("missing go.sum entry")) && !bytes.Contains(out, []byte("updates to go.mod needed")) {
			return out, nil
		}
		if home := s.home(); home != "" {
			if info, err := os.Stat(filepath.Join(home, "vendor")); err == nil && info.IsDir() {
				return s.run(context.Background(), "vendor", args...)
			}
		}
	}
	return s.run(context.Background(), "mod", args...)
}

// run runs the go command in the set's module. A set that is kept in memory is
// written down for that, and keeps what it then requires.
func (s *Set) run(ctx context.Context, mode string, args ...string) ([]byte, error) {
	if home := s.home(); home != "" {
		return s.command(ctx, home, mode, args...)
	}
	dir, remove, err := ownfolder.Temporary("", "gocuda-modules")
	if err != nil {
		return nil, err
	}
	defer remove()
	mod := s.mod
	if mod == nil {
		mod = []byte(empty)
	}
	goMod, goSum := filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.sum")
	if err := errors.Join(os.WriteFile(goMod, mod, 0o644), os.WriteFile(goSum, s.sum, 0o644)); err != nil {
		return nil, err
	}
	out, err := s.command(ctx, dir, mode, args...)
	if err != nil {
		return nil, err
	}
	if mod, err = os.ReadFile(goMod); err != nil {
		return nil, err
	}
	sum, err := os.ReadFile(goSum)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	s.mod, s.sum = mod, sum
	return out, nil
}

func (s *Set) command(ctx context.Context, dir, mode string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GO111MODULE=on", "GOWORK=off", "GOFLAGS=-mod="+mode, "GOTOOLCHAIN=local", "PWD="+dir)
	if s.arch != "" {
		cmd.Env = append(cmd.Env, "GOARCH="+s.arch)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, errors.New(complaint(stderr.String(), err))
	}
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

// listed is what the go command says about a package.
type listed struct {
	ImportPath     string
	Name           string
	Dir            string
	GoFiles        []string              `json:",omitempty"`
	IgnoredGoFiles []string              `json:",omitempty"`
	SFiles         []string              `json:",omitempty"` // assembly
	Imports        []string              `json:",omitempty"`
	ImportMap      map[string]string     `json:",omitempty"`
	Standard       bool                  `json:",omitempty"`
	Error          *struct{ Err string } `json:",omitempty"`
	Module         *struct {
		Path    string
		Dir     string
		Main    bool
		Replace *struct{ Version string }
	} `json:",omitempty"`

	In    string `json:",omitempty"` // its module's path
	Cgo   bool   `json:",omitempty"` // it has files that are written with cgo
	Local string // the folder of its module, if its files are the user's own and may change
}

const listedFields = "ImportPath,Name,Dir,GoFiles,IgnoredGoFiles,SFiles,Imports,ImportMap,Standard,Error,Module"

// tags choose plain Go where a module has it beside assembly and C. The tag
// appengine would too, but it takes away system calls as well.
const tags = "purego,noasm,nounsafe,safe,disableunsafe"

func parseList(out []byte) ([]listed, error) {
	var list []listed
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if m := p.Module; m != nil {
			if m.Main || m.Replace != nil && m.Replace.Version == "" {
				p.Local = m.Dir
			}
			p.In, p.Module = m.Path, nil
		}
		if !p.Standard {
			p.Cgo = slices.ContainsFunc(p.IgnoredGoFiles, func(name string) bool {
				text, err := os.ReadFile(filepath.Join(p.Dir, name))
				return err == nil && bytes.Contains(text, []byte("\nimport \"C\""))
			})
			list = append(list, p)
		}
	}
	return list, nil
}

func (p *listed) read() (golang.SourcePackage, error) {
	src := golang.SourcePackage{Path: p.ImportPath, Dir: p.Dir, Cgo: p.Cgo}
	if p.Cgo && len(p.GoFiles) == 0 {
		return src, fmt.Errorf("package %s is written with cgo, which cells cannot run", p.ImportPath)
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
