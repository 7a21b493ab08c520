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

// redefinition is a cell on its way through the checker, with the declarations of earlier
// cells that are checked and compiled again with it.
type redefinition struct {
	ev *namespace
	*source
	name, code string

	with      []*kept
	followers []follower       // with, as it is among steps
	changed   map[string]bool  // names that mean something else once the cell has run
	misfits   map[*kept]string // what is not compiled again, and why
	renewed   map[string]bool  // types of earlier cells that are declared again because of a method's new signature
	left      []*kept          // functions of the cell that are not among steps: they call what is not declared yet
	used      bool             // a check has changed the steps

	cell  *checked
	notes []string // what keeps what was before
}

// parseCell parses a cell, which is checked next.
func (ev *namespace) parseCell(name, code string) (*redefinition, *Error) {
	src, syntax := parse(ev.fset, name, code)
	if syntax != nil {
		return nil, compileError(code, syntaxErrors(syntax))
	}
	return &redefinition{ev: ev, source: src, name: name, code: code}, nil
}

// refresh makes the steps ready for a check.
func (r *redefinition) refresh() {
	if r.used {
		r.source, _ = parse(r.ev.fset, r.name, r.code) // which was right before
		r.steps = slices.DeleteFunc(r.steps, func(s ast.Node) bool {
			d, ok := s.(*ast.FuncDecl)
			return ok && slices.ContainsFunc(r.left, func(k *kept) bool { return k.name == keptName(d) })
		})
	}
	r.used, r.followers = true, nil
	var steps []ast.Node
	for _, k := range r.with {
		open := ""
		if k.isType {
			open = "type "
		}
		text := fmt.Sprintf("package main\n%s/*line %s:%d:%d*/%s\n", open, k.cell, k.line, k.column, k.text)
		file, err := parser.ParseFile(r.ev.fset, "", text, parser.ParseComments)
		if err != nil {
			continue // it was parsed before
		}
		r.followers = append(r.followers, follower{k, file.Decls[0]})
		steps = append(steps, file.Decls[0])
	}
	r.steps = append(steps, r.steps...)
}

// of finds the follower whose source has a position.
func (r *redefinition) of(pos token.Pos) *kept {
	for _, f := range r.followers {
		if f.decl.Pos() <= pos && pos <= f.decl.End() {
			return f.kept
		}
	}
	return nil
}

func (r *redefinition) isFollower(n ast.Node) bool {
	return slices.ContainsFunc(r.followers, func(f follower) bool { return f.decl == n })
}

// check checks the cell with what it changes. Functions that call what no cell has declared
// yet are left out.
func (r *redefinition) check() *Error {
	mistakes, err := r.settle()
	if mistakes != nil && r.postpone(mistakes) {
		if again, err := r.settle(); again == nil && err == nil {
			mistakes = nil
		}
	}
	switch {
	case err != nil:
		return internalError(err)
	case mistakes != nil:
		return compileError(r.code, mistakes)
	}
	return nil
}

// settle checks the cell until it is known what follows it.
func (r *redefinition) settle() (mistakes []mistake, err error) {
	r.changed, r.misfits, r.renewed = r.redeclared(), make(map[*kept]string), make(map[string]bool)
	r.with = r.completed()
	r.with = append(r.with, r.dependents()...)
	for {
		if mistakes, err = r.once(); err != nil {
			return nil, err
		}
		if r.retyped() || r.dropMisfits(mistakes) {
			continue
		}
		if mistakes != nil {
			return mistakes, nil
		}
		maps.Copy(r.changed, r.ev.changedBy(r.cell))
		more := r.dependents()
		if len(more) == 0 {
			r.notes = r.unchanged()
			return nil, nil
		}
		r.with = append(r.with, more...)
	}
}

// once is one check.
func (r *redefinition) once() (mistakes []mistake, err error) {
	defer func() {
		if p := recover(); p != nil { // of go/types
			err = fmt.Errorf("the checker fails: %v", p)
		}
	}()
	r.cell, mistakes = r.checked()
	return mistakes, nil
}

