package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Random programs do nothing that the language leaves open, except in the statements of
// order.go: what is called inside of an expression prints, but changes no variable that
// others read; loops have few iterations, and functions call earlier ones only, as often
// as fuel lasts.

type kind int

const (
	integer kind = iota
	float
	boolean
	text
	slice
	array
	mapping
	structure
	pointer // to a structure, never nil
	function
	iface // with methods
	anyKind
)

// A typ is a type of a random program.
type typ struct {
	kind      kind
	name      string
	elem, key *typ
	size      int
	fields    []variable
	methods   []*callable
	params    []*typ
	results   []*typ
}

// A variable has a name and a type. One that is fresh shares its elements with no
// variable of another function.
type variable struct {
	name  string
	typ   *typ
	fresh bool
	fixed bool // not to be assigned to
}

// A callable is a function or a method that expressions call.
type callable struct {
	name    string
	params  []*typ
	rest    *typ // of the variadic parameter, or nil
	results []*typ
}

// scope is what a statement sees.
type scope struct {
	vars   []variable
	labels []string // of loops around it
	loop   bool     // in one
	ret    []*typ   // what return gives
	named  []string
	quiet  bool // nothing is printed: a goroutine
	depth  int
	names  []string // declared in this very block
}

// generator writes one program.
type generator struct {
	*rand.Rand
	prefix string
	b      strings.Builder
	n      int
	types  []*typ
	funcs  []*callable
	header bool // in that of a statement, where a literal needs brackets
	room   int  // statements that the function may still have
	basic  []*typ
}

// randomProgram makes the program of a seed.
func randomProgram(name string, seed uint64) program {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 12)), prefix: name}
	g.program()
	return program{name: name, decls: g.b.String()}
}

func (g *generator) line(format string, args ...any) {
	fmt.Fprintf(&g.b, format, args...)
	g.b.WriteByte('\n')
}

func (g *generator) fresh(prefix string) string {
	g.n++
	return fmt.Sprintf("%s%d", prefix, g.n)
}

