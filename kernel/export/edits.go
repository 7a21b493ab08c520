package export

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"gocuda/kernel/golang"
)

// statement writes a step of a cell's function.
func (p *part) statement(i int, c *cell, n ast.Node, last bool) string {
	edits := p.edits(c, n, true)
	info := c.typed.Info
	after := ""
	switch n := n.(type) {
	case *ast.GenDecl:
		things := p.declared(c, n)
		if len(things) > 0 && things[0].shared {
			return p.assignments(c, n)
		}
		after = p.unread(things)
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			things := p.declared(c, n)
			if len(things) > 0 && things[0].shared || len(things) == 0 {
				edits = append(edits, p.edit(n.TokPos, 2, "="))
			} else {
				after = p.unread(things)
			}
		}
	case *ast.ExprStmt:
		open, closing := p.wrap(c, n, last && c.typed.Shows)
		from, to := n.Pos(), n.End()
		if e := p.several(c, n); e != nil {
			from, to = e.Elts[0].Pos(), e.Elts[len(e.Elts)-1].End()
		}
		if open != "" {
			edits = slices.Insert(edits, 0, p.edit(from, 0, open))
			edits = append(edits, p.edit(to, 0, closing))
		} else if !isCall(n.X, info) {
			edits = slices.Insert(edits, 0, p.edit(from, 0, "_ = "))
		}
	}
	return p.text(c, n, edits) + after
}

// isCall says whether an expression can be a statement of Go.
func isCall(e ast.Expr, info *types.Info) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		if info.Types[e.Fun].IsType() {
			return false
		}
		if id, ok := ast.Unparen(e.Fun).(*ast.Ident); ok {
			if b, ok := info.Uses[id].(*types.Builtin); ok {
				return slices.Contains([]string{"clear", "close", "copy", "delete", "panic", "print", "println", "recover"}, b.Name())
			}
		}
		return true
	case *ast.UnaryExpr:
		return e.Op == token.ARROW
	}
	return false
}

// wrap is what stands around an expression at a cell's outer level: an error that
// a call returns last ends the program, and the last expression's value is shown.
func (p *part) wrap(c *cell, s *ast.ExprStmt, shows bool) (open, closing string) {
	info := c.typed.Info
	if p.several(c, s) != nil {
		p.listed = true
		return "show(", ")"
	}
	e := ast.Unparen(s.X)
	call, isCall := e.(*ast.CallExpr)
	if isCall && (info.Types[call.Fun].IsVoid() || info.Types[e].IsVoid()) {
		return "", ""
	}
	t := info.Types[e].Type
	tuple, isTuple := t.(*types.Tuple)
	n := 1
	lastType := t
	if isTuple {
		if n = tuple.Len(); n == 0 {
			return "", ""
		}
		lastType = tuple.At(n - 1).Type()
	}
	quiet := isCall && p.ev.IsQuiet(info, call)
	hasError := isCall && !info.Types[call.Fun].IsType() && lastType != nil && types.Identical(lastType, types.Universe.Lookup("error").Type())
	if quiet {
		return "", ""
	}
	if hasError {
		n--
		open, closing = p.must(n)+"(", ")"
		if n == 0 {
			return open, closing
		}
	}
	switch {
	case !shows, isHandle(t) && !hasError:
	case n > 1:
		p.listed = true
		return "show(" + open, closing + ")"
	default:
		return "display.Show(" + open, closing + ")"
	}
	return open, closing
}

// isHandle tells the value of display.Show, for which nothing is shown.
func isHandle(t types.Type) bool {
	n, ok := t.(*types.Named)
	return ok && n.Obj().Name() == "Handle" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "gocuda/kernel/display"
}

// unread uses variables that nothing reads, as Go demands.
func (p *part) unread(list []*thing) string {
	var b strings.Builder
	for _, t := range list {
		if !t.read && !t.shared {
			b.WriteString("\n_ = " + t.name)
		}
	}
	return b.String()
}

