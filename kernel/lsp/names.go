package lsp

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"gocuda/kernel/golang"
)

// spot is where text of a cell begins: the cell's number and an offset in bytes.
type spot struct{ cell, at int }

// mention is where an identifier stands, and where what it means is declared.
type mention struct {
	spot
	name     string
	declared spot // cell -1: not in these cells
	field    bool // a field or a method
}

// names are the identifiers of the cells that could be checked.
type names struct {
	list     []cell
	mentions []mention
	noted    map[mention]bool // those of mentions
	embedded map[spot]spot    // from an embedded field to the type that names it
	unsure   []int            // the cells whose identifiers are not known
	symbols  []object
}

// add notes the identifiers of a cell.
func (n *names) add(ev *golang.Evaluator, number int, typed *golang.Typed) {
	for id, o := range typed.Info.Uses {
		n.note(ev, number, id, o)
		if f, ok := typed.Info.Defs[id].(*types.Var); ok && f.Embedded() {
			n.embedded[n.place(ev, f.Pos())] = n.place(ev, o.Pos())
		}
	}
	for id, o := range typed.Info.Defs {
		if f, ok := o.(*types.Var); ok && f.Embedded() {
			continue
		}
		n.note(ev, number, id, o)
	}
}

func (n *names) note(ev *golang.Evaluator, number int, id *ast.Ident, o types.Object) {
	here := n.place(ev, id.Pos())
	if id.Name == "_" || here.cell != number || !n.list[number].has(here.at, id.Name) {
		return
	}
	m := mention{spot: here, name: id.Name, declared: here}
	switch v := o.(type) {
	case nil: // of a type switch
	case *types.Var:
		o, m.field = v.Origin(), v.IsField()
	case *types.Func:
		o, m.field = v.Origin(), v.Signature().Recv() != nil
	}
	if o != nil {
		m.declared = n.place(ev, o.Pos())
		if m.declared.cell >= 0 && !n.list[m.declared.cell].has(m.declared.at, id.Name) && !m.field {
			m.declared.cell = -1
		}
	}
	if !n.noted[m] {
		n.noted[m] = true
		n.mentions = append(n.mentions, m)
	}
}

// place is the spot of a position; its cell is -1 where that is in none.
func (n *names) place(ev *golang.Evaluator, pos token.Pos) spot {
	if !pos.IsValid() {
		return spot{-1, 0}
	}
	name, line, column := ev.Place(pos)
	digits, ok := strings.CutPrefix(name, "cell")
	number, err := strconv.Atoi(digits)
	if !ok || err != nil || number >= len(n.list) {
		return spot{-1, 0}
	}
	return spot{number, n.list[number].offset(line, column)}
}

// offset is where a line and column, from 1, are in the cell.
func (c cell) offset(line, column int) int {
	at := 0
	for ; line > 1; line-- {
		i := strings.IndexByte(c.code[at:], '\n')
		if i < 0 {
			return len(c.code)
		}
		at += i + 1
	}
	return min(at+max(column-1, 0), len(c.code))
}

// has says whether an identifier stands at an offset.
func (c cell) has(at int, name string) bool {
	return at <= len(c.code) && word.FindString(c.code[at:]) == name
}

// at is the identifier that is at, or ends at, an offset of a cell.
func (n *names) at(s spot) (mention, bool) {
	for _, m := range n.mentions {
		if m.cell == s.cell && m.at <= s.at && s.at <= m.at+len(m.name) {
			return m, true
		}
	}
	return mention{}, false
}

// origin is where what an identifier means is declared: an embedded field is its type.
func (n *names) origin(m mention) spot {
	if of, ok := n.embedded[m.declared]; ok {
		return of
	}
	return m.declared
}

// same are all identifiers that mean what m does, in order.
func (n *names) same(m mention) (list []mention) {
	if n.origin(m).cell < 0 {
		return nil
	}
	for _, o := range n.mentions {
		if o.name == m.name && n.origin(o) == n.origin(m) {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b mention) int {
		if a.cell != b.cell {
			return a.cell - b.cell
		}
		return a.at - b.at
	})
	return slices.CompactFunc(list, func(a, b mention) bool { return a.spot == b.spot })
}

// span is a mention as a range of the document.
func (n *names) span(m mention) object {
	c := n.list[m.cell]
	return object{"start": c.position(m.at), "end": c.position(m.at + len(m.name))}
}

