package golang

import (
	"go/scanner"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"strings"

	"gocuda/kernel/golang/lower"
	"gocuda/kernel/golang/rt"
)

// The syntax tree that the interpreter keeps of a function takes some hundred times the
// memory of its text, and most functions of a long session are not called by new cells
// any more. So the interpreter forgets those that no cell has named for long: what has a
// reference to one still runs it. A cell that names it gives its text to the
// interpreter again. Its variables stay, so both are the same function.

// functionsKept is how many functions the interpreter has at least; twice as many at most.
var functionsKept = 50

// functionTexts are the functions that cells declare, by their lowered names.
type functionTexts struct {
	known map[string]*functionText
	used  map[string]int // when one was named last; the interpreter has these
	now   int
}

// functionText is a function that cells declare.
type functionText struct {
	text     string
	loops    []*osrLoop // whose functions it calls
	literals []string   // which only it can name
}

func newFunctionTexts() functionTexts {
	return functionTexts{make(map[string]*functionText), make(map[string]int), 0}
}

// declared is what a lowered text declares, and what names it has.
type declared struct {
	functions map[string]string // their texts
	variables []string
	names     map[string]bool
}

func scanLowered(text string) declared {
	d := declared{functions: make(map[string]string), names: make(map[string]bool)}
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, []byte(text), nil, 0)
	name, from, depth, last, before := "", 0, 0, token.SEMICOLON, token.SEMICOLON
	for {
		pos, tok, lit := s.Scan()
		at := file.Offset(pos)
		switch tok {
		case token.EOF:
			return d
		case token.IDENT:
			d.names[lit] = true
			switch {
			case depth > 0 || before != token.SEMICOLON:
			case last == token.FUNC:
				name = lit
			case last == token.VAR:
				d.variables = append(d.variables, lit)
			}
		case token.FUNC:
			if depth == 0 && last == token.SEMICOLON {
				from = at
			}
		case token.LBRACE, token.LPAREN:
			depth++
		case token.RBRACE, token.RPAREN:
			depth--
		case token.SEMICOLON: // also at the end of a line that ends a declaration
			if depth == 0 && name != "" && s.ErrorCount == 0 {
				d.functions[name] = text[from:at]
				name = ""
			}
		}
		before, last = last, tok
	}
}

// missing are the texts of the functions that are named and that the interpreter has
// forgotten, with those that these name.
func (ev *machine) missing(names map[string]bool) (texts string, again []string) {
	f := &ev.functions
	f.now++
	var add strings.Builder
	var visit func(names map[string]bool)
	visit = func(names map[string]bool) {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			known := f.known[name]
			if known == nil {
				continue
			}
			_, has := f.used[name]
			if f.used[name] = f.now; has {
				continue
			}
			again = append(again, name)
			for _, c := range known.loops {
				ev.defineLoop(c)
			}
			add.WriteString("\n" + known.text + "\n")
			visit(scanLowered(known.text).names)
		}
	}
	visit(names)
	return add.String(), again
}

// longestCell is the longest lowered text of a cell whose functions can be forgotten:
// texts of whole programs are not kept.
const longestCell = 256 << 10

// keepFunctions notes the functions of a cell that the interpreter has compiled, and which
// functions these replace for good.
func (ev *machine) keepFunctions(d declared, replaced []string) {
	f := &ev.functions
	f.now++
	literals := false
	for name, text := range d.functions {
		if rt.IsBody(name) || name == "cell" || name == "init" || name == "main" {
			continue
		}
		known := &functionText{text: strings.Clone(text)}
		for _, c := range ev.fresh {
			if strings.Contains(text, lower.LoopSymbol(c.number)+"(") {
				known.loops = append(known.loops, c)
			}
		}
		f.known[name], f.used[name] = known, f.now
		literals = literals || lower.IsLiteral(name)
	}
	var gone []string
	if literals {
		gone = f.findLiterals(d)
	}
	for _, name := range replaced {
		for _, name := range lower.Names(name) {
			gone = append(gone, f.replace(name)...)
		}
	}
	if len(f.used) > 2*functionsKept {
		list := slices.SortedFunc(maps.Keys(f.used), func(a, b string) int { return f.used[a] - f.used[b] })
		gone = append(gone, list[:len(list)-functionsKept]...)
	}
	ev.forgetFunctions(gone)
}

// findLiterals notes which literals the functions of a cell have, and returns those of the
// cell's statements, which nothing names any more.
func (f *functionTexts) findLiterals(d declared) (gone []string) {
	for name := range d.functions {
		if known := f.known[name]; known != nil {
			for other := range scanLowered(known.text).names {
				if other != name && lower.IsLiteral(other) {
					known.literals = append(known.literals, other)
				}
			}
		}
	}
	named := make(map[string]bool)
	var visit func(name string)
	visit = func(name string) {
		if known := f.known[name]; known != nil && !named[name] {
			named[name] = true
			for _, literal := range known.literals {
				visit(literal)
			}
		}
	}
	for name := range d.functions {
		if !lower.IsLiteral(name) {
			visit(name)
		}
	}
	for name := range d.functions {
		if lower.IsLiteral(name) && !named[name] {
			delete(f.known, name)
			gone = append(gone, name)
		}
	}
	return gone
}

// replace has only that left of a function's text which calls the one in its place. It
// returns what the interpreter need not have any more.
func (f *functionTexts) replace(name string) (gone []string) {
	known := f.known[name]
	if known == nil {
		return nil
	}
	f.known[name] = &functionText{text: lower.Redirected(known.text)}
	return append(f.dropLiterals(known), name)
}

// dropLiterals forgets the literals of a function.
func (f *functionTexts) dropLiterals(of *functionText) (gone []string) {
	for _, name := range of.literals {
		if known := f.known[name]; known != nil {
			delete(f.known, name)
			gone = append(append(gone, name), f.dropLiterals(known)...)
		}
	}
	return gone
}

// forgetFunctions takes functions from the interpreter.
func (ev *machine) forgetFunctions(names []string) {
	if len(names) == 0 {
		return
	}
	symbols := ev.symbols()
	if !symbols.IsValid() || !symbols.CanAddr() {
		return
	}
	symbols = settable(symbols)
	ev.bodyNames = maps.Clone(ev.bodyNames) // which others read
	for _, name := range names {
		if ev.unseen[name] { // it may run still, and be seen in a stack
			ev.see(symbols, name)
		}
		symbols.SetMapIndex(reflect.ValueOf(name), reflect.Value{})
		delete(ev.functions.used, name)
	}
}
