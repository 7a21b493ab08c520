package lower

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"strings"
)

// composite writes a composite literal.
func (f *fn) composite(e *ast.CompositeLit, t types.Type) string {
	l := f.l
	l.nops++
	if p, ok := t.Underlying().(*types.Pointer); ok {
		// An elided &T in the literal of a slice or map.
		t = p.Elem()
		text := f.composite(e, t)
		if l.isTwin(t) {
			return "&" + text
		}
		v := f.temp()
		f.emit("%s := new(%s)", v, l.slot(t))
		f.emit("*%s = %s", v, f.settled(f.intoSlot(text, t), t))
		return v
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return f.structLit(e, t, u)
	case *types.Slice:
		return f.listLit(e, l.rep(t), u.Elem(), -1)
	case *types.Array:
		return f.listLit(e, l.rep(t), u.Elem(), u.Len())
	case *types.Map:
		var list []func() string
		for _, x := range e.Elts {
			kv := x.(*ast.KeyValueExpr)
			list = append(list, func() string {
				k := f.litValue(kv.Key, u.Key())
				if types.IsInterface(u.Key()) {
					k = f.spillAlways(k) // the interpreter takes constants of different types for equal
				}
				return k
			}, func() string { return f.mapped(kv.Value, f.litValue(kv.Value, u.Elem()), l.slot(u.Elem())) })
		}
		p := f.exprs(list...)
		var b strings.Builder
		b.WriteString(l.rep(t) + "{")
		for i := 0; i < len(p); i += 2 {
			fmt.Fprintf(&b, "%s: %s, ", p[i], p[i+1])
		}
		b.WriteString("}")
		return b.String()
	}
	panic(f.bug(e, "cannot lower this literal"))
}

func (f *fn) litValue(e ast.Expr, t types.Type) string {
	if c, ok := e.(*ast.CompositeLit); ok && c.Type == nil {
		return f.intoSlot(f.composite(c, f.l.subst(t, f.env)), t)
	}
	return f.toSlot(e, t)
}

func (f *fn) listLit(e *ast.CompositeLit, rep string, elem types.Type, n int64) string {
	var list []func() string
	var keys []int64
	next := int64(0)
	for _, x := range e.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			k, _ := constant.Int64Val(constant.ToInt(f.info.Types[kv.Key].Value))
			next = k
			x = kv.Value
		}
		keys = append(keys, next)
		next++
		list = append(list, func() string { return f.listed(f.litValue(x, elem), elem) })
	}
	p := f.exprs(list...)
	var b strings.Builder
	b.WriteString(rep + "{")
	ordered := true
	for i, k := range keys {
		ordered = ordered && k == int64(i)
	}
	for i, v := range p {
		if !ordered {
			fmt.Fprintf(&b, "%d: ", keys[i])
		}
		b.WriteString(v + ", ")
	}
	b.WriteString("}")
	return b.String()
}

// listed writes an element of a list, which the interpreter looks at before it
// knows the types of variables: it fails to find the type of some.
func (f *fn) listed(v string, t types.Type) string {
	_, basic := t.Underlying().(*types.Basic)
	switch {
	case basic && (strings.HasPrefix(v, "(") || !typeIsPlain(v)):
		return f.l.rep(t) + "(" + v + ")"
	case !typeIsPlain(v):
		return f.hold(v, f.l.slot(t))
	}
	return v
}

// typeIsPlain says whether the interpreter finds the type of an element of a
// list: of literals and paths of names, and of what such a path calls or indexes.
func typeIsPlain(v string) bool {
	if inner, ok := strings.CutPrefix(v, "&"); ok {
		return typeIsPlain(inner) && !strings.HasSuffix(inner, "]")
	}
	if strings.HasPrefix(v, "(&") && closing(v) == len(v)-1 {
		return typeIsPlain(v[1 : len(v)-1])
	}
	if strings.HasPrefix(v, "(*") && closing(v) == len(v)-1 && strings.Contains(v, ".") {
		return false // what a field points to
	}
	name := strings.TrimLeftFunc(v, func(c rune) bool { return c < 128 && isNameByte(byte(c)) || c == '.' })
	switch {
	case strings.HasSuffix(v, "]") && strings.Contains(v[strings.LastIndexByte(v, '['):], ":"): // a slice of an array has the array's type
		return false
	case name == "", !strings.ContainsRune("([{", rune(name[0])), v[0] == '[', strings.HasPrefix(v, "map["), strings.HasPrefix(v, "struct{}"):
		return true
	}
	rest := name[closing(name)+1:]
	switch {
	case rest == "", strings.HasPrefix(rest, ".("):
		return true
	case v[0] == '(': // a conversion, or an element of what a pointer points to
		return rest[0] != '.' && closing(rest) == len(rest)-1
	}
	return false
}

// closing is the index of the bracket that closes the one that text starts with.
func closing(text string) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text) - 1
}

func (f *fn) structLit(e *ast.CompositeLit, t types.Type, u *types.Struct) string {
	l := f.l
	host := false
	if n, ok := types.Unalias(t).(*types.Named); ok {
		host = l.isHost(n)
	}
	var names []string
	var list []func() string
	for i, x := range e.Elts {
		k := i
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			x = kv.Value
			for j := range u.NumFields() {
				if u.Field(j).Name() == kv.Key.(*ast.Ident).Name {
					k = j
				}
			}
		}
		if u.Field(k).Name() == "_" {
			list = append(list, func() string { return f.plainValue(x, u.Field(k).Type()) })
			names = append(names, "")
			continue
		}
		if host {
			names = append(names, u.Field(k).Name())
			list = append(list, func() string { return f.litValue(x, u.Field(k).Type()) })
			continue
		}
		names = append(names, l.fieldName(u, k))
		list = append(list, func() string { return f.plainValue(x, u.Field(k).Type()) })
	}
	p := f.exprs(list...)
	var b strings.Builder
	b.WriteString(l.rep(t) + "{")
	for i, v := range p {
		if names[i] == "" {
			f.emit("_ = %s", v)
			continue
		}
		fmt.Fprintf(&b, "%s: %s, ", names[i], v)
	}
	b.WriteString("}")
	return b.String()
}

func (f *fn) plainValue(e ast.Expr, t types.Type) string {
	if c, ok := e.(*ast.CompositeLit); ok && c.Type == nil {
		return f.composite(c, t)
	}
	return f.to(e, t)
}