// rename says what to replace so that what m means is called name.
func (n *names) rename(m mention, name string) ([]object, error) {
	from := n.origin(m)
	if from.cell < 0 || !n.list[from.cell].has(from.at, m.name) {
		return nil, fmt.Errorf("%s is not declared in these cells, or where its declaration cannot be changed", m.name)
	}
	if !token.IsIdentifier(name) || name == "_" {
		return nil, fmt.Errorf("%q cannot be a name in Go", name)
	}
	if token.IsExported(m.name) != token.IsExported(name) && m.field {
		return nil, fmt.Errorf("%s and %s differ in whether packages see them, as encoding/json does", m.name, name)
	}
	for _, i := range n.unsure {
		if has(n.list[i].code, m.name) {
			return nil, fmt.Errorf("the cell at line %d has the name %s too, and its names are not known: it has a mistake, or code of kernels or ranks", n.list[i].line+1, m.name)
		}
	}
	for _, o := range n.mentions {
		if o.name == name {
			return nil, fmt.Errorf("%s is a name in these cells already, in line %d", name, n.list[o.cell].position(o.at).Line+1)
		}
	}
	var edits []object
	for _, o := range n.same(m) {
		edits = append(edits, object{"range": n.span(o), "newText": name})
	}
	return edits, nil
}

// has says whether Go has an identifier.
func has(code, name string) bool {
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", -1, len(code)), []byte(code), nil, 0)
	for {
		_, tok, text := s.Scan()
		if tok == token.EOF {
			return false
		}
		if tok == token.IDENT && text == name {
			return true
		}
	}
}

// symbolKinds are those of symbols, by their numbers in the protocol.
var symbolKinds = map[token.Token]int{token.TYPE: 5, token.FUNC: 12, token.VAR: 13, token.CONST: 14}

// addSymbols notes what a cell declares at its outer level.
func (n *names) addSymbols(ev *golang.Evaluator, typed *golang.Typed) {
	add := func(id *ast.Ident, title string, tok token.Token, node ast.Node) {
		name, from, to := n.place(ev, id.Pos()), n.place(ev, node.Pos()), n.place(ev, node.End())
		if id.Name == "_" || name.cell < 0 || from.cell != name.cell || to.cell != name.cell || !n.list[name.cell].has(name.at, id.Name) {
			return
		}
		c := n.list[name.cell]
		n.symbols = append(n.symbols, object{
			"name": title, "kind": symbolKinds[tok],
			"selectionRange": object{"start": c.position(name.at), "end": c.position(name.at + len(id.Name))},
			"range":          object{"start": c.position(min(from.at, name.at)), "end": c.position(max(to.at, name.at+len(id.Name)))},
		})
	}
	for _, step := range typed.Steps {
		switch d := step.(type) {
		case *ast.FuncDecl:
			title := d.Name.Name
			if d.Recv != nil && len(d.Recv.List) > 0 {
				title = "(" + types.ExprString(d.Recv.List[0].Type) + ")." + title
			}
			add(d.Name, title, token.FUNC, d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name, spec.Name.Name, d.Tok, spec)
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						add(id, id.Name, d.Tok, spec)
					}
				}
			}
		case *ast.AssignStmt:
			for _, x := range d.Lhs {
				if id, ok := x.(*ast.Ident); ok && d.Tok == token.DEFINE {
					add(id, id.Name, token.VAR, d)
				}
			}
		}
	}
}

// answer answers a request about the identifier at a position.
func (n *names) answer(method, uri string, p position, name string, declaration bool) (any, int, error) {
	m, ok := mention{}, false
	if c, at, in := cellAt(n.list, p); in {
		m, ok = n.at(spot{slices.Index(n.list, c), at})
	}
	if method == "textDocument/rename" {
		if !ok {
			return nil, invalidParams, fmt.Errorf("no name of Go that is known stands here")
		}
		edits, err := n.rename(m, name)
		if err != nil {
			return nil, invalidParams, err
		}
		return object{"changes": object{uri: edits}}, 0, nil
	}
	found := []object{}
	for _, o := range n.same(m) {
		switch declared := o.spot == n.origin(m); {
		case !ok:
		case method == "textDocument/documentHighlight":
			found = append(found, object{"range": n.span(o)})
		case method == "textDocument/definition" && declared, method == "textDocument/references" && (declaration || !declared):
			found = append(found, object{"uri": uri, "range": n.span(o)})
		}
	}
	return found, 0, nil
}
