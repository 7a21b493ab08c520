package main

import (
	"fmt"
	"slices"
	"strings"
)

// block writes some statements in the scope, to which it adds.
func (g *generator) block(s *scope, n int) {
	for i := range n {
		if g.room--; i == 0 || g.room > 0 {
			g.statement(s)
		}
	}
}

// inner is the scope of a block in s.
func (s *scope) inner() *scope {
	in := *s
	in.vars = s.vars[:len(s.vars):len(s.vars)]
	in.labels = s.labels[:len(s.labels):len(s.labels)]
	in.names = nil
	in.depth++
	return &in
}

// nested writes a block in braces, which ends with what its variables hold.
func (g *generator) nested(s *scope, n int) {
	before := len(s.vars)
	in := s.inner()
	g.block(in, n)
	if !s.quiet && g.chance(50) {
		g.dump(&scope{vars: in.vars[min(before, len(in.vars)):]})
	}
}

// know adds variables that this block declares.
func (s *scope) know(vars ...variable) {
	for _, v := range vars {
		s.names = append(s.names, v.name)
	}
	s.vars = append(s.vars, vars...)
}

// declare writes that of a variable and adds it to the scope; value is not yet in it.
func (g *generator) declare(s *scope, t *typ, value string) variable {
	name := g.fresh("v")
	if len(s.vars) > 0 && g.chance(20) && s.depth > 0 { // another of that name, perhaps
		if v := oneAmong(g, s.vars); strings.HasPrefix(v.name, "v") && !slices.Contains(s.names, v.name) {
			name = v.name
		}
	}
	s.names = append(s.names, name)
	v := variable{name: name, typ: t, fixed: t.kind == slice || t.kind == mapping}
	if g.chance(50) {
		g.line("var %s %s = %s", name, t.name, value)
	} else {
		g.line("%s := %s(%s)", name, bracketed(t), value)
	}
	g.line("_ = %s", name)
	g.add(s, v)
	return v
}

// add makes a variable known, and one of the same name unknown.
func (g *generator) add(s *scope, v variable) {
	var vars []variable
	for _, o := range s.vars {
		if o.name != v.name {
			vars = append(vars, o)
		}
	}
	s.vars = append(vars, v)
}

// assignable are the places of the scope that a statement may change.
func (g *generator) assignable(s *scope) []variable {
	var list []variable
	for _, v := range s.vars {
		if v.fixed {
			if v.typ.kind == mapping && v.fresh {
				list = append(list, variable{name: v.name + "[" + g.own(s, v.typ.key, 0) + "]", typ: v.typ.elem})
			}
			continue
		}
		list = append(list, v)
		switch v.typ.kind {
		case structure:
			for _, f := range v.typ.fields {
				list = append(list, variable{name: v.name + "." + f.name, typ: f.typ})
			}
		case array:
			list = append(list, variable{name: fmt.Sprintf("%s[%d]", v.name, g.IntN(v.typ.size)), typ: v.typ.elem})
		}
	}
	return list
}

func (g *generator) inHeader(step func() string) string {
	g.header = true
	defer func() { g.header = false }()
	return step()
}

