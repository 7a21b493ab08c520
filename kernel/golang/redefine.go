package golang

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// Redefinition: the functions, methods and types of earlier cells that use what a cell
// declares again are compiled again with the cell, from their source.
// What does not fit any more, and variables, which keep their values, stay as they
// are, and the cell says so. In the same way a function may call one that a later
// cell declares: it is compiled with that.

// kept is a function, a method or a type of an earlier cell, as source.
type kept struct {
	name         string // a method's is "T.M"
	recv         string // T
	isType       bool
	cell         string
	line, column int // in the cell
	text         string
	uses         map[string]bool // names of the session
	missing      []string        // what it calls that no cell has declared yet
}

// follower is a declaration of an earlier cell that is compiled with this one.
type follower struct {
	*kept
	decl ast.Decl
}

// addDeclarations parses declarations of earlier cells and adds them to a cell's.
func (ev *Evaluator) addDeclarations(src *source, list []*kept) {
	src.followers = nil
	var steps []ast.Node
	for _, k := range list {
		open, file := "", (*ast.File)(nil)
		if k.isType {
			open = "type "
		}
		text := fmt.Sprintf("package main\n%s/*line %s:%d:%d*/%s\n", open, k.cell, k.line, k.column, k.text)
		file, err := parser.ParseFile(ev.fset, "", text, parser.ParseComments)
		if err != nil {
			continue // it was parsed before
		}
		src.followers = append(src.followers, follower{k, file.Decls[0]})
		steps = append(steps, file.Decls[0])
	}
	src.steps = append(steps, src.steps...)
}

// reparse parses the cell again: a check changes what it checks.
func (ev *Evaluator) reparse(src *source, name, code string) {
	var with []*kept
	for _, f := range src.followers {
		with = append(with, f.kept)
	}
	ev.reparseWith(src, name, code, with)
}

// reparseWith parses the cell again, to be checked with other declarations of earlier cells.
func (ev *Evaluator) reparseWith(src *source, name, code string, with []*kept) {
	fresh, _ := parse(ev.fset, name, code)
	left, renewed := src.left, src.renewed
	*src = *fresh
	src.renewed = renewed
	if left != nil {
		src.without(left)
	}
	ev.addDeclarations(src, with)
}

// of finds the follower whose source has a position.
func (src *source) of(pos token.Pos) *kept {
	for _, f := range src.followers {
		if f.decl.Pos() <= pos && pos <= f.decl.End() {
			return f.kept
		}
	}
	return nil
}

func (src *source) isFollower(n ast.Node) bool {
	return slices.ContainsFunc(src.followers, func(f follower) bool { return f.decl == n })
}

// checkCell checks a cell with what follows it, and says what does not.
func (ev *Evaluator) checkCell(src *source, name, code string) (cell *checked, notes []string, mistakes []mistake, err error) {
	changed := src.redeclared(ev)
	with := append(ev.completed(src), ev.dependents(src, changed, nil)...)
	left := make(map[*kept]string) // and why
	src.renewed = make(map[string]bool)
	if len(with) > 0 {
		ev.addDeclarations(src, with)
	}
	for {
		cell, mistakes, err = ev.checkSafely(src, name, code)
		if err != nil {
			return nil, nil, nil, err
		}
		if more, found := ev.retyped(src, changed, with); found {
			with = append(with, more...)
			ev.reparseWith(src, name, code, with)
			continue
		}
		var bad []*kept
		for _, m := range mistakes {
			if k := src.of(m.pos); k != nil && left[k] == "" {
				bad = append(bad, k)
				first, _, _ := strings.Cut(m.text, "\n")
				left[k] = fmt.Sprintf("%s:%d:%d: %s", m.file, m.line, m.column, first)
			}
		}
		if len(bad) > 0 {
			with = slices.DeleteFunc(with, func(k *kept) bool { return slices.Contains(bad, k) })
			ev.reparseWith(src, name, code, with)
			continue
		}
		if mistakes != nil {
			return nil, nil, mistakes, nil
		}
		maps.Copy(changed, ev.changedBy(cell))
		more := ev.dependents(src, changed, func(k *kept) bool { return left[k] != "" || slices.Contains(with, k) })
		if len(more) == 0 {
			return cell, ev.unchanged(cell, changed, left), nil, nil
		}
		with = append(with, more...)
		ev.reparseWith(src, name, code, with)
	}
}

