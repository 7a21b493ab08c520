package lower

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// The interpreter says that an index is out of range, and not which. So
// lowered code compares it itself, before it is used. This costs less than to
// note where execution is, which only an index that is out of range then needs.

// guard is a check of an index or of a slice's bounds.
type guard struct {
	conds []string // any of them makes it fail
	call  string   // ... with this panic
}

// check writes a guard. Where no statement can stand, it is left out: the
// interpreter's panic tells less.
func (f *fn) check(g guard) {
	if f.unguarded > 0 || f.prefix != "" && g.hasCall() {
		f.unchecked = true
		return
	}
	f.pure++
	f.out.WriteString(f.guardText(g))
	f.emits++
}

// guardText has a statement for each condition: the interpreter is slower with ||.
func (f *fn) guardText(g guard) string {
	var b strings.Builder
	for _, c := range g.conds {
		fmt.Fprintf(&b, "if %s%s { %s }\n", f.prefix, c, g.call)
	}
	return b.String()
}

func (g guard) hasCall() bool {
	for _, c := range g.conds {
		if hasCallText(strings.ReplaceAll(strings.ReplaceAll(c, "len(", "("), "cap(", "(")) {
			return true
		}
	}
	return false
}

// withoutGuards runs a step in a place where no statement can stand.
func (f *fn) withoutGuards(step func()) {
	f.unguarded++
	step()
	f.unguarded--
}

// guardedIf runs a step whose expressions are evaluated only if a condition is
// true, or false.
func (f *fn) guardedIf(cond string, is bool, step func()) {
	if hasCallText(cond) {
		f.withoutGuards(step)
		return
	}
	outer := f.prefix
	if !is {
		cond = "!" + paren(cond)
	}
	f.prefix += cond + " && "
	step()
	f.prefix = outer
}

// hasCallText says whether an expression in lowered code calls something, or
// converts, which looks like it.
func hasCallText(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i] == '(' && (isNameByte(s[i-1]) || s[i-1] == ')' || s[i-1] == ']') {
			return true
		}
	}
	return strings.Contains(s, "<-")
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// held keeps a value of a type that lowered code writes as rep, unless its
// text can be written twice.
func (f *fn) held(text, rep string) string {
	switch {
	case isSimple(text), isBoxText(text), f.unguarded > 0, f.prefix != "":
		return text
	case !hasCallText(text):
		f.pure++
	}
	return f.hold(text, rep)
}

// isBoxText says whether a text is a variable behind a pointer, or a package
// variable.
func isBoxText(s string) bool {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "(*"), ")")
	return isName(s)
}

func isName(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return s != ""
}

// hold puts a value into a temporary.
func (f *fn) hold(text, rep string) string {
	t := f.temp()
	if f.hoist(t, rep) {
		f.emit("%s = %s", t, text)
	} else {
		f.emit("var %s %s = %s", t, rep, text)
	}
	return t
}

// guardedIndex writes base[index], checked, for an array, a slice or a string
// whose elements e takes.
func (f *fn) guardedIndex(base, index string, e *ast.IndexExpr) string {
	g, base, index := f.indexGuard(base, index, e)
	if len(g.conds) > 0 {
		f.check(g)
	}
	return base + "[" + index + "]"
}

// indexGuard makes the guard of base[index], and of both what can be written twice.
func (f *fn) indexGuard(base, index string, e *ast.IndexExpr) (g guard, b, i string) {
	value := f.info.Types[e.Index].Value
	var length string
	switch u := f.typeOf(e.X).Underlying().(type) {
	case *types.Array:
		length = fmt.Sprint(u.Len())
	case *types.Pointer:
		length = fmt.Sprint(u.Elem().Underlying().(*types.Array).Len())
	default:
		if value != nil && f.info.Types[e.X].Value != nil {
			return guard{}, base, index
		}
		if f.outermost != nil && !isSimple(base) && !isBoxText(base) {
			f.unchecked = true // the elements of elements, in a loop: too slow
			return guard{}, base, index
		}
		base = f.held(base, f.l.rep(f.typeOf(e.X)))
		length = "len(" + base + ")"
	}
	switch {
	case f.shared.inRange[e], value != nil && isName(length): // the checker has seen to the second
		return guard{}, base, index
	case value == nil:
		index = f.held(index, "int")
		if !f.isNatural(e.Index) {
			g.conds = append(g.conds, index+" < 0")
		}
	}
	g.conds = append(g.conds, index+" >= "+length)
	g.call = fmt.Sprintf("%s(%s, %s, %d)", f.l.sym("Index"), index, length, f.where)
	return g, base, index
}

// guardSlice checks the bounds of a slice expression; those left out are "".
func (f *fn) guardSlice(e *ast.SliceExpr, base string, p []string) {
	l := f.l
	room, length := "", ""
	withCap := false
	switch u := f.typeOf(e.X).Underlying().(type) {
	case *types.Array:
		room, length = fmt.Sprint(u.Len()), fmt.Sprint(u.Len())
	case *types.Pointer:
		length = fmt.Sprint(u.Elem().Underlying().(*types.Array).Len())
		room = length
	case *types.Slice:
		room, length, withCap = "cap("+base+")", "len("+base+")", true
	default:
		room, length = "len("+base+")", "len("+base+")"
	}
	var conds []string
	low, high, limit := p[0], p[1], p[2]
	or := func(text, other string) string {
		if text == "" {
			return other
		}
		return text
	}
	top := room
	if limit != "" {
		conds = append(conds, limit+" > "+room)
		top = limit
	}
	if high != "" {
		conds = append(conds, high+" > "+top)
	}
	if low != "" {
		conds = append(conds, low+" < 0", low+" > "+or(high, length))
	} else if high != "" {
		conds = append(conds, high+" < 0")
	}
	if len(conds) == 0 {
		return
	}
	f.check(guard{conds, fmt.Sprintf("%s(%s, %s, %s, %s, %v, %v, %v, %d)", l.sym("SliceBounds"),
		or(low, "0"), or(high, length), or(limit, "-1"), room, high != "", limit != "", withCap, f.where)})
}