func (g *generator) statement(s *scope) {
	boolean := &typ{kind: boolean, name: "bool"}
	whole := &typ{kind: integer, name: "int"}
	if s.depth > 3 || g.room <= 0 {
		t := g.typ(1)
		g.declare(s, t, g.expr(s, t, 2))
		return
	}
	if !s.quiet && g.chance(20) {
		g.idiom(s, oneAmong(g, idioms))
		return
	}
	switch g.IntN(34) {
	case 0, 1, 2, 3:
		t := g.typ(2)
		g.declare(s, t, g.expr(s, t, 3))
	case 4, 5, 6:
		if list := g.assignable(s); len(list) > 0 {
			v := oneAmong(g, list)
			g.line("%s = %s", v.name, g.expr(s, v.typ, 3))
		}
	case 7:
		if list := g.assignable(s); len(list) > 1 {
			a, b := oneAmong(g, list), oneAmong(g, list)
			if !strings.HasPrefix(a.name, b.name) && !strings.HasPrefix(b.name, a.name) {
				g.line("%s, %s = %s, %s", a.name, b.name, g.expr(s, a.typ, 2), g.expr(s, b.typ, 2))
			}
		}
	case 8, 9:
		for _, v := range g.assignable(s) {
			if v.typ.kind == integer && g.chance(60) {
				if g.chance(40) {
					g.line("%s%s", v.name, oneAmong(g, []string{"++", "--"}))
				} else {
					g.line("%s %s= %s", v.name, oneAmong(g, []string{"+", "-", "*", "|", "^", "&^"}), g.expr(s, v.typ, 2))
				}
			} else if v.typ.kind == text && g.chance(40) {
				g.line("if len(%s) < 20 {\n%s += %s\n}", v.name, v.name, g.expr(s, v.typ, 2))
			}
		}
	case 10, 11, 12:
		g.line("if %s {", g.inHeader(func() string { return g.expr(s, boolean, 3) }))
		g.nested(s, 1+g.IntN(3))
		if g.chance(50) {
			if g.chance(40) {
				name := g.fresh("v")
				g.line("} else if %s := %s; %s == %s {", name, g.inHeader(func() string { return g.expr(s, whole, 2) }), name, g.inHeader(func() string { return g.expr(s, whole, 1) }))
			} else {
				g.line("} else {")
			}
			g.nested(s, 1+g.IntN(2))
		}
		g.line("}")
	case 13, 14, 15, 16:
		g.loop(s)
	case 17, 18:
		g.switchStatement(s)
	case 19:
		t := g.typ(1)
		name := g.fresh("v")
		g.line("switch %s := any(%s).(type) {", name, g.inHeader(func() string { return g.expr(s, t, 2) }))
		seen := make(map[string]bool)
		for range 3 {
			u := oneAmong(g, g.types)
			alias := strings.NewReplacer("byte", "uint8", "rune", "int32").Replace(u.name)
			if seen[alias] || u.kind == anyKind {
				continue
			}
			seen[alias] = true
			g.line("case %s:\n_ = %s", u.name, name)
			in := s.inner()
			in.know(variable{name: name, typ: u, fixed: true})
			g.block(in, 1+g.IntN(2))
		}
		g.line("default:\n_ = %s", name)
		g.nested(s, 1)
		g.line("}")
	case 20:
		g.line("select {\ncase %s := <-full[int](%s):\n_ = %s", "vs", g.expr(s, whole, 2), "vs")
		g.nested(s, 1)
		g.line("case <-make(chan int):")
		g.nested(s, 1)
		g.line("}")
	case 21:
		if s.quiet {
			return
		}
		// A closure that changes what it captures, called by statements of its own.
		if list := g.assignable(s); len(list) > 0 {
			v, c := oneAmong(g, list), g.fresh("c")
			t := oneAmong(g, g.types)
			a := g.fresh("a")
			g.line("%s := func(%s %s) (%s, %s) {", c, a, t.name, t.name, v.typ.name)
			in := &scope{vars: append(s.vars[:len(s.vars):len(s.vars)], variable{name: a, typ: t}), ret: []*typ{t, v.typ}, depth: s.depth + 2}
			if g.chance(30) {
				g.line("defer func() { %s = %s }()", v.name, g.expr(in, v.typ, 1))
			}
			g.line("%s = %s", v.name, g.expr(in, v.typ, 2))
			g.line("{")
			g.nested(in, 1)
			g.line("}\nreturn %s, %s\n}", a, v.name)
			for range 1 + g.IntN(2) {
				g.line("{\nx, y := %s(%s)\n_, _ = x, y", c, g.expr(s, t, 2))
				g.dump(&scope{vars: []variable{{name: "x", typ: t}, {name: "y", typ: v.typ}}})
				g.line("}")
			}
		}
	case 22, 23:
		for range 4 { // several results
			f := &callable{results: []*typ{oneAmong(g, g.types)}}
			if len(g.funcs) > 0 {
				f = oneAmong(g, g.funcs)
			}
			n := len(f.results)
			call := ""
			if n > 1 {
				call = g.call(s, f.results[0], 2, n)
			}
			if call == "" || !strings.HasPrefix(call, f.name+"(") {
				continue
			}
			var names []string
			var in []variable
			for _, t := range f.results {
				v := variable{name: g.fresh("v"), typ: t, fixed: true}
				names, in = append(names, v.name), append(in, v)
			}
			g.line("%s := %s\n%s = %s", strings.Join(names, ", "), call, strings.Repeat("_, ", n-1)+"_", strings.Join(names, ", "))
			s.know(in...)
			break
		}
	case 24:
		t := g.typ(1)
		m := &typ{kind: mapping, name: "map[string]" + t.name, key: g.basic[len(g.basic)-1], elem: t}
		v, ok := g.fresh("v"), g.fresh("v")
		g.line("%s, %s := (%s)[\"k\"]\n_, _ = %s, %s", v, ok, g.expr(s, m, 2), v, ok)
		s.know(variable{name: v, typ: t, fixed: true}, variable{name: ok, typ: boolean})
	case 25:
		if s.quiet {
			return
		}
		// Something that panics, for one reason only.
		quiet := &scope{vars: s.vars, quiet: true}
		g.line("func() {\ndefer func() { fmt.Println(recover()) }()")
		switch g.IntN(6) {
		case 0:
			g.line("fmt.Println([]int{1, 2}[%s])", g.expr(quiet, whole, 2))
		case 1:
			g.line("x := %s\nfmt.Println(7 / x, 7 %% x)", g.expr(quiet, whole, 2))
		case 2:
			g.line("var x any = %s\nfmt.Println(x.(%s))", g.expr(quiet, oneAmong(g, g.basic), 1), oneAmong(g, g.basic).name)
		case 3:
			g.line("x := %s\nfmt.Println(\"abcdef\"[x&7 : 4])", g.expr(quiet, whole, 2))
		case 4:
			g.line("panic(%s)", g.expr(quiet, oneAmong(g, g.basic), 2))
		case 5:
			g.line("var x []int\nx = append(x, %s)\nfmt.Println(x[:%s&3])", g.expr(quiet, whole, 1), g.expr(quiet, whole, 1))
		}
		g.line("}()")
	case 26:
		if s.quiet || s.loop {
			return
		}
		t := g.typ(1)
		if printed(t, false) {
			g.line("defer fmt.Println(\"deferred\", %s)", g.expr(s, t, 2))
		}
	case 27:
		// Goroutines that compute, each its own.
		t := oneAmong(g, g.basic)
		in := &scope{vars: s.vars, quiet: true}
		c := g.fresh("c")
		g.line("%s := make([]%s, 2)\nfunc() {\nvar wg sync.WaitGroup\nfor i := range %s {\nwg.Go(func() { %s[i] = %s })\n}\nwg.Wait()\n}()", c, t.name, c, c, g.expr(in, t, 3))
		s.know(variable{name: c, typ: &typ{kind: slice, name: "[]" + t.name, elem: t}, fixed: true})
	case 28:
		l := g.fresh("L")
		switch g.IntN(3) {
		case 0:
			g.line("%s:\n%s {", l, "for range 1")
			in := s.inner()
			in.loop = true
			g.block(in, 1)
			g.line("if %s {\nbreak %s\n}", g.inHeader(func() string { return g.expr(in, boolean, 2) }), l)
			g.block(in, 1)
			g.line("}")
		case 1:
			v := g.fresh("n")
			g.line("%s := 0\n%s:\n%s++\n{", v, l, v)
			g.nested(s, 1+g.IntN(2))
			g.line("}\nif %s < 3 && %smore() {\ngoto %s\n}", v, g.prefix, l)
		case 2:
			g.line("{\nif %s {\ngoto %s\n}\n{", g.inHeader(func() string { return g.expr(s, boolean, 2) }), l)
			g.nested(s, 1+g.IntN(2))
			g.line("}\n%s:\n{", l)
			g.nested(s, 1)
			g.line("}\n}")
		}
	case 29:
		if s.ret != nil && s.depth > 0 {
			g.line("if %s {", g.inHeader(func() string { return g.expr(s, boolean, 2) }))
			g.line("return %s\n}", g.exprs(s, s.ret, 2))
		}
	case 30:
		if s.loop {
			g.line("if %s {\n%s\n}", g.inHeader(func() string { return g.expr(s, boolean, 2) }), g.branch(s))
		}
	case 31:
		t := g.typ(1)
		if !s.quiet && printed(t, false) {
			g.line("fmt.Println(%s, %s)", g.expr(s, t, 3), g.expr(s, oneAmong(g, g.basic), 3))
		}
	case 32:
		t := oneAmong(g, g.types)
		name, k := g.fresh("v"), g.fresh("k")
		m := &typ{kind: mapping, name: "map[int]" + t.name, key: g.basic[0], elem: t}
		g.line("%s := map[int]%s{}\nfor %s := range 3 {\n%s[%s] = %s\n}\ndelete(%s, %d)", name, t.name, k, name, k, g.expr(s, t, 2), name, g.IntN(4))
		s.know(variable{name: name, typ: m, fixed: true, fresh: true})
	case 33:
		g.line("{")
		g.nested(s, 1+g.IntN(3))
		g.line("}")
	}
}