// retyped returns what is to be declared again with a cell that gives methods of
// earlier types other signatures: the types, if the cell does not declare them
// itself, and what uses them; and whether there is such a type that is not in
// changed, where it is put.
func (ev *Evaluator) retyped(src *source, changed map[string]bool, with []*kept) (list []*kept, found bool) {
	own := src.declares()
	for name := range src.renewed {
		if k := ev.kept[name]; k != nil && !changed[name] {
			changed[name], found = true, true
			if !own[name] && !slices.Contains(with, k) {
				list = append(list, k)
			}
		}
	}
	if !found {
		return nil, false
	}
	known := append(slices.Clone(with), list...)
	return append(list, ev.dependents(src, changed, func(k *kept) bool { return slices.Contains(known, k) })...), true
}

// redeclared are the types of earlier cells that the cell declares in other words.
func (src *source) redeclared(ev *Evaluator) map[string]bool {
	names := make(map[string]bool)
	if src.program {
		return names
	}
	for _, s := range src.steps {
		if d, ok := s.(*ast.GenDecl); ok && d.Tok == token.TYPE {
			for _, sp := range d.Specs {
				spec := sp.(*ast.TypeSpec)
				old, was := ev.typeText[spec.Name.Name]
				if _, isType := ev.names[spec.Name.Name].(*types.TypeName); was && isType && old.text != specText(spec) {
					names[spec.Name.Name] = true
				}
			}
		}
	}
	return names
}

// changedBy are the names that mean something else once the cell has run, such as
// a variable of another type. A function with the same signature takes its callers
// along.
func (ev *Evaluator) changedBy(cell *checked) map[string]bool {
	names := make(map[string]bool)
	if cell.program {
		return names
	}
	for _, now := range cellObjects(cell) {
		old := ev.names[now.Name()]
		if old == nil || old == now || old.Pkg() == nil || old.Pkg().Path() != "main" {
			continue
		}
		same := types.Identical(old.Type(), now.Type())
		switch was := old.(type) {
		case *types.Var:
			_, is := now.(*types.Var)
			same = same && is
		case *types.Func:
			_, is := now.(*types.Func)
			same = same && is
		case *types.Const:
			is, ok := now.(*types.Const)
			same = same && ok && constant.Compare(was.Val(), token.EQL, is.Val())
		}
		if !same {
			names[now.Name()] = true
		}
	}
	return names
}

// dependents are the declarations of earlier cells that use one of the names, but
// for those that the cell declares itself. Methods that the cell of a type declared
// with it do not follow that: another cell is in its place.
func (ev *Evaluator) dependents(src *source, names map[string]bool, known func(*kept) bool) []*kept {
	if len(names) == 0 || src.program {
		return nil
	}
	own := src.declares()
	names = maps.Clone(names)
	var list []*kept
	for again := true; again; {
		again = false
		for _, k := range ev.kept {
			if own[k.name] || slices.Contains(list, k) || known != nil && known(k) {
				continue
			}
			if own[k.recv] && ev.kept[k.recv] != nil && ev.kept[k.recv].cell == k.cell {
				continue
			}
			uses := false
			for name := range k.uses {
				uses = uses || names[name]
			}
			if uses {
				list, again = append(list, k), true
				if k.isType {
					names[k.name] = true
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b *kept) int { return cmp.Compare(a.name, b.name) })
	return list
}

// declares are the names that the cell itself declares at its outer level; a
// method's is "T.M".
func (src *source) declares() map[string]bool {
	names := make(map[string]bool)
	for _, s := range src.steps {
		if src.isFollower(s) {
			continue
		}
		switch d := s.(type) {
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names[spec.Name.Name] = true
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						names[id.Name] = true
					}
				}
			}
		case *ast.FuncDecl:
			names[keptName(d)] = true
		case *ast.AssignStmt:
			if d.Tok == token.DEFINE {
				for _, x := range d.Lhs {
					if id, ok := x.(*ast.Ident); ok {
						names[id.Name] = true
					}
				}
			}
		}
	}
	return names
}

func keptName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	if base, _ := receiverBase(d); base != nil {
		return base.Name + "." + d.Name.Name
	}
	return ""
}

