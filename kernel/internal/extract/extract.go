// Package extract writes down compiled packages as Go source: the symbol
// tables that the interpreter and the checker read, with documentation. It
// runs when code is generated, never in the kernel.
package extract

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Extractor loads packages from the compiler's export data, which the go
// command provides, and from their source.
type Extractor struct {
	imports types.Importer
	fset    *token.FileSet
	env     []string // of the go command, beside the process's own
	known   map[string]packageFiles
}

// packageFiles is what the go command says about a package.
type packageFiles struct {
	export string
	source []string
}

// New returns an extractor. The go command must be in the PATH, and the
// working directory inside the module.
func New() *Extractor {
	e := &Extractor{fset: token.NewFileSet()}
	e.imports = importer.ForCompiler(e.fset, "gc", e.exportData)
	return e
}

func (e *Extractor) exportData(path string) (io.ReadCloser, error) {
	// Compiled as make test compiles: then it is compiled already.
	if err := e.learn(path); err != nil {
		return nil, err
	}
	return os.Open(e.known[path].export)
}

// learn asks the go command for packages and what they import, in one call.
func (e *Extractor) learn(paths ...string) error {
	paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return e.known[p].export != "" })
	if len(paths) == 0 {
		return nil
	}
	if e.known == nil {
		e.known = make(map[string]packageFiles)
	}
	out, err := e.list(append([]string{"-trimpath", "-export", "-deps", "-f", `{{.ImportPath}}{{"\t"}}{{.Export}}{{range .GoFiles}}{{"\t"}}{{$.Dir}}/{{.}}{{end}}`}, paths...)...)
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		e.known[fields[0]] = packageFiles{fields[1], fields[2:]}
	}
	return nil
}

