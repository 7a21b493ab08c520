package golang

import (
	"go/scanner"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"strings"

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
	text map[string]string
	used map[string]int // when one was named last; the interpreter has these
	now  int
}

func newFunctionTexts() functionTexts {
	return functionTexts{make(map[string]string), make(map[string]int), 0}
}

// scanFunctions gives the functions that a lowered text declares, and what names it has.
func scanFunctions(text string) (declared map[string]string, names map[string]bool) {
	declared, names = make(map[string]string), make(map[string]bool)
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, []byte(text), nil, 0)
	name, from, depth, last, before := "", 0, 0, token.SEMICOLON, token.SEMICOLON
	for {
		pos, tok, lit := s.Scan()
		at := file.Offset(pos)
		switch tok {
		case token.EOF:
			return declared, names
		case token.IDENT:
			names[lit] = true
			if depth == 0 && last == token.FUNC && before == token.SEMICOLON {
				name = lit
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
				declared[name] = text[from:at]
				name = ""
			}
		}
		before, last = last, tok
	}
}

// whole adds to a lowered text the functions that it names and the interpreter has
// forgotten.
func (f *functionTexts) whole(text string) (string, []string) {
	if len(f.text) == 0 || !strings.HasPrefix(text, "package ") {
		return text, nil // an expression, of what was just declared
	}
	f.now++
	var again []string
	var add strings.Builder
	var visit func(text string)
	visit = func(text string) {
		_, names := scanFunctions(text)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			declared, ok := f.text[name]
			if !ok {
				continue
			}
			_, has := f.used[name]
			if f.used[name] = f.now; !has {
				again = append(again, name)
				add.WriteString("\n" + declared + "\n")
				visit(declared)
			}
		}
	}
	visit(text)
	if len(again) == 0 {
		return text, nil
	}
	return text + add.String(), again
}

// longestCell is the longest lowered text of a cell whose functions can be forgotten:
// texts of whole programs are not kept.
const longestCell = 256 << 10

// declares notes the functions of a cell that the interpreter has compiled.
func (f *functionTexts) declares(text string) {
	if len(text) > longestCell {
		return
	}
	f.now++
	declared, _ := scanFunctions(text)
	for name, text := range declared {
		if !rt.IsBody(name) && name != "cell" && name != "init" && name != "main" {
			f.text[name], f.used[name] = strings.Clone(text), f.now
		}
	}
}

// forgetFunctions takes the functions from the interpreter that were named longest ago.
func (ev *Evaluator) forgetFunctions() {
	f := &ev.functions
	if len(f.used) <= 2*functionsKept {
		return
	}
	symbols := ev.symbols()
	if !symbols.IsValid() || !symbols.CanAddr() {
		return
	}
	symbols = reflect.NewAt(symbols.Type(), symbols.Addr().UnsafePointer()).Elem()
	ev.bodyNames = maps.Clone(ev.bodyNames) // which others read
	list := slices.SortedFunc(maps.Keys(f.used), func(a, b string) int { return f.used[a] - f.used[b] })
	for _, name := range list[:len(list)-functionsKept] {
		key := reflect.ValueOf(name)
		if symbol := symbols.MapIndex(key); symbol.IsValid() {
			node := symbol.Elem().FieldByName("node")
			if ev.bodyOf[name] != node.Pointer() { // it may run still, and be seen in a stack
				addBodies(node, name, ev.bodyNames)
			}
			delete(ev.bodyOf, name)
			symbols.SetMapIndex(key, reflect.Value{})
		}
		delete(f.used, name)
	}
}
