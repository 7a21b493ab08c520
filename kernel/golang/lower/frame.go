package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// A direct call's arguments are fields of its frame, and to make one takes the
// interpreter a third of the call. In a loop most of them stay the same from turn
// to turn: kernel, grid, block, stream. So one frame, made before the outermost
// loop, serves all turns, and only what may change is written to it.

// outermost is the outermost loop that is being lowered.
type outermost struct {
	node     ast.Node
	hoisted  *strings.Builder      // variables declared in front of it
	assigned map[types.Object]bool // the variables that its statements assign to; nil until asked for
	open     bool                  // it calls or waits for code that may assign to package variables
	frames   map[string]string     // what makes the calls whose frames are hoisted, by these
	fixed    map[string]bool       // the frames to which no turn writes an argument
}

// look finds what the loop assigns to.
func (o *outermost) look(f *fn) {
	if o.assigned != nil {
		return
	}
	a := &analysis{f: f, assigned: make(map[types.Object]bool)}
	o.assigned = a.assigned
	assign := func(e ast.Expr) {
		a.assign(e)
		if _, ok := ast.Unparen(e).(*ast.Ident); !ok {
			o.open = true // it may be what a pointer points to
		}
	}
	ast.Inspect(o.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				assign(x)
			}
		case *ast.IncDecStmt:
			assign(n.X)
		case *ast.RangeStmt:
			for _, x := range []ast.Expr{n.Key, n.Value} {
				if x != nil {
					assign(x)
				}
			}
			switch f.rangeType(n.X).(type) {
			case *types.Chan, *types.Signature:
				o.open = true
			}
		case *ast.CallExpr:
			o.open = o.open || !f.closed(n)
		case *ast.SendStmt, *ast.SelectStmt, *ast.GoStmt, *ast.DeferStmt, *ast.FuncLit:
			o.open = true
		case *ast.UnaryExpr:
			o.open = o.open || n.Op == token.ARROW
		}
		return true
	})
}

// closed says whether a call runs no code of cells, and none that waits for it.
func (f *fn) closed(e *ast.CallExpr) bool {
	fun := ast.Unparen(e.Fun)
	if tv := f.info.Types[fun]; tv.IsType() || tv.IsBuiltin() {
		return true
	}
	o := f.compiled(e)
	if o == nil {
		return false
	}
	waits, _ := f.l.host.DirectTraits(o.FullName())
	return !waits
}

// compiled is the direct function that a call calls, or nil.
func (f *fn) compiled(e *ast.CallExpr) *types.Func {
	id := calledName(e.Fun)
	if id == nil {
		return nil
	}
	o, ok := f.info.Uses[id].(*types.Func)
	if !ok {
		return nil
	}
	if _, ok = f.l.host.Direct(o.FullName()); !ok {
		return nil
	}
	return o
}

// unchanged is the text of a variable that has one value in all turns of the
// outermost loop, "" of any other.
func (f *fn) unchanged(id *ast.Ident) string {
	v, ok := f.info.Uses[id].(*types.Var)
	if !ok || v.IsField() {
		return ""
	}
	o := f.outermost
	o.look(f)
	if o.assigned[v] || o.node.Pos() <= v.Pos() && v.Pos() < o.node.End() {
		return ""
	}
	if isPackageLevel(v) {
		if o.open {
			return ""
		}
		return f.l.Global(v)
	}
	if l := f.find(v); l != nil && !l.boxed {
		return l.name
	}
	return ""
}

// stays says whether an argument has one value in all turns: whether its text has
// nothing but the names of variables among e that do so, and constants.
func (f *fn) stays(text string, e ...ast.Expr) bool {
	if len(e) == 1 && text[0] != '[' && (f.info.Types[e[0]].Value != nil || f.isNil(e[0]) || f.repeats(e[0], text)) {
		return true
	}
	known := map[string]bool{"any": true, "nil": true, "noAny": true, "noInts": true, "true": true, "false": true}
	for _, x := range e {
		if id, ok := ast.Unparen(x).(*ast.Ident); ok {
			known[f.unchanged(id)] = true
		} else if f.info.Types[x].Value == nil {
			return false
		}
	}
	if strings.Contains(text, "\"") {
		return false
	}
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune("()[]{}, .-", c) }) {
		if number := '0' <= word[0] && word[0] <= '9'; !number && !known[word] && types.Universe.Lookup(word) == nil {
			return false
		}
	}
	return !strings.HasPrefix(text, "&")
}

// repeats says whether an expression that is written as text is a call that gives
// the same in each turn, such as cuda.Block(256).
func (f *fn) repeats(e ast.Expr, text string) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	fun := f.compiled(call)
	if fun == nil {
		return false
	}
	_, pure := f.l.host.DirectTraits(fun.FullName())
	frame := f.outermost.frameOf(strings.TrimSuffix(text, ".R"))
	return pure && frame != "" && f.outermost.fixed[frame]
}

// frameOf is the hoisted frame of a direct call that is written as text; "" if it
// has none.
func (o *outermost) frameOf(call string) string {
	_, name, _ := strings.Cut(strings.TrimSuffix(call, ")"), "(")
	if o.frames[name] != call {
		return ""
	}
	return name
}

