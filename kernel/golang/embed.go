package golang

import (
	"embed"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unsafe"
)

const embedDirective = "//go:embed"

func hasEmbed(code string) bool { return strings.Contains(code, embedDirective) }

// embedsBetween are the directives between two parts of a cell, in their places.
func embedsBetween(name, code string, from, to int) string {
	var text strings.Builder
	for line := range strings.Lines(code[from:to]) {
		if directive := strings.TrimSpace(line); strings.HasPrefix(directive, embedDirective) {
			l, c := position(code, from+strings.Index(line, directive))
			fmt.Fprintf(&text, "/*line %s:%d:%d*/%s\n", name, l, c, directive)
		}
		from += len(line)
	}
	return text.String()
}

// embed fills the variables of a cell that go:embed directives name. Files are
// relative to the working directory.
func (r *redefinition) embed() *Error {
	cell := r.cell
	if !hasEmbed(r.code) {
		return nil
	}
	dir, err := os.Getwd()
	if err == nil {
		cell.embeds, err = embedded(cell.info, []*ast.File{r.file}, r.ev.fset, dir)
	}
	if err != nil {
		return &Error{Name: "CompileError", Message: err.Error(), Traceback: []string{err.Error()}}
	}
	if r.program {
		return nil
	}
	for i, s := range cell.stmts { // which would make them empty
		d, ok := s.(*ast.DeclStmt)
		if !ok {
			continue
		}
		rest := *d.Decl.(*ast.GenDecl)
		rest.Specs = slices.DeleteFunc(slices.Clone(rest.Specs), func(s ast.Spec) bool {
			v, ok := s.(*ast.ValueSpec)
			if !ok || len(v.Names) != 1 {
				return false
			}
			_, filled := cell.embeds[asVar(cell.info.Defs[v.Names[0]])]
			return filled
		})
		cell.stmts[i] = &ast.DeclStmt{Decl: &rest}
	}
	return nil
}

func asVar(o types.Object) *types.Var {
	v, _ := o.(*types.Var)
	return v
}

// embedded gives the values of the variables that go:embed directives fill
// with files, whose names are relative to dir.
func embedded(info *types.Info, files []*ast.File, fset *token.FileSet, dir string) (map[*types.Var]any, error) {
	values := make(map[*types.Var]any)
	for _, file := range files {
		var directives []*ast.Comment
		for _, group := range file.Comments {
			for _, c := range group.List {
				if rest, ok := strings.CutPrefix(c.Text, embedDirective); ok && (rest == "" || strings.ContainsAny(rest[:1], " \t")) {
					directives = append(directives, c)
				}
			}
		}
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || len(directives) == 0 || d.End() < directives[0].Pos() {
				continue
			}
			var patterns []string
			begin := directives[0]
			take := func(before token.Pos) error {
				for len(directives) > 0 && directives[0].Pos() < before {
					list, err := embedPatterns(directives[0].Text)
					if err != nil {
						return fmt.Errorf("%s: %w", fset.Position(directives[0].Pos()), err)
					}
					patterns = append(patterns, list...)
					directives = directives[1:]
				}
				return nil
			}
			if err := take(g.TokPos); err != nil {
				return nil, err
			}
			for i, s := range g.Specs {
				if err := take(s.Pos()); err != nil {
					return nil, err
				}
				if len(patterns) == 0 {
					continue
				}
				spec, ok := s.(*ast.ValueSpec)
				if !ok || g.Tok != token.VAR || len(spec.Names) != 1 || spec.Values != nil || i > 0 && !g.Lparen.IsValid() {
					return nil, fmt.Errorf("%s: go:embed fills one variable that is declared without a value", fset.Position(begin.Pos()))
				}
				v, ok := info.Defs[spec.Names[0]].(*types.Var)
				if !ok {
					continue
				}
				value, err := embedValue(v.Type(), dir, patterns)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", fset.Position(begin.Pos()), err)
				}
				values[v] = value
				patterns = nil
			}
		}
	}
	return values, nil
}

// embedPatterns splits a directive as the go command does: at spaces, but for
// what is in quotes.
func embedPatterns(text string) (list []string, err error) {
	rest := strings.TrimSpace(strings.TrimPrefix(text, embedDirective))
	for rest != "" {
		var p string
		switch rest[0] {
		case '"', '`':
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, fmt.Errorf("invalid quoted string in %s", text)
			}
			p, _ = strconv.Unquote(quoted)
			rest = rest[len(quoted):]
		default:
			p, rest, _ = strings.Cut(strings.ReplaceAll(rest, "\t", " "), " ")
		}
		list = append(list, p)
		rest = strings.TrimSpace(rest)
	}
	return list, nil
}