// unchanged says what keeps what it had of names that the cell declares again.
func (ev *Evaluator) unchanged(cell *checked, changed map[string]bool, left map[*kept]string) []string {
	var notes []string
	through := make(map[string][]string)
	for k, why := range left {
		if k.missing != nil {
			notes = append(notes, fmt.Sprintf("%s does not fit: %s", k.name, why))
			delete(ev.waiting, k.name)
			continue
		}
		var of []string
		for name := range k.uses {
			if changed[name] {
				of = append(of, name)
			}
		}
		slices.Sort(of)
		what := strings.Join(of, ", ")
		if strings.Contains(why, "declared again") { // by way of another that is left
			through[what] = append(through[what], k.name)
			continue
		}
		notes = append(notes, fmt.Sprintf("%s still uses the old %s: %s", k.name, what, why))
	}
	for what, list := range through {
		slices.Sort(list)
		use := "still uses"
		if len(list) > 1 {
			use = "still use"
		}
		notes = append(notes, fmt.Sprintf("%s %s the old %s", strings.Join(list, ", "), use, what))
	}
	old := make(map[string][]string) // variables by their types' names
	for name, o := range ev.names {
		v, ok := o.(*types.Var)
		if again := cell.pkg.Scope().Lookup(name); !ok || again != nil && again.Pkg() == cell.pkg {
			continue
		}
		if t := mentions(v.Type(), func(n *types.Named) bool { return changed[n.Obj().Name()] && ev.names[n.Obj().Name()] == n.Obj() }); t != "" {
			old[t] = append(old[t], name)
		}
	}
	for t, list := range old {
		slices.Sort(list)
		have, again := "still has", "its cell"
		if len(list) > 1 {
			have, again = "still have", "their cells"
		}
		notes = append(notes, fmt.Sprintf("%s %s the old %s: run %s again", strings.Join(list, ", "), have, t, again))
	}
	slices.Sort(notes)
	return notes
}

// mentions finds a named type in how a type is written, and returns its name.
func mentions(t types.Type, is func(*types.Named) bool) string {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if is(t.Origin()) {
			return t.Obj().Name()
		}
		for a := range t.TypeArgs().Types() {
			if name := mentions(a, is); name != "" {
				return name
			}
		}
	case *types.Pointer:
		return mentions(t.Elem(), is)
	case *types.Slice:
		return mentions(t.Elem(), is)
	case *types.Array:
		return mentions(t.Elem(), is)
	case *types.Chan:
		return mentions(t.Elem(), is)
	case *types.Map:
		return cmp.Or(mentions(t.Key(), is), mentions(t.Elem(), is))
	case *types.Signature:
		return cmp.Or(mentions(t.Params(), is), mentions(t.Results(), is))
	case *types.Tuple:
		for v := range t.Variables() {
			if name := mentions(v.Type(), is); name != "" {
				return name
			}
		}
	case *types.Struct:
		for f := range t.Fields() {
			if name := mentions(f.Type(), is); name != "" {
				return name
			}
		}
	}
	return ""
}

// keep keeps the source of what the cell declares.
func (ev *Evaluator) keep(src *source, code string, cell *checked) {
	if src.program {
		return
	}
	own := src.declares()
	for name, k := range ev.kept {
		if own[name] || own[k.recv] && ev.kept[k.recv] != nil && ev.kept[k.recv].cell == k.cell {
			delete(ev.kept, name)
		}
	}
	for name := range own {
		delete(ev.waiting, name)
	}
	for _, f := range src.followers {
		if f.missing != nil {
			delete(ev.waiting, f.name)
			f.missing = nil
			ev.kept[f.name] = f.kept
		}
	}
	lines := lineStarts(code)
	bodies := make(map[*ast.BlockStmt]ast.Node) // of methods of types of earlier cells
	for _, m := range cell.methods {
		bodies[m.decl.Body] = m.decl.Type
	}
	for _, s := range src.steps {
		switch d := s.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == "main" || d.Name.Name == "init" || d.Name.Name == "_" || d.Body == nil {
				continue
			}
			k := ev.kept[keptName(d)]
			if !src.isFollower(d) {
				if k = ev.keptOf(d, code, lines); k == nil {
					continue
				}
				ev.kept[k.name] = k
			}
			k.uses = make(map[string]bool)
			usesOf(cell.info, d, k.uses)
			if typ := bodies[d.Body]; typ != nil {
				usesOf(cell.info, typ, k.uses)
			}
			if k.recv != "" {
				k.uses[k.recv] = true
			}
		case *ast.GenDecl:
			for _, sp := range d.Specs {
				spec, ok := sp.(*ast.TypeSpec)
				if !ok || src.isFollower(d) {
					continue
				}
				if k := ev.keptOf(spec, code, lines); k != nil {
					usesOf(cell.info, spec, k.uses)
					if was := ev.typeText[k.name]; len(k.uses) == 0 { // reused: it was not checked again
						for name := range was.uses {
							k.uses[name] = true
						}
					}
					ev.kept[k.name] = k
				}
			}
		}
	}
}

