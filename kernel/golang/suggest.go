package golang

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gocuda/internal/spell"
)

// noMember is what the checker says of a name that a type or a struct lacks.
var noMember = regexp.MustCompile(`^(?:\S.* undefined \(type .* has no field or method ([\pL_][\pL_\d]*)\)$|unknown field ([\pL_][\pL_\d]*) in struct literal)`)

// builtinUsed is what the checker says of a name of Go's own that stands for a value.
var builtinUsed = regexp.MustCompile(`^(?:invalid use of )?([a-z]\w*) \(built-in\)`)

// suggest names what a misspelt name, at pos, may have meant.
func (c *checker) suggest(m mistake, pos token.Pos) string {
	if c.ev.options.Hint != nil {
		if hint := c.ev.options.Hint(m.text, c.ev.texts.from(m)); hint != "" {
			return " (" + hint + ")"
		}
	}
	if c.lacksMust(m.text) {
		return " (" + mustName + "(...) around the call takes its error, and fails the cell on one)"
	}
	if used := builtinUsed.FindStringSubmatch(m.text); used != nil && slices.Contains(c.names(), used[1]+"_") {
		return " (" + used[1] + " is built into Go: of what has this name elsewhere, such as a kernel, the variable is " + used[1] + "_)"
	}
	name, undefined := strings.CutPrefix(m.text, "undefined: ")
	var from []string
	var elsewhere string // where the very name is
	if member := noMember.FindStringSubmatch(m.text); member != nil {
		name = member[1] + member[2]
		of := c.holder(pos)
		from, elsewhere = c.members(of), c.functionFor(of, name)
	} else if pkg, sel, ok := strings.Cut(name, "."); undefined && ok {
		name = sel
		if in := c.scopeOf(pkg); in != nil {
			from, elsewhere = in.Names(), methodsNamed(in, pkg, sel)
			if other := c.ev.importer.namesake(pkg, sel); elsewhere == "" && other != "" {
				elsewhere = "in " + strconv.Quote(other) + ": import it"
			}
		}
	} else if undefined {
		from, elsewhere = c.names(), c.ev.options.Elsewhere[name]
		if strings.HasPrefix(c.ev.texts.from(m), name+".") {
			from = slices.AppendSeq(from, maps.Keys(c.ev.importer.namesOfPackages()))
		}
	}
	if elsewhere != "" {
		return " (" + name + " is " + elsewhere + ")"
	}
	near := spell.Nearest(name, from, len(name)/3)
	if len(near) == 0 || near[0] == name {
		return ""
	}
	return " (did you mean " + near[0] + "?)"
}

// oneMore is what is said of a call that gives a value more than is taken.
var oneMore = regexp.MustCompile(`^assignment mismatch: (\d+) variables? but (.*) returns (\d+) values$`)

// lacksMust reports whether a mistake is that a call's error is not taken, which must does
// where the cell has it.
func (c *checker) lacksMust(text string) bool {
	m := oneMore.FindStringSubmatch(text)
	if _, own := c.declared[mustName]; own || m == nil || c.src.program || c.ev.names[mustName] != nil {
		return false
	}
	taken, _ := strconv.Atoi(m[1])
	given, _ := strconv.Atoi(m[3])
	found := false
	ast.Inspect(c.src.file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && exprText(call.Fun) == m[2] {
			results, ok := c.info.TypeOf(call).(*types.Tuple)
			found = found || ok && types.Identical(results.At(results.Len()-1).Type(), types.Universe.Lookup("error").Type())
		}
		return !found
	})
	return found && given == taken+1
}

// names lists what a cell can name at its outer level.
func (c *checker) names() []string {
	from := types.Universe.Names()
	from = slices.AppendSeq(from, maps.Keys(c.ev.names))
	return slices.AppendSeq(from, maps.Keys(c.declared))
}

// scopeOf is what a package has, by the name that the cell gives it; nil if there is none.
func (c *checker) scopeOf(pkg string) *types.Scope {
	if p, ok := c.pkg.Scope().Lookup(pkg).(*types.PkgName); ok {
		return p.Imported().Scope()
	}
	if p, ok := c.ev.names[pkg].(*types.PkgName); ok {
		return p.Imported().Scope()
	}
	for _, d := range c.src.file.Imports {
		if p, err := c.ev.importer.Import(strings.Trim(d.Path.Value, `"`)); err == nil && p.Name() == pkg {
			return p.Scope()
		}
	}
	return nil
}

// methodsNamed says of which types of a package a name is a method, if not of many.
func methodsNamed(in *types.Scope, pkg, name string) string {
	var of []string
	for _, n := range in.Names() {
		t, ok := in.Lookup(n).(*types.TypeName)
		if !ok || !t.Exported() {
			continue
		}
		if m, _, _ := types.LookupFieldOrMethod(t.Type(), true, t.Pkg(), name); m != nil && m.Exported() {
			if _, ok := m.(*types.Func); ok {
				of = append(of, pkg+"."+n)
			}
		}
	}
	if len(of) == 0 || len(of) > 3 {
		return ""
	}
	return "a method of " + strings.Join(of, ", ")
}

// functionFor names the function that the package of a type has by the name of what the
// type lacks.
func (c *checker) functionFor(of types.Type, name string) string {
	if of == nil {
		return ""
	}
	if p, ok := types.Unalias(of).(*types.Pointer); ok {
		of = p.Elem()
	}
	named, ok := types.Unalias(of).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return ""
	}
	pkg := named.Obj().Pkg()
	f, ok := pkg.Scope().Lookup(name).(*types.Func)
	switch {
	case !ok || !c.mayName(f):
		return ""
	case pkg.Path() == c.pkg.Path():
		return "a function"
	}
	return "a function: " + pkg.Name() + "." + name
}

// holder is the type of what has the selector, or the struct literal the key, at pos.
func (c *checker) holder(pos token.Pos) (of types.Type) {
	ast.Inspect(c.src.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if n.Sel.Pos() == pos {
				of = c.info.TypeOf(n.X)
			}
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && kv.Pos() == pos {
					if of = c.info.TypeOf(n); of == nil && n.Type != nil {
						of = c.info.TypeOf(n.Type)
					}
				}
			}
		}
		return of == nil
	})
	return of
}

// members lists the fields and methods of a type.
func (c *checker) members(of types.Type) (list []string) {
	if of == nil {
		return nil
	}
	if p, ok := of.Underlying().(*types.Pointer); ok {
		of = p.Elem()
	}
	methods := types.NewMethodSet(of)
	if !types.IsInterface(of) {
		methods = types.NewMethodSet(types.NewPointer(of))
	}
	for m := range methods.Methods() {
		if c.mayName(m.Obj()) {
			list = append(list, m.Obj().Name())
		}
	}
	return c.appendFields(list, of, 0)
}

// mayName says whether a cell can name a member: those of other packages only
// if they are exported.
func (c *checker) mayName(member types.Object) bool {
	return member.Exported() || member.Pkg() == nil || member.Pkg().Path() == c.pkg.Path()
}

// appendFields adds a struct's fields, and those of the structs embedded in it.
func (c *checker) appendFields(list []string, t types.Type, depth int) []string {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok || depth > 5 {
		return list
	}
	for f := range s.Fields() {
		if c.mayName(f) {
			list = append(list, f.Name())
		}
		if f.Embedded() {
			list = c.appendFields(list, f.Type(), depth+1)
		}
	}
	return list
}