func (e *Extractor) list(args ...string) (string, error) {
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Env = append(os.Environ(), e.env...)
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return "", fmt.Errorf("go list: %s", failed.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// Package loads a package by its import path.
func (e *Extractor) Package(path string) (*types.Package, error) { return e.imports.Import(path) }

// Source parses the files of a package.
func (e *Extractor) Source(path string) ([]*ast.File, error) {
	if err := e.learn(path); err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range e.known[path].source {
		f, err := parser.ParseFile(e.fset, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// Generic says whether an object has type parameters: reflect cannot hold it.
func Generic(obj types.Object) bool {
	switch t := obj.Type().(type) {
	case *types.Named:
		return t.TypeParams().Len() > 0
	case *types.Alias:
		return t.TypeParams().Len() > 0
	case *types.Signature:
		return t.TypeParams().Len() > 0
	}
	return false
}

// Constraint says whether an object is an interface that only constrains type
// parameters.
func Constraint(obj types.Object) bool {
	i, ok := obj.Type().Underlying().(*types.Interface)
	_, isType := obj.(*types.TypeName)
	return ok && isType && !i.IsMethodSet()
}

// File is a generated Go file in the making. Packages that the code mentions
// are imported under names of their own.
type File struct {
	header  string
	imports map[string]string // path to name
	Body    bytes.Buffer
	tail    bytes.Buffer // declarations that the body refers to
}

// NewFile begins a file; header is all that comes before its imports.
func NewFile(header string) *File {
	return &File{header: header, imports: map[string]string{"reflect": "reflect"}}
}

// Import returns the name by which the file refers to a package.
func (f *File) Import(p *types.Package) string {
	name := f.imports[p.Path()]
	for n := 0; name == ""; n++ {
		try := p.Name()
		if n > 0 || try == "host" {
			try += strconv.Itoa(n + 1)
		}
		if !slices.Contains(slices.Collect(maps.Values(f.imports)), try) {
			name = try
			f.imports[p.Path()] = name
		}
	}
	return name
}

// Bytes returns the file, formatted.
func (f *File) Bytes() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(f.header + "\n\nimport (\n")
	for _, path := range slices.Sorted(maps.Keys(f.imports)) {
		name := f.imports[path]
		if name == path[strings.LastIndexByte(path, '/')+1:] {
			name = ""
		}
		fmt.Fprintf(&b, "\t%s %q\n", name, path)
	}
	b.WriteString(")\n\n")
	b.Write(f.Body.Bytes())
	b.Write(f.tail.Bytes())
	return format.Source(b.Bytes())
}

// Symbols writes a map literal of the exported symbols of p for which keep
// holds, as host.Package wants them.
func (f *File) Symbols(p *types.Package, keep func(types.Object) bool) {
	scope, pkg := p.Scope(), f.Import(p)
	f.Body.WriteString("map[string]reflect.Value{\n")
	var wrappers []*types.TypeName
	for _, name := range scope.Names() {
		obj := scope.Lookup(name)
		if !obj.Exported() || Generic(obj) || Constraint(obj) || !keep(obj) {
			continue
		}
		ref := pkg + "." + name
		switch obj := obj.(type) {
		case *types.Const:
			ref = "reflect.ValueOf(" + f.constant(ref, obj) + ")"
		case *types.Func:
			ref = "reflect.ValueOf(" + ref + ")"
		case *types.Var:
			ref = "reflect.ValueOf(&" + ref + ").Elem()"
		case *types.TypeName:
			ref = "reflect.ValueOf((*" + ref + ")(nil))"
			if implementable(obj) {
				wrappers = append(wrappers, obj)
			}
		}
		fmt.Fprintf(&f.Body, "%q: %s,\n", name, ref)
	}
	for _, w := range wrappers {
		fmt.Fprintf(&f.Body, "%q: reflect.ValueOf((*%s)(nil)),\n", "_"+w.Name(), f.wrapper(w))
	}
	f.Body.WriteString("}")
}

// constant writes the value of a constant; an untyped one keeps its
// precision.
func (f *File) constant(ref string, c *types.Const) string {
	if b, ok := c.Type().(*types.Basic); !ok || b.Info()&types.IsUntyped == 0 {
		return ref
	}
	var tok, lit string
	switch c.Val().Kind() {
	case constant.String:
		tok, lit = "STRING", c.Val().ExactString()
	case constant.Int:
		tok, lit = "INT", c.Val().ExactString()
	case constant.Float:
		tok, lit = "FLOAT", c.Val().String()
		if r, ok := constant.Val(c.Val()).(interface{ FloatString(int) string }); ok {
			lit = r.FloatString(60)
		}
	default:
		return ref
	}
	return fmt.Sprintf("%s.MakeFromLiteral(%q, %s.%s, 0)", f.Import(types.NewPackage("go/constant", "constant")),
		lit, f.Import(types.NewPackage("go/token", "token")), tok)
}

// implementable says whether code outside its package can implement an
// interface, and has a method to call.
func implementable(obj *types.TypeName) bool {
	i, ok := obj.Type().Underlying().(*types.Interface)
	if !ok || i.NumMethods() == 0 {
		return false
	}
	for m := range i.Methods() {
		if !m.Exported() || strings.Contains(types.TypeString(m.Type(), nil), "/internal/") {
			return false
		}
	}
	return true
}

// wrapper declares the struct through which an interpreted value implements a
// compiled interface, in the form that yaegi knows, and returns its name.
func (f *File) wrapper(obj *types.TypeName) string {
	name := "_" + f.Import(obj.Pkg()) + "_" + obj.Name()
	iface := obj.Type().Underlying().(*types.Interface)
	var fields, methods strings.Builder
	for m := range iface.Methods() {
		sig := m.Type().(*types.Signature)
		params, args := f.params(sig)
		results := f.results(sig)
		fmt.Fprintf(&fields, "W%s func(%s) %s\n", m.Name(), params, results)
		fmt.Fprintf(&methods, "func (W %s) %s(%s) %s {\n", name, m.Name(), params, results)
		if m.Name() == "String" {
			methods.WriteString("if W.WString == nil { return \"\" }\n")
		}
		if sig.Results().Len() > 0 {
			methods.WriteString("return ")
		}
		fmt.Fprintf(&methods, "W.W%s(%s)\n}\n", m.Name(), args)
	}
	fmt.Fprintf(&f.tail, "\n// %s lets interpreted types implement %s.%s.\ntype %s struct {\nIValue any\n%s}\n\n%s",
		name, obj.Pkg().Name(), obj.Name(), name, fields.String(), methods.String())
	return name
}

func (f *File) typ(t types.Type) string { return types.TypeString(t, f.Import) }

func (f *File) params(sig *types.Signature) (params, args string) {
	var ps, as []string
	for i := range sig.Params().Len() {
		t := sig.Params().At(i).Type()
		name := "a" + strconv.Itoa(i)
		if sig.Variadic() && i == sig.Params().Len()-1 {
			ps = append(ps, name+" ..."+f.typ(t.(*types.Slice).Elem()))
			as = append(as, name+"...")
			continue
		}
		ps = append(ps, name+" "+f.typ(t))
		as = append(as, name)
	}
	return strings.Join(ps, ", "), strings.Join(as, ", ")
}

func (f *File) results(sig *types.Signature) string {
	var rs []string
	for v := range sig.Results().Variables() {
		rs = append(rs, f.typ(v.Type()))
	}
	return "(" + strings.Join(rs, ", ") + ")"
}

// Strings writes a map literal of strings, sorted by key.
func (f *File) Strings(m map[string]string) {
	f.Body.WriteString("map[string]string{\n")
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&f.Body, "%q: %q,\n", k, m[k])
	}
	f.Body.WriteString("}")
}

// Lists writes a map literal of lists of strings, sorted by key.
func (f *File) Lists(m map[string][]string) {
	f.Body.WriteString("map[string][]string{\n")
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		fmt.Fprintf(&f.Body, "%q: {", k)
		for i, s := range m[k] {
			if i > 0 {
				f.Body.WriteString(", ")
			}
			fmt.Fprintf(&f.Body, "%q", s)
		}
		f.Body.WriteString("},\n")
	}
	f.Body.WriteString("}")
}

// Write writes generated files into the working directory, and removes those
// of an earlier run.
func Write(files map[string][]byte) error {
	old, err := filepath.Glob("*_gen*.go")
	if err != nil {
		return err
	}
	for _, name := range old {
		if files[name] == nil {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	for name, text := range files {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