// usesOf notes the names of the session that code uses.
func usesOf(info *types.Info, n ast.Node, names map[string]bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if o := info.Uses[id]; o != nil && o.Pkg() != nil && o.Pkg().Path() == "main" && o.Parent() == o.Pkg().Scope() {
				names[o.Name()] = true
			}
		}
		return true
	})
}

// lineStarts are the offsets of the lines of a cell.
func lineStarts(code string) []int {
	starts := []int{0}
	for i := range len(code) {
		if code[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// keptOf cuts a declaration out of its cell.
func (ev *Evaluator) keptOf(n ast.Node, code string, lines []int) *kept {
	from, to := ev.fset.Position(n.Pos()), ev.fset.Position(n.End())
	if from.Line < 1 || to.Line > len(lines) || from.Line > to.Line {
		return nil
	}
	first, last := lines[from.Line-1]+from.Column-1, lines[to.Line-1]+to.Column-1
	if first < 0 || last > len(code) || first >= last {
		return nil
	}
	k := &kept{cell: from.Filename, line: from.Line, column: from.Column, text: code[first:last], uses: make(map[string]bool)}
	switch n := n.(type) {
	case *ast.FuncDecl:
		k.name = keptName(n)
		k.recv, _, _ = strings.Cut(k.name, ".")
		if n.Recv == nil {
			k.recv = ""
		}
	case *ast.TypeSpec:
		k.name, k.isType = n.Name.Name, true
	}
	if k.name == "" {
		return nil
	}
	return k
}

// completed are the functions of earlier cells that wait for what the cell declares,
// if nothing else is missing.
func (ev *Evaluator) completed(src *source) []*kept {
	if len(ev.waiting) == 0 || src.program {
		return nil
	}
	own := src.declares()
	var list []*kept
	for _, k := range ev.waiting {
		if !own[k.name] {
			list = append(list, k)
		}
	}
	for n := -1; n != len(list); {
		n = len(list)
		list = slices.DeleteFunc(list, func(k *kept) bool {
			return slices.ContainsFunc(k.missing, func(name string) bool {
				return !own[name] && ev.names[name] == nil && !slices.ContainsFunc(list, func(o *kept) bool { return o.name == name })
			})
		})
	}
	slices.SortFunc(list, func(a, b *kept) int { return cmp.Compare(a.name, b.name) })
	return list
}

// postpone finds out whether all that is wrong with a cell is that functions of it
// call what no cell has declared yet. It then returns these, which are left out.
func (ev *Evaluator) postpone(src *source, code string, mistakes []mistake) []*kept {
	if src.program {
		return nil
	}
	waits := make(map[*ast.FuncDecl][]string)
	for _, m := range mistakes {
		name, ok := strings.CutPrefix(m.text, "undefined: ")
		name, _, _ = strings.Cut(name, waitsFor)
		if !ok || !token.IsIdentifier(name) {
			return nil
		}
		var in *ast.FuncDecl
		for _, s := range src.steps {
			if d, ok := s.(*ast.FuncDecl); ok && d.Recv == nil && d.Body != nil && d.Body.Pos() <= m.pos && m.pos < d.Body.End() {
				in = d
			}
		}
		if in == nil || !calls(in.Body, m.pos) {
			return nil
		}
		waits[in] = append(waits[in], name)
	}
	var list []*kept
	lines := lineStarts(code)
	for d, missing := range waits {
		k := ev.keptOf(d, code, lines)
		if k == nil || d.Name.Name == "main" || d.Name.Name == "init" {
			return nil
		}
		slices.Sort(missing)
		k.missing = slices.Compact(missing)
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b *kept) int { return cmp.Compare(a.name, b.name) })
	return list
}

// waitsFor follows the name of a function that was postponed.
const waitsFor = " (it calls "

// waits says why a name is undefined whose function a cell has declared.
func (ev *Evaluator) waits(name string) string {
	k := ev.waiting[name]
	if k == nil {
		return ""
	}
	return fmt.Sprintf("%s%s, which no cell has declared yet)", waitsFor, strings.Join(k.missing, ", "))
}

// Missing lists what a function of that name calls and no cell has declared yet. Until
// then the function cannot be used.
func (ev *Evaluator) Missing(name string) []string {
	ev.mu.Lock()
	defer ev.mu.Unlock()
	if k := ev.waiting[name]; k != nil {
		return k.missing
	}
	return nil
}

// calls says whether the name at a position is called.
func calls(n ast.Node, pos token.Pos) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && c.Fun.Pos() == pos {
			_, isName := c.Fun.(*ast.Ident)
			found = found || isName
		}
		return !found
	})
	return found
}

