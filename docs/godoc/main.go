// The command godoc writes the documentation of gocuda's packages as Markdown: a page
// for each that programs and cells import, and a list of all.
package main

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// public are the packages that programs and cells import.
var public = []string{
	"cudaapi/cuda", "cudaapi/gpu", "cudaapi/backend", "cudaapi/mpi", "cudaapi/mpi/launch", "cudaapi/collective", "cudaapi/symmetric", "cudaapi/streamsync", "cudaapi/gxf",
	"cudaapi/hazard", "cudaapi/trace", "cudaapi/driver", "kernel/display", "kernel/plot", "kernel/profile", "kernel/timeline", "kernel/lesson", "kernel/widgets",
}

// heads are the parts of the list of all packages.
var heads = [][2]string{{"cmd", "The command"}, {"kernel", "Jupyter and cells"}, {"cudaapi", "CUDA and MPI"}, {"install", "Installation"},
	{"internal", "Helpers"}, {"notebooks", "Tutorials"}, {"examples", "Examples"}, {"bench", "Benchmarks"}, {"scripts", "Scripts"}, {"docs", "Documentation"}}

func main() {
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(out string) error {
	module := modulePath()
	var folders []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); path != "." && (strings.HasPrefix(name, ".") || slices.Contains([]string{"testdata", "build", "bin", "dist", "node_modules"}, name)) {
			return filepath.SkipDir
		}
		folders = append(folders, filepath.ToSlash(path))
		return nil
	})
	if err != nil {
		return err
	}
	synopses := map[string]string{}
	for _, folder := range folders {
		p, set, err := read(module, folder)
		if err != nil {
			return err
		}
		if p == nil {
			continue
		}
		synopses[folder] = p.Synopsis(p.Doc)
		if slices.Contains(public, folder) {
			if err := page(out, folder, p, set); err != nil {
				return err
			}
		}
	}
	for _, folder := range public {
		if synopses[folder] == "" {
			return fmt.Errorf("package %s is not there, or has no comment", folder)
		}
	}
	if err := list(out, synopses); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("# Go packages\n\nWhat cells and programs import. In cells, most need no import.\n\n```{toctree}\n:maxdepth: 1\n\n")
	for _, folder := range public {
		fmt.Fprintf(&b, "%s <%s>\n", filepath.Base(folder), file(folder))
	}
	b.WriteString("```\n")
	if err := os.WriteFile(filepath.Join(out, "go", "index.md"), []byte(b.String()), 0o644); err != nil {
		return err
	}
	index := "# Reference\n\nThese pages are made from the code: they say what the program itself says.\n\n```{toctree}\n:maxdepth: 1\n\nmagics\ncommands\nsettings\nexit-status\nkernel-language\ngo/index\n```\n"
	return os.WriteFile(filepath.Join(out, "index.md"), []byte(index), 0o644)
}

func file(folder string) string { return strings.ReplaceAll(folder, "/", "-") }

func modulePath() string {
	data, err := os.ReadFile("go.mod")
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimPrefix(line, "module ")
}

// read is a package's documentation; nil: there is no Go in that folder.
func read(module, folder string) (*doc.Package, *token.FileSet, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, nil, err
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			return nil, nil, err
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if len(files) > 0 && f.Name.Name != files[0].Name.Name {
			continue // a program beside a package
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, nil, nil
	}
	p, err := doc.NewFromFiles(set, files, module+"/"+folder)
	return p, set, err
}

// list writes the page of all packages.
func list(out string, synopses map[string]string) error {
	var b strings.Builder
	b.WriteString("# Packages\n\nEvery package, with the first sentence of its comment.\n")
	rest := len(synopses)
	for _, h := range heads {
		fmt.Fprintf(&b, "\n## %s\n\n| package | what it is |\n|---|---|\n", h[1])
		var folders []string
		for folder := range synopses {
			if folder == h[0] || strings.HasPrefix(folder, h[0]+"/") {
				folders = append(folders, folder)
			}
		}
		slices.Sort(folders)
		rest -= len(folders)
		for _, f := range folders {
			fmt.Fprintf(&b, "| `%s` | %s |\n", f, escape(synopses[f]))
		}
	}
	if rest != 0 {
		return fmt.Errorf("%d packages are under no head", rest)
	}
	return os.WriteFile(filepath.Join(out, "packages.md"), []byte(b.String()), 0o644)
}

var special = regexp.MustCompile("[\\\\*_<>$`\\[\\]{}#|]")

func escape(text string) string { return special.ReplaceAllString(text, `\$0`) }

// page writes the page of one package.
func page(out, folder string, p *doc.Package, set *token.FileSet) error {
	var b strings.Builder
	printer := p.Printer()
	printer.HeadingLevel = 2
	printer.HeadingID = func(*comment.Heading) string { return "" }
	printer.DocLinkURL = func(*comment.DocLink) string { return "" }
	text := func(s string) {
		if s != "" {
			// Its links are to pages that this site does not have.
			markdown := regexp.MustCompile(`\[((?:[^\[\]\\]|\\.)*)\]\(\)`).ReplaceAllString(string(printer.Markdown(p.Parser().Parse(s))), "$1")
			b.WriteString(markdown + "\n")
		}
	}
	code := func(node any) error {
		b.WriteString("```go\n")
		var code strings.Builder
		if err := format.Node(&code, set, node); err != nil {
			return err
		}
		b.WriteString(code.String() + "\n```\n\n")
		return nil
	}
	function := func(level, name string, f *doc.Func) error {
		fmt.Fprintf(&b, "%s %s\n\n", level, name)
		f.Decl.Body, f.Decl.Doc = nil, nil
		if err := code(f.Decl); err != nil {
			return err
		}
		text(f.Doc)
		return nil
	}
	values := func(list []*doc.Value) error {
		for _, v := range list {
			v.Decl.Doc = nil
			if err := code(v.Decl); err != nil {
				return err
			}
			text(v.Doc)
		}
		return nil
	}
	fmt.Fprintf(&b, "# Package %s\n\n```go\nimport \"%s\"\n```\n\n", p.Name, p.ImportPath)
	text(p.Doc)
	printer.HeadingLevel = 5
	if len(p.Consts)+len(p.Vars) > 0 {
		b.WriteString("## Constants and variables\n\n")
		if err := values(append(slices.Clone(p.Consts), p.Vars...)); err != nil {
			return err
		}
	}
	if len(p.Funcs) > 0 {
		b.WriteString("## Functions\n\n")
		for _, f := range p.Funcs {
			if err := function("###", f.Name, f); err != nil {
				return err
			}
		}
	}
	if len(p.Types) > 0 {
		b.WriteString("## Types\n\n")
	}
	for _, t := range p.Types {
		fmt.Fprintf(&b, "### %s\n\n", t.Name)
		t.Decl.Doc = nil
		if err := code(t.Decl); err != nil {
			return err
		}
		text(t.Doc)
		if err := values(append(slices.Clone(t.Consts), t.Vars...)); err != nil {
			return err
		}
		for _, f := range t.Funcs {
			if err := function("####", f.Name, f); err != nil {
				return err
			}
		}
		for _, m := range t.Methods {
			if err := function("####", t.Name+"."+m.Name, m); err != nil {
				return err
			}
		}
	}
	path := filepath.Join(out, "go", file(folder)+".md")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