// dropMisfits takes out what does not fit, and says whether there was something.
func (r *redefinition) dropMisfits(mistakes []mistake) bool {
	known := len(r.misfits)
	for _, m := range mistakes {
		if k := r.of(m.pos); k != nil && r.misfits[k] == "" {
			first, _, _ := strings.Cut(m.text, "\n")
			r.misfits[k] = fmt.Sprintf("%s:%d:%d: %s", m.file, m.line, m.column, first)
		}
	}
	r.with = slices.DeleteFunc(r.with, func(k *kept) bool { return r.misfits[k] != "" })
	return len(r.misfits) > known
}

// retyped says whether the cell gives methods of earlier types other signatures than was
// known. The types, if the cell does not declare them itself, and what uses them are
// declared again, too.
func (r *redefinition) retyped() (found bool) {
	own := r.declares()
	for name := range r.renewed {
		if k := r.ev.kept[name]; k != nil && !r.changed[name] {
			r.changed[name], found = true, true
			if !own[name] && !slices.Contains(r.with, k) {
				r.with = append(r.with, k)
			}
		}
	}
	if found {
		r.with = append(r.with, r.dependents()...)
	}
	return found
}

// redeclared are the types of earlier cells that the cell declares in other words.
func (r *redefinition) redeclared() map[string]bool {
	names := make(map[string]bool)
	if r.program {
		return names
	}
	for _, s := range r.steps {
		if d, ok := s.(*ast.GenDecl); ok && d.Tok == token.TYPE {
			for _, sp := range d.Specs {
				spec := sp.(*ast.TypeSpec)
				old, was := r.ev.typeText[spec.Name.Name]
				if _, isType := r.ev.names[spec.Name.Name].(*types.TypeName); was && isType && old.text != specText(spec) {
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
func (ev *namespace) changedBy(cell *checked) map[string]bool {
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

// dependents are further declarations of earlier cells that use one of the changed names,
// but for those that the cell declares itself. Methods that the cell of a type declared
// with it do not follow that: another cell is in its place.
func (r *redefinition) dependents() []*kept {
	if len(r.changed) == 0 || r.program {
		return nil
	}
	own, names, earlier := r.declares(), maps.Clone(r.changed), r.ev.kept
	var list []*kept
	for again := true; again; {
		again = false
		for _, k := range earlier {
			if own[k.name] || r.misfits[k] != "" || slices.Contains(r.with, k) || slices.Contains(list, k) {
				continue
			}
			if own[k.recv] && earlier[k.recv] != nil && earlier[k.recv].cell == k.cell {
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
func (r *redefinition) declares() map[string]bool {
	names := make(map[string]bool)
	for _, s := range r.steps {
		if r.isFollower(s) {
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
func (r *redefinition) unchanged() []string {
	ev := r.ev
	var notes []string
	through := make(map[string][]string)
	for k, why := range r.misfits {
		if k.missing != nil {
			notes = append(notes, fmt.Sprintf("%s does not fit: %s", k.name, why))
			delete(ev.waiting, k.name)
			continue
		}
		var of []string
		for name := range k.uses {
			if r.changed[name] {
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
		if again := r.cell.pkg.Scope().Lookup(name); !ok || again != nil && again.Pkg() == r.cell.pkg {
			continue
		}
		if t := mentions(v.Type(), func(n *types.Named) bool { return r.changed[n.Obj().Name()] && ev.names[n.Obj().Name()] == n.Obj() }); t != "" {
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
func (r *redefinition) keep() {
	ev := r.ev
	if r.program {
		return
	}
	own := r.declares()
	for name, k := range ev.kept {
		if own[name] || own[k.recv] && ev.kept[k.recv] != nil && ev.kept[k.recv].cell == k.cell {
			delete(ev.kept, name)
		}
	}
	for name := range own {
		delete(ev.waiting, name)
	}
	for _, f := range r.followers {
		if f.missing != nil {
			delete(ev.waiting, f.name)
			f.missing = nil
			ev.kept[f.name] = f.kept
		}
	}
	lines := lineStarts(r.code)
	bodies := make(map[*ast.BlockStmt]ast.Node) // of methods of types of earlier cells
	for _, m := range r.cell.methods {
		bodies[m.decl.Body] = m.decl.Type
	}
	for _, s := range r.steps {
		switch d := s.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == "main" || d.Name.Name == "init" || d.Name.Name == "_" || d.Body == nil {
				continue
			}
			k := ev.kept[keptName(d)]
			if !r.isFollower(d) {
				if k = ev.keptOf(d, r.code, lines); k == nil {
					continue
				}
				ev.kept[k.name] = k
			}
			k.uses = make(map[string]bool)
			usesOf(r.cell.info, d, k.uses)
			if typ := bodies[d.Body]; typ != nil {
				usesOf(r.cell.info, typ, k.uses)
			}
			if k.recv != "" {
				k.uses[k.recv] = true
			}
		case *ast.GenDecl:
			for _, sp := range d.Specs {
				spec, ok := sp.(*ast.TypeSpec)
				if !ok || r.isFollower(d) {
					continue
				}
				if k := ev.keptOf(spec, r.code, lines); k != nil {
					usesOf(r.cell.info, spec, k.uses)
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
func (ev *namespace) keptOf(n ast.Node, code string, lines []int) *kept {
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
func (r *redefinition) completed() []*kept {
	ev := r.ev
	if len(ev.waiting) == 0 || r.program {
		return nil
	}
	own := r.declares()
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
// call what no cell has declared yet. These are left out then.
func (r *redefinition) postpone(mistakes []mistake) bool {
	if r.program {
		return false
	}
	waits := make(map[*ast.FuncDecl][]string)
	for _, m := range mistakes {
		name, ok := strings.CutPrefix(m.text, "undefined: ")
		name, _, _ = strings.Cut(name, waitsFor)
		if !ok || !token.IsIdentifier(name) {
			return false
		}
		var in *ast.FuncDecl
		for _, s := range r.steps {
			if d, ok := s.(*ast.FuncDecl); ok && d.Recv == nil && d.Body != nil && d.Body.Pos() <= m.pos && m.pos < d.Body.End() {
				in = d
			}
		}
		if in == nil || !calls(in.Body, m.pos) {
			return false
		}
		waits[in] = append(waits[in], name)
	}
	var list []*kept
	lines := lineStarts(r.code)
	for d, missing := range waits {
		k := r.ev.keptOf(d, r.code, lines)
		if k == nil || d.Name.Name == "main" || d.Name.Name == "init" {
			return false
		}
		slices.Sort(missing)
		k.missing = slices.Compact(missing)
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b *kept) int { return cmp.Compare(a.name, b.name) })
	r.left = list
	return true
}

// waitsFor follows the name of a function that was postponed.
const waitsFor = " (it calls "

// waits says why a name is undefined whose function a cell has declared.
func (ev *namespace) waits(name string) string {
	k := ev.waiting[name]
	if k == nil {
		return ""
	}
	return fmt.Sprintf("%s%s, which no cell has declared yet)", waitsFor, strings.Join(k.missing, ", "))
}

// Missing lists what a function of that name calls and no cell has declared yet. Until
// then the function cannot be used.
func (ev *namespace) Missing(name string) []string {
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
	r, _ := ev.parseCell(name, "")
	for r.with = list; len(r.with) > 0; {
		mistakes, err := r.once()
		if err == nil && mistakes == nil {
			ev.beginLowering(name)
			entry, err := ev.build(name, r.cell, nil)
			if err != nil {
				ev.lower.Abandon()
				break
			}
			ev.adopt(r)
			if _, _, ok := ev.rt.Try(*entry); !ok {
				break
			}
			return left
		}
		r.misfits = make(map[*kept]string)
		if !r.dropMisfits(mistakes) {
			break
		}
		for k := range r.misfits {
			left = append(left, k.name)
		}
	}
	for _, k := range r.with {
		left = append(left, k.name)
	}
	slices.Sort(left)
	return left
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