// branch is a statement that leaves an iteration of a loop, or the loop.
func (g *generator) branch(s *scope) string {
	word := oneAmong(g, []string{"break", "continue"})
	if len(s.labels) > 0 && g.chance(50) {
		return word + " " + oneAmong(g, s.labels)
	}
	return word
}

func (g *generator) loop(s *scope) {
	in := s.inner()
	in.loop = true
	label := ""
	if g.chance(40) {
		label = g.fresh("L")
		in.labels = append(in.labels, label)
		g.line("%s:", label)
	}
	k, v := g.fresh("k"), g.fresh("v")
	whole := &typ{kind: integer, name: "int"}
	add := func(name string, t *typ) {
		in.vars = append(in.vars, variable{name: name, typ: t, fixed: t.kind == slice || t.kind == mapping})
		g.line("_ = %s", name)
	}
	more := g.prefix + "more()"
	t := g.typ(1)
	switch g.IntN(8) {
	case 0, 1:
		g.line("for %s := %d; %s < %d && %s; %s++ {", k, g.IntN(3), k, 2+g.IntN(3), more, k)
		in.vars = append(in.vars, variable{name: k, typ: whole, fixed: true})
	case 2:
		g.line("for %s := range %d {", k, 1+g.IntN(4))
		add(k, whole)
	case 3:
		g.line("for %s, %s := range %s {", k, v, g.inHeader(func() string {
			return g.expr(s, &typ{kind: slice, name: "[]" + t.name, elem: t}, 2)
		}))
		add(k, whole)
		add(v, t)
	case 4:
		g.line("for %s, %s := range %s {", k, v, g.inHeader(func() string { return g.expr(s, g.basic[len(g.basic)-1], 2) }))
		add(k, whole)
		add(v, &typ{kind: integer, name: "rune"})
	case 5:
		g.line("for %s, %s := range seq[%s](%s) {", k, v, t.name, g.inHeader(func() string { return g.exprs(s, []*typ{t, t}, 2) }))
		add(k, whole)
		add(v, t)
	case 6:
		a := &typ{kind: array, name: "[2]" + t.name, elem: t, size: 2}
		g.line("for %s, %s := range %s {", k, v, g.inHeader(func() string { return g.expr(s, a, 2) }))
		add(k, whole)
		add(v, t)
	case 7:
		g.line("for %s {", more)
		g.line("if %s {\nbreak\n}", g.inHeader(func() string { return g.expr(s, &typ{kind: boolean, name: "bool"}, 2) }))
	}
	g.line("if !%s {\nbreak\n}", more)
	if label != "" {
		g.line("if !%s {\nbreak %s\n}", more, label)
	}
	g.block(in, 1+g.IntN(3))
	if g.chance(40) {
		g.line("if %s {\n%s\n}", g.inHeader(func() string { return g.expr(in, &typ{kind: boolean, name: "bool"}, 2) }), g.branch(in))
	}
	if g.chance(40) {
		g.dump(&scope{vars: in.vars[max(0, len(in.vars)-3):]})
	}
	g.line("}")
}