func (g *generator) global(prefix string) string { return g.prefix + g.fresh(prefix) }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func oneAmong[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

func (g *generator) program() {
	for _, n := range []string{"int", "int", "int8", "int32", "int64", "uint", "uint8", "uint16", "uint64", "rune", "byte"} {
		g.basic = append(g.basic, &typ{kind: integer, name: n})
	}
	g.basic = append(g.basic, &typ{kind: float, name: "float64"}, &typ{kind: float, name: "float32"}, &typ{kind: boolean, name: "bool"}, &typ{kind: text, name: "string"}, &typ{kind: text, name: "string"})
	g.types = append(g.types, g.basic...)
	g.types = append(g.types, &typ{kind: anyKind, name: "any"})
	g.line("var %sfuel = 300", g.prefix)
	g.line("func %smore() bool { %sfuel--; return %sfuel >= 0 }", g.prefix, g.prefix, g.prefix)
	g.line("func %str[T any](id int, v T) T { if %smore() { fmt.Println(\"tr\", id, v) }; return v }", g.prefix, g.prefix)
	size := 1 // most programs are small: more of them are tried in the same time
	if g.chance(5) {
		size = 4
	}
	for range size * (1 + g.IntN(3)) {
		g.declareType()
	}
	var globals []variable
	for range 1 + g.IntN(2*size) {
		v := variable{name: g.global("g"), typ: g.typ(2), fresh: true, fixed: true}
		g.line("var %s %s = %s", v.name, v.typ.name, g.expr(&scope{quiet: true, vars: globals}, v.typ, 2))
		globals = append(globals, v)
	}
	for range size * (1 + g.IntN(2)) {
		g.declareFunc(globals)
	}
	var uses []string
	for range g.IntN(2) {
		uses = append(uses, g.declaredIdiom(&scope{vars: globals}, oneAmong(g, declared)))
	}
	for i := range 2 {
		g.line("func %smain%d() {", g.prefix, i)
		g.room = 12 * size
		s := &scope{vars: globals[:len(globals):len(globals)]}
		g.block(s, size*(2+g.IntN(3)))
		g.dump(s)
		if len(uses) > i {
			g.line("%s", uses[i])
		}
		g.line("}")
	}
	g.line("func %smain() {\n\ttry(\"0\", %smain0)\n\ttry(\"1\", %smain1)", g.prefix, g.prefix, g.prefix)
	switch g.IntN(20) {
	case 0:
		g.line("\tvar m map[string]int\n\tm[\"x\"] = 1")
	case 1:
		g.line("\tpanic(fmt.Sprint(\"the end\", %sfuel))", g.prefix)
	case 2:
		g.line("\tdefer fmt.Println(\"deferred\")\n\tpanic(&MyErr{%d})", g.IntN(9))
	}
	g.line("}")
}

// typ is a type, new or known, of at most so many levels.
func (g *generator) typ(depth int) *typ {
	if depth <= 0 || g.chance(45) {
		return oneAmong(g, g.types)
	}
	elem := g.typ(depth - 1)
	switch g.IntN(6) {
	case 0, 1:
		return &typ{kind: slice, name: "[]" + elem.name, elem: elem}
	case 2:
		if elem.kind == pointer || elem.kind == function || elem.kind == iface {
			return elem // nil, where a literal leaves it out
		}
		n := []int{2, 4}[g.IntN(2)]
		return &typ{kind: array, name: fmt.Sprintf("[%d]%s", n, elem.name), elem: elem, size: n}
	case 3:
		key := oneAmong(g, g.basic[:2])
		if g.chance(60) {
			key = g.basic[len(g.basic)-1]
		}
		return &typ{kind: mapping, name: "map[" + key.name + "]" + elem.name, key: key, elem: elem}
	case 4:
		a, r := oneAmong(g, g.types), oneAmong(g, g.types)
		return &typ{kind: function, name: "func(" + a.name + ") " + r.name, params: []*typ{a}, results: []*typ{r}}
	}
	other := oneAmong(g, g.types)
	return &typ{kind: structure, name: "Pair[" + elem.name + ", " + other.name + "]", fields: []variable{{name: "A", typ: elem}, {name: "B", typ: other}}}
}

// declareType writes a type with methods.
func (g *generator) declareType() {
	t := &typ{name: g.global("T")}
	switch g.IntN(6) {
	case 0:
		b := oneAmong(g, g.basic)
		t.kind = b.kind
		g.line("type %s %s", t.name, b.name)
	case 1:
		e := g.typ(1)
		t.kind, t.elem = slice, e
		g.line("type %s []%s", t.name, e.name)
	default:
		t.kind = structure
		g.line("type %s struct {", t.name)
		seen := make(map[string]bool)
		for range 1 + g.IntN(3) {
			f := variable{name: g.fresh([]string{"f", "F"}[g.IntN(2)]), typ: g.typ(1)}
			t.fields = append(t.fields, f)
			g.line("\t%s %s", f.name, f.typ.name)
		}
		if e := oneAmong(g, g.types); e.kind == structure && strings.HasPrefix(e.name, g.prefix) && !seen[e.name] {
			t.fields = append(t.fields, variable{name: e.name, typ: e})
			g.line("\t%s", e.name)
			t.methods = append(t.methods, e.methods...)
			for _, f := range e.fields { // promoted
				t.fields = append(t.fields, variable{name: f.name, typ: f.typ, fixed: true})
			}
		}
		g.line("}")
	}
	for range g.IntN(3) {
		m := &callable{name: g.fresh("M"), params: []*typ{g.typ(1)}, results: []*typ{g.typ(1)}}
		a := g.fresh("a")
		g.line("func (r %s) %s(%s %s) %s {", t.name, m.name, a, m.params[0].name, m.results[0].name)
		g.body(&scope{vars: []variable{{name: "r", typ: t}, {name: a, typ: m.params[0]}}}, m.results)
		t.methods = append(t.methods, m)
	}
	g.types = append(g.types, t)
	if t.kind == structure && g.chance(50) {
		g.types = append(g.types, &typ{kind: pointer, name: "*" + t.name, elem: t})
	}
	if len(t.methods) > 0 && g.chance(60) {
		m := oneAmong(g, t.methods)
		i := &typ{kind: iface, name: g.global("I"), elem: t, methods: []*callable{m}}
		g.line("type %s interface { %s(%s) %s }", i.name, m.name, m.params[0].name, m.results[0].name)
		g.types = append(g.types, i)
	}
}

// declareFunc writes a function.
func (g *generator) declareFunc(globals []variable) {
	f := &callable{name: g.global("f")}
	s := &scope{vars: globals[:len(globals):len(globals)]}
	var params []string
	for range g.IntN(4) {
		v := variable{name: g.fresh("p"), typ: g.typ(2)}
		f.params = append(f.params, v.typ)
		s.vars = append(s.vars, v)
		params = append(params, v.name+" "+v.typ.name)
	}
	if g.chance(30) {
		f.rest = g.typ(1)
		v := variable{name: g.fresh("p"), typ: &typ{kind: slice, name: "[]" + f.rest.name, elem: f.rest}}
		s.vars = append(s.vars, v)
		params = append(params, v.name+" ..."+f.rest.name)
	}
	var results []string
	for range 1 + g.IntN(3) {
		f.results = append(f.results, g.typ(2))
		results = append(results, f.results[len(f.results)-1].name)
	}
	if g.chance(40) {
		for i, t := range f.results {
			v := variable{name: g.fresh("r"), typ: t, fixed: t.kind == pointer || t.kind == function || t.kind == iface}
			s.named = append(s.named, v.name)
			if !v.fixed {
				s.vars = append(s.vars, v)
			}
			results[i] = v.name + " " + results[i]
		}
	}
	g.line("func %s(%s) (%s) {", f.name, strings.Join(params, ", "), strings.Join(results, ", "))
	if g.chance(30) && len(s.named) > 0 {
		g.line("defer func() {\nif x := recover(); x != nil {\nfmt.Println(\"recovered\", x)")
		for i, n := range s.named {
			g.line("%s = %s", n, g.expr(&scope{}, f.results[i], 1))
		}
		g.line("}\n}()")
	}
	g.body(s, f.results)
	g.funcs = append(g.funcs, f)
}

// body writes that of a function, and its end.
func (g *generator) body(s *scope, results []*typ) {
	s.ret, g.room = results, 6+g.IntN(6)
	g.line("if !%smore() { return %s }", g.prefix, g.exprs(&scope{quiet: true}, results, 0))
	g.block(s, 1+g.IntN(4))
	g.line("return %s\n}", g.exprs(s, results, 2))
}

func (g *generator) exprs(s *scope, list []*typ, depth int) string {
	parts := make([]string, len(list))
	for i, t := range list {
		parts[i] = g.expr(s, t, depth)
	}
	return strings.Join(parts, ", ")
}

// printed says whether fmt prints values of a type without an address.
func printed(t *typ, inside bool) bool {
	switch t.kind {
	case function:
		return false
	case pointer:
		return !inside && printed(t.elem, true)
	case slice, array, mapping:
		return printed(t.elem, true)
	case structure:
		for _, f := range t.fields {
			if !printed(f.typ, true) {
				return false
			}
		}
	case iface:
		return printed(t.elem, true)
	}
	return true
}

// equatable says whether == takes values of a type and cannot panic.
func equatable(t *typ) bool {
	switch t.kind {
	case slice, mapping, function, anyKind, iface:
		return false
	case array:
		return equatable(t.elem)
	case structure:
		for _, f := range t.fields {
			if !equatable(f.typ) {
				return false
			}
		}
	}
	return true
}

// dump prints the variables that a block ends with.
func (g *generator) dump(s *scope) {
	for _, v := range s.vars {
		if printed(v.typ, false) {
			g.line("fmt.Println(%q, %s)", v.name, v.name)
		}
	}
}

// literal brackets a composite literal where it needs that.
func (g *generator) literal(text string) string {
	if g.header {
		return "(" + text + ")"
	}
	return text
}

// expr writes an expression of a type.
func (g *generator) expr(s *scope, t *typ, depth int) string {
	if depth > 0 {
		for range 4 {
			if e := g.common(s, t, depth); e != "" {
				return e
			}
		}
	} else if e := g.variable(s, t); e != "" && g.chance(70) {
		return e
	}
	return g.own(s, t, depth)
}

// variable is a variable of a type, or part of one.
func (g *generator) variable(s *scope, t *typ) string {
	var list []string
	for _, v := range s.vars {
		if v.typ.name == t.name {
			list = append(list, v.name, v.name)
		}
		switch v.typ.kind {
		case structure, pointer:
			st := v.typ
			if st.kind == pointer {
				st = st.elem
			}
			for _, f := range st.fields {
				if f.typ.name == t.name && f.typ.kind != pointer && f.typ.kind != function && f.typ.kind != iface {
					list = append(list, v.name+"."+f.name)
				}
			}
		case array:
			if v.typ.elem.name == t.name && t.kind != pointer && t.kind != function && t.kind != iface {
				list = append(list, fmt.Sprintf("%s[%d]", v.name, g.IntN(v.typ.size)))
			}
		case mapping:
			if v.typ.elem.name == t.name && t.kind != pointer && t.kind != function && t.kind != iface {
				list = append(list, fmt.Sprintf("%s[%s]", v.name, g.own(s, v.typ.key, 0)))
			}
		}
	}
	if len(list) == 0 {
		return ""
	}
	return oneAmong(g, list)
}

// call writes a call that gives a value of a type first, or "".
func (g *generator) call(s *scope, t *typ, depth int, results int) string {
	if s.quiet {
		return ""
	}
	var list []string
	args := func(f *callable) string {
		a := g.exprs(s, f.params, depth-1)
		if f.rest == nil {
			return a
		}
		var more []string
		switch g.IntN(3) {
		case 0:
			more = []string{g.expr(s, &typ{kind: slice, name: "[]" + f.rest.name, elem: f.rest}, depth-1) + "..."}
		default:
			for range g.IntN(3) {
				more = append(more, g.expr(s, f.rest, depth-1))
			}
		}
		if a != "" && len(more) > 0 {
			a += ", "
		}
		return a + strings.Join(more, ", ")
	}
	for _, f := range g.funcs {
		if len(f.results) == results && f.results[0].name == t.name {
			list = append(list, f.name+"("+args(f)+")")
		}
	}
	if results == 1 {
		for _, v := range s.vars {
			for _, m := range v.typ.methods {
				if m.results[0].name == t.name {
					list = append(list, v.name+"."+m.name+"("+args(m)+")")
				}
			}
			if v.typ.kind == function && v.typ.results[0].name == t.name {
				list = append(list, v.name+"("+g.expr(s, v.typ.params[0], depth-1)+")")
			}
			if v.typ.kind == pointer {
				for _, m := range v.typ.elem.methods {
					if m.results[0].name == t.name {
						list = append(list, v.name+"."+m.name+"("+args(m)+")", v.typ.elem.name+"."+m.name+"(*"+v.name+", "+args(m)+")")
					}
				}
			}
		}
	}
	if len(list) == 0 {
		return ""
	}
	return oneAmong(g, list)
}

// common writes an expression that any type has, or "".
func (g *generator) common(s *scope, t *typ, depth int) string {
	d := depth - 1
	bool := &typ{kind: boolean, name: "bool"}
	switch g.IntN(22) {
	case 0, 1, 2, 3:
		return g.variable(s, t)
	case 4, 5, 6:
		return g.call(s, t, depth, 1)
	case 7:
		if s.quiet || !printed(t, false) {
			return ""
		}
		return fmt.Sprintf("%str[%s](%d, %s)", g.prefix, t.name, g.IntN(100), g.expr(s, t, d))
	case 8:
		return fmt.Sprintf("pick[%s](%s, %s, %s)", t.name, g.expr(s, bool, d), g.expr(s, t, d), g.expr(s, t, d))
	case 9:
		header := g.header
		g.header = false
		defer func() { g.header = header }()
		return fmt.Sprintf("func() %s { return %s }()", t.name, g.expr(s, t, d))
	case 10:
		return fmt.Sprintf("id[%s](%s)", t.name, g.expr(s, t, d))
	case 11:
		return fmt.Sprintf("*ptr[%s](%s)", t.name, g.expr(s, t, d))
	case 12:
		return g.literal(fmt.Sprintf("[]%s{%s, %s}[%d]", t.name, g.expr(s, t, d), g.expr(s, t, d), g.IntN(2)))
	case 13:
		if t.kind == anyKind || t.kind == iface {
			return ""
		}
		return fmt.Sprintf("any(%s(%s)).(%s)", bracketed(t), g.expr(s, t, d), t.name)
	case 14:
		return fmt.Sprintf("<-full[%s](%s)", t.name, g.expr(s, t, d))
	case 15:
		return g.literal(fmt.Sprintf("Pair[%s, int]{%s, %d}.A", t.name, g.expr(s, t, d), g.IntN(9)))
	case 16:
		return g.literal(fmt.Sprintf("map[string]%s{\"k\": %s}[\"k\"]", t.name, g.expr(s, t, d)))
	case 17:
		return g.literal(fmt.Sprintf("struct { a int; b %s }{%d, %s}.b", t.name, g.IntN(9), g.expr(s, t, d)))
	case 18:
		if s.quiet {
			return ""
		}
		header := g.header
		g.header = false
		defer func() { g.header = header }()
		name := g.fresh("x")
		inner := &scope{vars: append(s.vars[:len(s.vars):len(s.vars)], variable{name: name, typ: t, fixed: true})}
		return fmt.Sprintf("func(%s %s) %s { defer func() { recover() }(); return %s }(%s)", name, t.name, t.name, g.expr(inner, t, d), g.expr(s, t, d))
	case 19:
		return "(" + g.expr(s, t, d) + ")"
	}
	return ""
}

func bracketed(t *typ) string {
	if t.kind == pointer || t.kind == function {
		return "(" + t.name + ")"
	}
	return t.name
}

// own writes an expression that is of the type's kind.
func (g *generator) own(s *scope, t *typ, depth int) string {
	d := depth - 1
	switch t.kind {
	case integer:
		return g.integer(s, t, d)
	case float:
		if depth <= 0 || g.chance(40) {
			return fmt.Sprintf("%s(%d.%d)", t.name, g.IntN(9), g.IntN(100))
		}
		switch g.IntN(3) {
		case 0:
			return fmt.Sprintf("-%s", g.expr(s, t, d))
		case 1:
			return fmt.Sprintf("%s(%s)", t.name, g.expr(s, oneAmong(g, g.basic[:11]), d))
		}
		return fmt.Sprintf("(%s %s %s)", g.expr(s, t, d), oneAmong(g, []string{"+", "-", "*"}), g.expr(s, t, d))
	case boolean:
		return g.boolean(s, t, d)
	case text:
		if depth <= 0 || g.chance(30) {
			return fmt.Sprintf("%s(%s)", t.name, oneAmong(g, []string{`"a"`, `"héé"`, `""`, `"xyz"`, `"\xff"`}))
		}
		switch g.IntN(5) {
		case 0:
			return fmt.Sprintf("(%s + %s)", g.expr(s, t, d), g.expr(s, t, d))
		case 1:
			if p := g.typ(1); printed(p, true) {
				return fmt.Sprintf("%s(fmt.Sprint(%s))", t.name, g.expr(s, p, d))
			}
		case 2:
			return fmt.Sprintf("%s(fmt.Sprintf(\"%%v|%%T\", %s, %s))", t.name, g.expr(s, oneAmong(g, g.basic), d), g.expr(s, oneAmong(g, g.basic), d))
		case 3:
			return fmt.Sprintf("(%s)[:0]", g.expr(s, t, d))
		}
		return fmt.Sprintf("min(%s, %s)", g.expr(s, t, d), g.expr(s, t, d))
	case slice:
		if depth > 0 {
			switch g.IntN(6) {
			case 0:
				return fmt.Sprintf("append(%s, %s)", g.sliced(s, t, d), g.expr(s, t.elem, d))
			case 1:
				return fmt.Sprintf("append(%s, %s...)", g.sliced(s, t, d), g.expr(s, t, d))
			case 2:
				if t.elem.kind == pointer || t.elem.kind == function || t.elem.kind == iface {
					return fmt.Sprintf("make(%s, 0, 2)", t.name)
				}
				return fmt.Sprintf("make(%s, %d)", t.name, g.IntN(3))
			case 3:
				return fmt.Sprintf("slices.Concat(%s, %s)", g.expr(s, t, d), g.expr(s, t, d))
			}
		}
		return g.literal(t.name + "{" + g.exprs(s, []*typ{t.elem, t.elem}[:g.IntN(3)], d) + "}")
	case array:
		if g.chance(30) {
			return g.literal(fmt.Sprintf("%s{%d: %s}", t.name, g.IntN(t.size), g.expr(s, t.elem, d)))
		}
		return g.literal(t.name + "{" + g.exprs(s, []*typ{t.elem, t.elem}[:1+g.IntN(2)], d) + "}")
	case mapping:
		switch g.IntN(4) {
		case 0:
			return "make(" + t.name + ")"
		case 1:
			return g.literal(t.name + "{}")
		}
		key := `"k"`
		if t.key.kind == integer {
			key = fmt.Sprint(g.IntN(4))
		}
		return g.literal(fmt.Sprintf("%s{%s: %s}", t.name, key, g.expr(s, t.elem, d)))
	case structure:
		var parts []string
		for _, f := range t.fields {
			if f.fixed || f.typ.kind != pointer && f.typ.kind != function && f.typ.kind != iface && g.chance(25) {
				continue
			}
			parts = append(parts, f.name+": "+g.expr(s, f.typ, d))
		}
		return g.literal(t.name + "{" + strings.Join(parts, ", ") + "}")
	case pointer:
		return "&" + g.literalOf(s, t.elem, d)
	case function:
		header := g.header
		g.header = false
		defer func() { g.header = header }()
		name := g.fresh("a")
		inner := &scope{quiet: s.quiet, vars: append(s.vars[:len(s.vars):len(s.vars)], variable{name: name, typ: t.params[0], fixed: true})}
		return fmt.Sprintf("func(%s %s) %s { return %s }", name, t.params[0].name, t.results[0].name, g.expr(inner, t.results[0], d))
	case iface:
		return g.expr(s, t.elem, d)
	}
	for { // any
		if p := g.typ(1); p.kind != anyKind && printed(p, true) {
			return "any(" + g.expr(s, p, d) + ")"
		}
	}
}

// sliced is a slice whose room is full, so that append copies it.
func (g *generator) sliced(s *scope, t *typ, depth int) string {
	return "slices.Clip(" + g.expr(s, t, depth) + ")"
}

func (g *generator) literalOf(s *scope, t *typ, depth int) string {
	return g.own(s, t, depth)
}

func (g *generator) integer(s *scope, t *typ, d int) string {
	if d < 0 || g.chance(25) {
		if g.chance(60) { // no constant, which may overflow
			return fmt.Sprintf("%s(gi - %d)", t.name, 4+g.IntN(8))
		}
		return fmt.Sprintf("%s(%d)", t.name, g.IntN(8))
	}
	switch g.IntN(9) {
	case 0:
		return fmt.Sprintf("(%s %s %s)", g.expr(s, t, d), oneAmong(g, []string{"/", "%"}), "("+g.expr(s, t, d)+" | 1)")
	case 1:
		return fmt.Sprintf("(%s %s (%s & 7))", g.expr(s, t, d), oneAmong(g, []string{"<<", ">>"}), g.expr(s, oneAmong(g, g.basic[:11]), d))
	case 2:
		return oneAmong(g, []string{"-", "^", "+"}) + g.expr(s, t, d)
	case 3:
		u := g.typ(1)
		if u.kind == slice || u.kind == mapping || u.kind == text || u.kind == array {
			return fmt.Sprintf("%s(len(%s))", t.name, g.expr(s, u, d))
		}
		return fmt.Sprintf("%s(len(%s))", t.name, g.expr(s, g.basic[len(g.basic)-1], d))
	case 4:
		return fmt.Sprintf("%s(%s)", t.name, g.expr(s, oneAmong(g, g.basic[:11]), d))
	case 5:
		return fmt.Sprintf("%s(%s, %s)", oneAmong(g, []string{"min", "max"}), g.expr(s, t, d), g.expr(s, t, d))
	}
	return fmt.Sprintf("(%s %s %s)", g.expr(s, t, d), oneAmong(g, []string{"+", "-", "*", "&", "|", "^", "&^"}), g.expr(s, t, d))
}

func (g *generator) boolean(s *scope, t *typ, d int) string {
	if d < 0 {
		return fmt.Sprintf("%s(%v)", t.name, g.chance(50))
	}
	u := oneAmong(g, g.types)
	switch n := g.IntN(6); {
	case n == 0:
		return "!" + g.expr(s, t, d)
	case n < 3:
		return fmt.Sprintf("(%s %s %s)", g.expr(s, t, d), oneAmong(g, []string{"&&", "||"}), g.expr(s, t, d))
	case n == 3 && equatable(u):
		return fmt.Sprintf("%s(%s %s %s)", t.name, g.expr(s, u, d), oneAmong(g, []string{"==", "!="}), g.expr(s, u, d))
	}
	u = oneAmong(g, g.basic)
	if u.kind == boolean {
		return fmt.Sprintf("%s(%s == %s)", t.name, g.expr(s, u, d), g.expr(s, u, d))
	}
	return fmt.Sprintf("%s(%s %s %s)", t.name, g.expr(s, u, d), oneAmong(g, []string{"<", "<=", ">", ">=", "==", "!="}), g.expr(s, u, d))
}

// perOrders is how many programs there are to one that asks for the order of evaluation.
const perOrders = 4

// random runs the random programs of a seed from one number up to another.
func (s *search) random(ctx context.Context, seed uint64, first, end int) error {
	list := make([]program, 0, end-first)
	for i := first; i < end; i++ {
		p := randomProgram(fmt.Sprintf("r%dx%d", seed, i), seed<<20+uint64(i))
		if i%perOrders == 0 {
			var err error
			if p, err = withOrders(p, seed<<20+uint64(i), 5); err != nil {
				return err
			}
		}
		list = append(list, p)
	}
	found, err := s.differing(ctx, list)
	s.programs += len(list)
	seen := make(map[string]bool)
	for _, d := range found {
		s.differ++
		if !seen[d.program.name] && s.reduce > 0 {
			s.reduce--
			d = s.reduced(ctx, d)
		}
		seen[d.program.name] = true
		s.report(d)
	}
	return err
}
