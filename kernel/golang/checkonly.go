package golang

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Typed is a cell that was checked and not run, for those who write it as a
// program. Positions lie in the cells' code: see Place.
type Typed struct {
	Name string
	Info *types.Info
	Pkg  *types.Package
	// Imports are the cell's own; Steps are the rest of what it has at its outer
	// level, in order: *ast.GenDecl, *ast.FuncDecl and ast.Stmt. Followers are
	// functions, methods and types of earlier cells that use what the cell declares
	// again, or that called what no cell had declared before.
	Imports   []*ast.GenDecl
	Steps     []ast.Node
	Followers []ast.Decl
	// Postponed are functions of the cell that call what no cell has declared yet:
	// they are not among Steps, but followers of the cell that declares that.
	Postponed []Postponed
	// Shows says that the value of the last step, an expression, is shown; if it is
	// Several, that is a slice literal of what the cell lists.
	Shows, Several bool
	// Musts are the calls of must, with how many values they give.
	Musts map[*ast.CallExpr]int
	// Unused are variables inside of functions that Go would not allow.
	Unused []*ast.Ident
	// Again are methods that another cell has declared before.
	Again []*ast.FuncDecl
	// Program says that the cell has a package clause.
	Program bool
	// Notes say what the session would: which functions keep what was before.
	Notes []string
}

// Postponed is a function by its place in a cell, line and column from 1, and its text.
type Postponed struct {
	Name         string
	Line, Column int
	Text         string
}

// Check checks a cell as Eval does, and makes its names known to later cells as if
// it had run. Nothing is run, and no file of go:embed is read.
func (ev *Evaluator) Check(name, code string) (*Typed, *Error) {
	ev.turn.Lock()
	defer ev.turn.Unlock()
	defer ev.gate.close()()
	if err := ev.require(name, code); err != nil {
		return nil, err
	}
	ev.mu.Lock()
	defer ev.mu.Unlock()
	r, e := ev.parseCell(name, code)
	if e == nil {
		e = r.check()
	}
	if e != nil {
		return nil, e
	}
	cell := r.cell
	t := &Typed{
		Name: name, Info: cell.info, Pkg: cell.pkg, Imports: r.imports, Steps: slices.Clone(r.steps),
		Shows: r.shows, Several: r.several, Musts: cell.musts, Unused: cell.unused, Program: r.program, Notes: r.notes,
	}
	for _, f := range r.followers {
		t.Followers = append(t.Followers, f.decl)
		t.Steps = slices.DeleteFunc(t.Steps, func(n ast.Node) bool { return n == f.decl })
	}
	for _, m := range cell.methods {
		if m.old != nil {
			t.Again = append(t.Again, m.decl)
		}
	}
	ev.adopt(r)
	for _, k := range r.left {
		t.Postponed = append(t.Postponed, Postponed{k.name, k.line, k.column, k.text})
	}
	return t, nil
}

// Place is where a position of a checked cell lies: the cell that the text stands
// in, the line from 1, and the column in bytes from 1.
func (ev *namespace) Place(pos token.Pos) (cell string, line, column int) {
	p := ev.fset.Position(pos)
	return p.Filename, p.Line, p.Column
}

// BuiltinPath is the package of the functions that the kernel adds to Go's.
const BuiltinPath = builtinPath

// IsQuiet says whether nobody wants to see what a call returns in a cell: the number of
// bytes that fmt wrote, the size of a copy.
func (ev *Evaluator) IsQuiet(info *types.Info, call *ast.CallExpr) bool {
	return ev.lower.IsQuiet(info, call)
}