// arguments writes the frame of a direct call: of the arguments, receiver first, that
// are written as args.
func (f *fn) arguments(e *ast.CallExpr, typ string, args []string) string {
	values := make([]string, len(args))
	for i, a := range args {
		values[i] = strings.TrimSuffix(a, "...")
	}
	if f.outermost == nil {
		return typ + literal(values, nil)
	}
	changing := f.changing(e, args)
	if 2*len(changing) > len(args) {
		return typ + literal(values, nil)
	}
	name := f.temp()
	put := f.outermost
	if put.frames == nil {
		put.frames, put.fixed = make(map[string]string), make(map[string]bool)
	}
	put.frames[name], put.fixed[name] = typ+"("+name+")", len(changing) == 0
	fmt.Fprintf(put.hoisted, "var %s %s = %s%s\n", name, typ, typ, literal(values, changing))
	for i, v := range values {
		if changing[i] {
			f.emit("%s.%c = %s", name, 'A'+i, v)
		}
	}
	return name
}

// inFrame makes a direct call in a loop, if its frame is hoisted, and tells the
// frame, in which the results are then: so they are not copied.
func (f *fn) inFrame(call string) (frame string, ok bool) {
	if f.outermost == nil {
		return "", false
	}
	name := f.outermost.frameOf(call)
	if name == "" {
		return "", false
	}
	f.emit("%s", call)
	return name, true
}

// failure is inFrame for a call of one result, an error, and the text of it.
func (f *fn) failure(text string) (err string, ok bool) {
	call, ok := strings.CutSuffix(text, ".R")
	if !ok {
		return "", false
	}
	frame, ok := f.inFrame(call)
	return frame + ".R", ok
}

// ifFails writes "if err := f(); err != nil {}" in a loop where f is direct. It
// reports whether the statement was one.
func (f *fn) ifFails(s *ast.IfStmt) bool {
	init, _ := s.Init.(*ast.AssignStmt)
	cond, _ := s.Cond.(*ast.BinaryExpr)
	if f.outermost == nil || s.Else != nil || init == nil || cond == nil || init.Tok != token.DEFINE || len(init.Lhs) != 1 {
		return false
	}
	call, _ := ast.Unparen(init.Rhs[0]).(*ast.CallExpr)
	o := f.defined(init.Lhs[0])
	id, _ := ast.Unparen(cond.X).(*ast.Ident)
	if call == nil || o == nil || id == nil || f.info.Uses[id] != o || cond.Op != token.NEQ || !f.isNil(cond.Y) ||
		f.compiled(call) == nil || !types.Identical(o.Type(), types.Universe.Lookup("error").Type()) {
		return false
	}
	f.emit("{")
	text := ""
	f.positioned(init, func() { text = f.expr(call) })
	err, ok := f.failure(text)
	if !ok {
		f.define(o, text)
		err = f.expr(cond.X)
	}
	f.emit("if %s != nil {", err)
	if ok {
		f.define(o, err)
	}
	f.block(s.Body.List)
	f.emit("}\n}")
	return true
}

// settle takes the position out of a loop, written as text, in which it is noted
// in one place and nothing else is called that could change it.
func (f *fn) settle(text string) string {
	if f.outermost.frames == nil || f.outermost.open || f.pos == "" || strings.Contains(text, "func(") {
		return text
	}
	note := "\n" + f.pos + " = "
	at := strings.Index(text, note)
	if at < 0 || strings.Count(text, note) > 1 {
		return text
	}
	end := at + 1 + strings.IndexByte(text[at+1:], '\n')
	return text[at+1:end] + "\n" + text[:at] + text[end:]
}

// pair keeps what a direct call of two results gives in a temporary.
func (f *fn) pair(call string) string {
	if f.outermost == nil {
		return f.spillAlways(call)
	}
	if frame, ok := f.inFrame(call); ok {
		return frame
	}
	name := f.temp()
	typ, _, _ := strings.Cut(call, "(")
	fmt.Fprintf(f.outermost.hoisted, "var %s %s\n", name, typ)
	f.emit("%s = %s", name, call)
	return name
}

// literal writes the fields of a frame, but for some.
func literal(values []string, without map[int]bool) string {
	var fields []string
	for i, v := range values {
		if !without[i] {
			fields = append(fields, fmt.Sprintf("%c: %s", 'A'+i, v))
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// changing are the arguments of a call that may differ from turn to turn, by their
// place among args.
func (f *fn) changing(e *ast.CallExpr, args []string) map[int]bool {
	changing := make(map[int]bool)
	sig := coreType(f.typeOf(e.Fun)).(*types.Signature)
	first := len(args) - sig.Params().Len() // 1 if there is a receiver
	if first == 1 {
		sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
		if !ok || !f.stays(args[0], sel.X) {
			changing[0] = true
		}
	}
	several := false // f(g()), where g has several results
	if len(e.Args) == 1 {
		_, several = f.typeOf(e.Args[0]).(*types.Tuple)
	}
	for i := range sig.Params().Len() {
		var from []ast.Expr
		switch {
		case several:
		case i == sig.Params().Len()-1 && sig.Variadic():
			from = e.Args[i:]
		default:
			from = e.Args[i : i+1]
		}
		if several || !f.stays(strings.TrimSuffix(args[first+i], "..."), from...) {
			changing[first+i] = true
		}
	}
	return changing
}
