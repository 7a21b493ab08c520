package house

import (
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// fileNames are names of files in text: with a folder or without.
var fileNames = regexp.MustCompile(`(?:[\w.-]+/)*[\w-]+\.(?:go|py|sh|h|cc|md|ipynb)\b`)

// ofOthers are files that comments name and that are not here: of Go, CUDA, MPI and
// NCCL, and a program that a user names.
var ofOthers = regexp.MustCompile(`^(?:runtime|reflect|interp|cmd|sync|internal|go|net|os)/|^PROGRAM\.go$|^(?:cuda|mpi|cupti_\w+)\.h$|^src/graph/tuning\.cc$`)

// Files that comments name are there.
func TestFilesInComments(t *testing.T) {
	var names []string
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".github" && d.Name() != ".ci" || d.Name() == "build" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if err == nil && !d.IsDir() {
			names = append(names, filepath.ToSlash(strings.TrimPrefix(name, root)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, p := range read(t) {
		for _, f := range p.files {
			for _, c := range f.Comments {
				for _, named := range fileNames.FindAllString(c.Text(), -1) {
					if ofOthers.MatchString(named) || slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, "/"+named) }) {
						continue
					}
					t.Errorf("%s: a comment of %s names %s, which is not there", set.Position(c.Pos()), folder, named)
				}
			}
		}
	}
}

// Names that comments use are there: the comment of a declaration begins with its name,
// and a name with a dot, such as ir.Loop or Lowerer.Debug, is a package's or a type's.
func TestNamesInComments(t *testing.T) {
	list := read(t)
	members := membersOf(list)
	for _, folder := range slices.Sorted(maps.Keys(list)) {
		for _, f := range list[folder].files {
			if ast.IsGenerated(f) {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				var doc *ast.CommentGroup
				var names []*ast.Ident
				switch n := n.(type) {
				case *ast.FuncDecl:
					doc, names = n.Doc, []*ast.Ident{n.Name}
				case *ast.GenDecl:
					if !n.Lparen.IsValid() && n.Tok != token.IMPORT {
						doc, names = n.Doc, declared(n.Specs[0])
					}
				case *ast.TypeSpec:
					doc, names = n.Doc, declared(n)
				case *ast.ValueSpec:
					doc, names = n.Doc, declared(n)
				case *ast.Field:
					doc, names = n.Doc, n.Names
				}
				first, _, _ := strings.Cut(strings.TrimSpace(doc.Text()), " ")
				first = strings.TrimRight(first, ",.:;")
				if len(names) == 0 || first == "" || !token.IsIdentifier(first) || first[0] < 'a' {
					return true
				}
				if !slices.ContainsFunc(names, func(id *ast.Ident) bool { return id.Name == first }) {
					t.Errorf("%s: the comment of %s begins with %s", set.Position(doc.Pos()), names[0].Name, first)
				}
				return true
			})
			for _, c := range f.Comments {
				for _, m := range dotted.FindAllStringSubmatch(c.Text(), -1) {
					if of := members[m[1]]; of != nil && !of[m[2]] && !endings[m[2]] {
						t.Errorf("%s: a comment names %s.%s, which is not there", set.Position(c.Pos()), m[1], m[2])
					}
				}
			}
		}
	}
}

// The module's name stands in paths of packages that are there, which make rename moves,
// in the three that are made up for cells, and in the name of a header of kernels.
func TestModuleInStrings(t *testing.T) {
	madeUp := map[string]bool{"builtin": true, "linked": true, "must": true, "symmetric.h": true}
	list := read(t)
	for _, folder := range slices.Sorted(maps.Keys(list)) {
		for _, f := range list[folder].files {
			ast.Inspect(f, func(n ast.Node) bool {
				s, ok := n.(*ast.BasicLit)
				if !ok || s.Kind != token.STRING {
					return true
				}
				text, _ := strconv.Unquote(s.Value)
				if rest, ok := strings.CutPrefix(text, module()+"/"); ok && !madeUp[rest] {
					if first, _, _ := strings.Cut(rest, "/"); first == "" || !isFolder(filepath.Join(root, first)) {
						t.Errorf("%s: %q names no package of this module", set.Position(s.Pos()), text)
					}
				}
				return true
			})
		}
	}
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// endings are those of names of files.
var endings = map[string]bool{"go": true, "h": true, "s": true, "cc": true, "cu": true, "py": true, "sh": true, "json": true, "jsonl": true}

// dotted are names of a package or type with one of its members.
var dotted = regexp.MustCompile(`(?:^|[^\w./-])([A-Za-z]\w*)\.([A-Za-z]\w*)(?:[^\w./-]|[.,;:)]|$)`)

func declared(s ast.Spec) []*ast.Ident {
	switch s := s.(type) {
	case *ast.TypeSpec:
		return []*ast.Ident{s.Name}
	case *ast.ValueSpec:
		return s.Names
	}
	return nil
}

// membersOf are what packages and exported types declare, by their names. Where several
// have one name, it is what any of them declares; where a package of others has it, nothing
// is known.
func membersOf(list map[string]*source) map[string]map[string]bool {
	members := map[string]map[string]bool{}
	others := map[string]bool{"main": true, "T": true, "Type": true}
	for _, p := range list {
		for name := range p.imports {
			if list[name] == nil {
				others[path.Base(name)] = true
			}
		}
	}
	add := func(of, name string) {
		if others[of] {
			return
		}
		if members[of] == nil {
			members[of] = map[string]bool{}
		}
		members[of][name] = true
	}
	for folder, p := range list {
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool { // by such names lowered code knows what rt has
				if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING && token.IsIdentifier(strings.Trim(s.Value, `"`)) {
					add(f.Name.Name, strings.Trim(s.Value, `"`))
				}
				return true
			})
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if d.Recv == nil {
						add(f.Name.Name, d.Name.Name)
						if folder == "kernel/ranks/pushpull" {
							add("mpi", d.Name.Name) // as cells see it
						}
					} else if id := receiver(d); id != nil && id.IsExported() {
						add(id.Name, d.Name.Name)
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						for _, name := range declared(s) {
							add(f.Name.Name, name.Name)
						}
						if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() {
							ast.Inspect(s.Type, func(n ast.Node) bool {
								if field, ok := n.(*ast.Field); ok {
									for _, name := range field.Names {
										add(s.Name.Name, name.Name)
									}
								}
								return true
							})
						}
					}
				}
			}
		}
	}
	return members
}