// assignments are a declaration of variables of the package as statements.
func (p *part) assignments(c *cell, n *ast.GenDecl) string {
	var lines []string
	for _, s := range n.Specs {
		spec := s.(*ast.ValueSpec)
		names := make([]string, len(spec.Names))
		for i, id := range spec.Names {
			names[i] = "_"
			t := p.things[c.typed.Info.Defs[id]]
			if t == nil {
				continue
			}
			names[i] = t.name
			if len(spec.Values) == 0 && len(t.decls) > 1 && t.decls[0] != ast.Node(n) {
				lines = append(lines, names[i]+" = *new("+p.typeText(c, t.first.Type())+")")
			}
		}
		if len(spec.Values) == 0 {
			continue
		}
		values := make([]string, len(spec.Values))
		for i, v := range spec.Values {
			values[i] = p.text(c, v, p.edits(c, v, true))
			if spec.Type != nil && names[min(i, len(names)-1)] == "_" {
				values[i] = "(" + p.typeText(c, c.typed.Info.Types[spec.Type].Type) + ")(" + values[i] + ")"
			}
		}
		lines = append(lines, strings.Join(names, ", ")+" = "+strings.Join(values, ", "))
	}
	return strings.Join(lines, "\n")
}

// edits are what a node's text needs in the program: the names of things, the
// functions for must, ranks' variables, and what Go demands of unused ones.
func (p *part) edits(c *cell, n ast.Node, statement bool) (list []edit) {
	info := c.typed.Info
	var stack []ast.Node
	ast.Inspect(n, func(m ast.Node) bool {
		if m == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, m)
		switch m := m.(type) {
		case *ast.ExprStmt:
			if statement && ast.Node(m) != n && !slices.ContainsFunc(stack, isLiteral) {
				if open, closing := p.wrap(c, m, false); open != "" {
					list = append(list, p.edit(m.Pos(), 0, open), p.edit(m.End(), 0, closing))
				}
			}
		case *ast.CallExpr:
			if count, ok := c.typed.Musts[m]; ok {
				list = append(list, p.edit(m.Fun.Pos(), len("must"), p.must(count)))
			}
			list = append(list, p.rewritten(c, m)...)
		case *ast.Ident:
			if slices.Contains(c.typed.Unused, m) {
				list = append(list, p.unused(m, stack)...)
				return true
			}
			o := info.Uses[m]
			if o == nil {
				o = info.Defs[m]
			}
			if o != nil && o.Pkg() != nil && o.Pkg().Path() == golang.BuiltinPath {
				switch name := o.Name(); name {
				case startName:
					list = append(list, p.edit(m.Pos(), len(startName), p.assigned(c, stack)+"spmd.Start"))
				case "check", "judge", "todo":
					list = append(list, p.edit(m.Pos(), len(name), p.judge(name)))
				default:
					p.builtin(c, m)
				}
			}
			if t := p.things[o]; t != nil && t.name != o.Name() {
				list = append(list, p.edit(m.Pos(), len(o.Name()), t.name))
				if len(stack) > 1 {
					if f, ok := stack[len(stack)-2].(*ast.Field); ok && len(f.Names) == 0 && isEmbedded(stack) {
						p.x.fail(c.number, 0, "embeds the type %s, which is declared again: a program cannot have two fields of that name", o.Name())
					}
				}
			}
		}
		return true
	})
	return list
}

// assigned is the assignment to the variable that says how many ranks to start, the
// innermost call's only argument, if it is one: the job's size is its value then.
func (p *part) assigned(c *cell, stack []ast.Node) string {
	call, ok := stack[len(stack)-2].(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return ""
	}
	id, _ := ast.Unparen(call.Args[0]).(*ast.Ident)
	v, ok := c.typed.Info.Uses[id].(*types.Var)
	if !ok || p.things[v] == nil {
		return ""
	}
	return p.things[v].name + " = "
}

func isLiteral(n ast.Node) bool { _, ok := n.(*ast.FuncLit); return ok }

// isEmbedded says whether the field at hand is of a struct.
func isEmbedded(stack []ast.Node) bool {
	if len(stack) < 4 {
		return false
	}
	_, ok := stack[len(stack)-4].(*ast.StructType)
	return ok
}

// builtin reports functions that only the kernel has.
func (p *part) builtin(c *cell, id *ast.Ident) {
	_, line, _ := p.ev.Place(id.Pos())
	p.x.fail(c.number, line, "%s asks the notebook's user: a program reads os.Stdin", id.Name)
}