// embedValue reads the files that patterns match for a variable of a type.
func embedValue(t types.Type, dir string, patterns []string) (any, error) {
	names, err := embedFiles(dir, patterns)
	if err != nil {
		return nil, err
	}
	texts := make(map[string][]byte)
	for _, name := range names {
		if texts[name], err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return nil, err
		}
	}
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "embed" && n.Obj().Name() == "FS" {
		return embedFS(names, texts), nil
	}
	if len(names) != 1 {
		return nil, errors.New("go:embed of several files needs a variable of type embed.FS")
	}
	text := texts[names[0]]
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Kind() == types.String {
			return string(text), nil
		}
	case *types.Slice:
		if b, ok := u.Elem().Underlying().(*types.Basic); ok && b.Kind() == types.Byte {
			return text, nil
		}
	}
	return nil, fmt.Errorf("go:embed cannot fill a variable of type %s", t)
}

// embedFiles lists the files that patterns match, sorted. A folder stands for
// all that is in it, but for names that begin with a dot or an underscore,
// unless the pattern begins with "all:".
func embedFiles(dir string, patterns []string) ([]string, error) {
	root := os.DirFS(dir)
	found := make(map[string]bool)
	for _, pattern := range patterns {
		glob, all := strings.CutPrefix(pattern, "all:")
		if _, err := path.Match(glob, ""); err != nil || !fs.ValidPath(glob) {
			return nil, fmt.Errorf("pattern %s: invalid pattern syntax", pattern)
		}
		matches, err := fs.Glob(root, glob)
		if err != nil {
			return nil, err
		}
		count := 0
		for _, m := range matches {
			info, err := fs.Lstat(root, m)
			if err == nil {
				err = embeddable(root, m)
			}
			switch {
			case err != nil:
				return nil, fmt.Errorf("pattern %s: %w", pattern, err)
			case info.Mode().IsRegular():
				found[m] = true
				count++
				continue
			case !info.IsDir():
				return nil, fmt.Errorf("pattern %s: cannot embed irregular file %s", pattern, m)
			}
			err = fs.WalkDir(root, m, func(name string, d fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				if base := path.Base(name); name != m && (notEmbedded[base] || !all && (base[0] == '.' || base[0] == '_')) {
					if d.IsDir() {
						return fs.SkipDir
					}
					return nil
				}
				if d.IsDir() {
					if _, err := fs.Stat(root, name+"/go.mod"); err == nil && name != "." {
						return fs.SkipDir // another module
					}
					return nil
				}
				if d.Type().IsRegular() {
					found[name] = true
					count++
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		if count == 0 {
			return nil, fmt.Errorf("pattern %s: no matching files found", pattern)
		}
	}
	names := make([]string, 0, len(found))
	for name := range found {
		names = append(names, name)
	}
	sort.Strings(names)
	return names, nil
}

// notEmbedded are the folders of version control, which a module does not hold.
var notEmbedded = map[string]bool{".bzr": true, ".hg": true, ".git": true, ".svn": true}

// embeddable says, as the go command does, why what a pattern matches cannot be embedded:
// it is reached through a link, or belongs to another module.
func embeddable(root fs.FS, name string) error {
	for at := name; at != "."; at = path.Dir(at) {
		if notEmbedded[path.Base(at)] {
			return fmt.Errorf("cannot embed %s: invalid name %s", name, path.Base(at))
		}
		if _, err := fs.Stat(root, at+"/go.mod"); err == nil {
			return fmt.Errorf("cannot embed %s: in different module", name)
		}
		if info, err := fs.Lstat(root, at); at != name && err == nil && !info.IsDir() {
			return fmt.Errorf("cannot embed %s: in non-directory %s", name, at)
		}
	}
	return nil
}

// embedFS makes the file system that the linker would make: reflect tells what
// it is made of, and a test that this is still so.
func embedFS(names []string, texts map[string][]byte) embed.FS {
	entries := make(map[string][]byte)
	for _, name := range names {
		entries[name] = texts[name]
		for d := path.Dir(name); d != "."; d = path.Dir(d) {
			entries[d+"/"] = nil
		}
	}
	sorted := make([]string, 0, len(entries))
	for name := range entries {
		sorted = append(sorted, name)
	}
	split := func(name string) (dir, base string) {
		name = strings.TrimSuffix(name, "/")
		return path.Dir(name), path.Base(name)
	}
	sort.Slice(sorted, func(i, j int) bool { // as embed.FS looks them up
		di, bi := split(sorted[i])
		dj, bj := split(sorted[j])
		return di < dj || di == dj && bi < bj
	})
	var made embed.FS
	field := settable(reflect.ValueOf(&made).Elem().FieldByName("files"))
	files := reflect.New(field.Type().Elem())
	list := reflect.MakeSlice(files.Elem().Type(), len(sorted), len(sorted))
	for i, name := range sorted {
		settable(list.Index(i).FieldByName("name")).SetString(name)
		settable(list.Index(i).FieldByName("data")).SetString(string(entries[name]))
	}
	files.Elem().Set(list)
	field.Set(files)
	return made
}

// settable lets an unexported field of an addressable struct be set.
func settable(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}