func (g *generator) switchStatement(s *scope) {
	label := ""
	if g.chance(30) {
		label = g.fresh("L")
		g.line("%s:", label)
	}
	t := oneAmong(g, g.basic)
	boolean := &typ{kind: boolean, name: "bool"}
	tagged := g.chance(60) && t.kind != boolean.kind
	if tagged {
		g.line("switch %s {", g.inHeader(func() string { return g.expr(s, t, 2) }))
	} else {
		g.line("switch {")
	}
	at := g.IntN(4)
	for i := range 3 {
		if i == at {
			g.line("default:")
			g.clause(s, label, true)
		}
		var list []string
		for range 1 + g.IntN(2) {
			if tagged {
				list = append(list, "id("+g.expr(s, t, 1)+")")
			} else {
				list = append(list, g.expr(s, boolean, 2))
			}
		}
		g.line("case %s:", strings.Join(list, ", "))
		g.clause(s, label, i == 2)
	}
	g.line("}")
}

// clause writes the statements of a case.
func (g *generator) clause(s *scope, label string, last bool) {
	if label != "" {
		g.line("if !%smore() {\nbreak %s\n}", g.prefix, label)
	}
	in := s.inner()
	in.loop = false
	g.block(in, 1+g.IntN(2))
	if !last && g.chance(25) {
		g.line("fallthrough")
	}
}