// without leaves functions out of a cell.
func (src *source) without(list []*kept) {
	src.steps = slices.DeleteFunc(src.steps, func(s ast.Node) bool {
		d, ok := s.(*ast.FuncDecl)
		return ok && slices.ContainsFunc(list, func(k *kept) bool { return k.name == keptName(d) })
	})
	src.left = list
}

// relowerAll evaluates the functions and methods of earlier cells again, and returns the
// names of those that do not fit any more: they stay as they were lowered.
func (ev *Evaluator) relowerAll() (left []string) {
	ev.mu.Lock()
	defer ev.mu.Unlock()
	return ev.relower("debugger")
}

// relower is relowerAll, for a purpose.
func (ev *Evaluator) relower(name string) (left []string) {
	var list []*kept
	for _, k := range ev.kept {
		if !k.isType {
			list = append(list, k)
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b *kept) int { return cmp.Compare(a.name, b.name) })
	const code = ""
	for len(list) > 0 {
		src, _ := parse(ev.fset, name, code)
		ev.addDeclarations(src, list)
		cell, mistakes, err := ev.checkSafely(src, name, code)
		if err == nil && mistakes == nil {
			ev.shares(cell)
			ev.lower.Instrument, ev.lower.Debug = ev.touches(), ev.debugger.isOn()
			ev.compilesLoops()
			ev.lower.Begin(name, false)
			entry, err := ev.build(name, cell, nil)
			if err != nil {
				ev.lower.Abandon()
				break
			}
			ev.adopt(src, code, cell)
			if _, _, ok := ev.rt.Try(*entry); !ok {
				break
			}
			return left
		}
		var bad []*kept
		for _, m := range mistakes {
			if k := src.of(m.pos); k != nil {
				bad = append(bad, k)
			}
		}
		if len(bad) == 0 {
			break
		}
		for _, k := range bad {
			if !slices.Contains(left, k.name) {
				left = append(left, k.name)
			}
		}
		list = slices.DeleteFunc(list, func(k *kept) bool { return slices.Contains(bad, k) })
	}
	for _, k := range list {
		left = append(left, k.name)
	}
	slices.Sort(left)
	return left
}

// shares finds what in a cell holds memory that devices use too, and reports whether
// functions of earlier cells are given some.
func (ev *Evaluator) shares(cell *checked) (others bool) {
	var nodes []ast.Node
	for _, d := range cell.funcs {
		nodes = append(nodes, d)
	}
	for _, m := range cell.methods {
		nodes = append(nodes, m.decl)
	}
	for _, s := range cell.stmts {
		nodes = append(nodes, s)
	}
	if cell.show != nil {
		nodes = append(nodes, cell.show)
	}
	return ev.lower.Shares(cell.info, nodes)
}

// relowerInstrumented has the functions of earlier cells tell what they read and write if
// this one is to, and else no more.
func (ev *Evaluator) relowerInstrumented() {
	for _, name := range ev.relower("check") {
		if ev.touches() {
			fmt.Fprintf(ev.route(ev.options.Stderr), "%s does not fit what cells declare now: what it reads and writes itself is not checked\n", name)
		}
	}
	ev.tells = ev.touches()
}