// rewritten are calls that a program makes of other packages.
func (p *part) rewritten(c *cell, call *ast.CallExpr) []edit {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	f, ok := c.typed.Info.Uses[sel.Sel].(*types.Func)
	if !ok || f.Pkg() == nil {
		return nil
	}
	pkg, ok := sel.X.(*ast.Ident)
	if !ok {
		return nil
	}
	if _, ok := c.typed.Info.Uses[pkg].(*types.PkgName); !ok {
		return nil
	}
	_, line, _ := p.ev.Place(call.Pos())
	switch f.Pkg().Path() + "." + f.Name() {
	case "gocuda/cudaapi/mpi.Push", "gocuda/cudaapi/mpi.Pull":
		if len(call.Args) > 0 && c.typed.Info.Types[call.Args[0]].Value == nil {
			p.x.fail(c.number, line, "mpi.%s needs a constant name in a program", f.Name())
		}
		return []edit{p.edit(pkg.Pos(), len(pkg.Name), "spmd")}
	case "gocuda/cudaapi/mpi.World":
		if p.name == ranksPackage {
			return []edit{p.edit(pkg.Pos(), len(pkg.Name), "spmd")}
		}
	case "gocuda/cudaapi/cuda.Leaks":
		if p.x.started {
			return []edit{p.edit(pkg.Pos(), len(pkg.Name), "spmd")}
		}
	}
	if f.Pkg().Path() == "gocuda/kernel/widgets" {
		p.x.tell(c.number, line, "widgets.%s: a program has no widgets; it prints their text", f.Name())
	}
	return nil
}

// copies tells the ranks' part which variables a cell pushes and pulls, before its
// ranks' cells are checked.
func (p *part) copies(c *cell) {
	for _, n := range slices.Concat(nodes(c.typed.Followers), c.typed.Steps) {
		ast.Inspect(n, func(m ast.Node) bool {
			call, ok := m.(*ast.CallExpr)
			if !ok || len(p.rewritten(c, call)) == 0 || len(call.Args) == 0 || c.typed.Info.Types[call.Args[0]].Value == nil {
				return true
			}
			name := constant.StringVal(c.typed.Info.Types[call.Args[0]].Value)
			ranks := p.x.ranks
			ranks.copied[name] = true
			if len(call.Args) == 2 {
				ranks.receive(c, name, c.typed.Info.Types[call.Args[1]].Type)
			}
			return true
		})
	}
}

// receive declares a variable that the notebook sets.
func (p *part) receive(c *cell, name string, t types.Type) {
	code := "var " + name + " " + types.TypeString(types.Default(t), func(pkg *types.Package) string {
		if pkg.Path() == "main" {
			return ""
		}
		return pkg.Name()
	})
	d := &cell{name: "the variable " + name + " that cell " + c.name[len("cell "):] + " pushes", code: code, number: -c.number}
	typed, e := p.ev.Check(d.name, d.code)
	if e != nil {
		p.x.fail(c.number, 0, "mpi.Push(%q): the ranks do not have its type: %s", name, e.Message)
		return
	}
	d.typed = typed
	p.cells = append(p.cells, d)
}

// unused are the edits that make Go accept a variable of a function that nothing
// reads.
func (p *part) unused(id *ast.Ident, stack []ast.Node) []edit {
	for k := len(stack) - 2; k >= 0; k-- {
		stmt, ok := stack[k].(ast.Stmt)
		if !ok {
			continue
		}
		list := []ast.Stmt{stmt} // of the cell
		var parent ast.Node
		if k > 0 {
			list, parent = nil, stack[k-1]
		}
		switch block := parent.(type) {
		case *ast.BlockStmt:
			list = block.List
		case *ast.CaseClause:
			list = block.Body
		case *ast.CommClause:
			list = block.Body
		}
		if !slices.Contains(list, stmt) {
			if a, ok := stmt.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
				return p.blank(id, a, parent)
			}
			continue
		}
		switch s := stmt.(type) {
		case *ast.RangeStmt:
			edits := []edit{p.edit(id.Pos(), len(id.Name), "_")}
			if other := s.Value; s.Key == ast.Expr(id) && (other == nil || isBlank(other)) || s.Value == ast.Expr(id) && isBlank(s.Key) {
				edits = append(edits, p.edit(s.TokPos, 2, "="))
			}
			return edits
		}
		return []edit{p.edit(stmt.End(), 0, "\n_ = "+id.Name)}
	}
	return nil
}

// blank makes a variable of a statement's head blank.
func (p *part) blank(id *ast.Ident, a *ast.AssignStmt, parent ast.Node) []edit {
	if s, ok := parent.(*ast.TypeSwitchStmt); ok && s.Assign == ast.Stmt(a) {
		return []edit{p.edit(id.Pos(), int(a.Rhs[0].Pos()-id.Pos()), "")}
	}
	edits := []edit{p.edit(id.Pos(), len(id.Name), "_")}
	if !slices.ContainsFunc(a.Lhs, func(e ast.Expr) bool { return e != ast.Expr(id) && !isBlank(e) }) {
		edits = append(edits, p.edit(a.TokPos, 2, "="))
	}
	return edits
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}
