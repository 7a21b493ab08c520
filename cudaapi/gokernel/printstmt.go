package gokernel

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
)

// program writes all of it: types, variables, functions, kernels.
func (p *printer) program(prog *ir.Program, kernels []*ir.Func) string {
	p.taken, p.panics, p.hoisted, p.shared = make(map[string]bool), make(map[*ir.Func]bool), make(map[*ir.Var]bool), make(map[*ir.Var]string)
	for _, f := range prog.Funcs {
		p.taken[f.Name] = true
	}
	for _, g := range prog.Globals {
		space := "__device__"
		if g.Space == ir.Constant {
			space = "__constant__"
		}
		init := ""
		if g.Init != nil {
			init = " = " + p.expr(g.Init)
		}
		p.line("%s %s %s%s;", space, p.typ(g.Type), g.Name, init)
	}
	for _, f := range prog.Funcs {
		p.function(f, kernels)
	}
	var out strings.Builder
	if p.cooperative {
		out.WriteString("#include <cooperative_groups.h>\n")
	}
	if p.before != "" {
		out.WriteString(p.before + "\n#line 1 \"kernel\"\n")
	}
	out.WriteString(header("values", "panics", "numbers", "math", "threads"))
	if p.cooperative {
		out.WriteString("namespace go { GO_FUNC void sync_grid() { cooperative_groups::this_grid().sync(); } }\n")
	}
	for _, name := range p.order {
		fmt.Fprintf(&out, "struct %s;\n", name)
	}
	out.WriteString(p.types.String())
	out.WriteString(p.b.String())
	return out.String()
}

func (p *printer) function(f *ir.Func, kernels []*ir.Func) {
	p.outer = f.Go
	p.panics[f] = p.mayPanic(f.Body)
	number := -1
	for i, k := range kernels {
		if k == f {
			number = i
		}
	}
	if number < 0 && !f.Called {
		return // it was lowered to be checked
	}
	p.line("")
	w := p.regions[f]
	apart := number < 0 || f.Called || w == nil
	p.place(f.Pos)
	p.comment(f)
	if apart {
		p.head(f)
		p.body(f)
	}
	if number < 0 {
		return
	}
	if w != nil {
		p.share(f)
		p.panics[w.f] = p.panics[f]
		defer func() { p.inWhole(w.f, number, w) }()
	}
	p.line("extern \"C\" __global__ void %s(%s) {", kernelSymbol(f), strings.Join(p.params(f), ", "))
	p.indent++
	p.line("go::thread go = {false, %d};", number)
	p.indent--
	if !apart {
		p.body(f)
		return
	}
	p.indent++
	args := []string{}
	for _, v := range f.Params {
		args = append(args, v.Name)
	}
	p.line("%s(%s);", f.Name, strings.Join(append(args, "go"), ", "))
	if p.panics[f] {
		p.line("go::finish(go);")
	}
	p.indent--
	p.line("}")
}

func kernelSymbol(f *ir.Func) string { return "go_" + f.Name }

func (p *printer) params(f *ir.Func) []string {
	var list []string
	for i, v := range f.Params {
		t := ""
		if _, ok := v.Type.Underlying().(*types.Signature); ok {
			t = fmt.Sprintf("F%d", i)
		} else {
			t = p.typ(v.Type)
		}
		list = append(list, t+" "+v.Name)
	}
	return list
}

// head writes a device function up to its body.
func (p *printer) head(f *ir.Func) {
	var funcs []string
	for i, v := range f.Params {
		if _, ok := v.Type.Underlying().(*types.Signature); ok {
			funcs = append(funcs, fmt.Sprintf("class F%d", i))
		}
	}
	if funcs != nil {
		p.line("template <%s>", strings.Join(funcs, ", "))
	}
	params := p.params(f)
	for i, v := range f.Params {
		if stays(f, v) {
			params[i] = "const " + p.typ(v.Type) + " &" + v.Name
		}
	}
	p.line("%s %s %s(%s) {", p.to.linkage(), p.results(f.Results), f.Name, strings.Join(append(params, "go::thread &go"), ", "))
}

// stays says whether a parameter is symmetric memory that the function leaves as it is: it
// is passed by reference, for a copy whose ranks are chosen by an index costs more than what
// is done with it.
func stays(f *ir.Func, v *ir.Var) bool {
	if !ir.IsSymmetric(v.Type) {
		return false
	}
	same := true
	ir.WalkAll(f.Body, func(s ir.Stmt) {
		if a, ok := s.(*ir.Assign); ok && isPart(a.To, v) {
			same = false
		}
		ir.Exprs(s, func(e ir.Expr) {
			if a, ok := e.(*ir.Addr); ok && isPart(a.X, v) {
				same = false
			}
		})
		if c, ok := s.(*ir.Call); ok && slices.Contains(c.Dst, v) {
			same = false
		}
	})
	return same
}

// isPart says whether an expression is a variable or a part of it.
func isPart(e ir.Expr, v *ir.Var) bool {
	for {
		switch x := e.(type) {
		case *ir.Ref:
			return x.Var == v
		case *ir.Field:
			e = x.X
		case *ir.Index:
			if _, ok := x.X.Type().Underlying().(*types.Array); !ok {
				return false
			}
			e = x.X
		default:
			return false
		}
	}
}

// body writes the statements of a function and its closing brace.
func (p *printer) body(f *ir.Func) {
	old := p.fun
	p.fun = f
	p.indent++
	defer p.to.opens(f)()
	p.hoist(f)
	p.to.started(f)
	p.stmts(f.Body)
	if p.lined && f.Kernel && !f.Called { // a thread that comes here has not returned early
		p.line(`asm volatile("pmevent 7;");`)
	}
	p.indent--
	p.line("}")
	p.fun = old
}

// mayPanic says whether statements may end the thread.
func (p *printer) mayPanic(list []ir.Stmt) (found bool) {
	ir.Walk(list, func(s ir.Stmt) {
		switch s := s.(type) {
		case *ir.Panic:
			found = true
		case *ir.Jump:
			found = found || p.to.asks()
		case *ir.Check:
			found = found || !p.skips(s)
		case *ir.Call:
			found = found || s.Func == nil || p.panics[s.Func]
		case *ir.Loop:
			found = found || p.to.asks() && !s.Short
		}
	})
	return found
}

// skips says whether a check is left out: it holds, or the user asked for that.
func (p *printer) skips(c *ir.Check) bool {
	return c.Holds || p.unchecked && (c.Kind == ir.InRange || c.Kind == ir.SliceOK || c.Kind == ir.NonNil)
}

// hoist declares all variables of a function at its start, if it has a goto: C++ lets none pass
// a declaration.
func (p *printer) hoist(f *ir.Func) {
	if !ir.Jumps(f.Body) {
		return
	}
	ir.Walk(f.Body, func(s ir.Stmt) {
		switch s := s.(type) {
		case *ir.Jump:
			s.To.Left = true
		case *ir.Define:
			if p.hoisted[s.Var] { // in the root frame
				return
			}
			p.line("%s%s %s;", map[bool]string{true: "__shared__ __align__(16) "}[s.Var.Space == ir.Shared], p.typ(s.Var.Type), s.Var.Name)
			p.hoisted[s.Var] = true
		}
	})
}

func (p *printer) stmts(list []ir.Stmt) {
	for _, s := range list {
		p.comment(s)
		p.stmt(s)
		p.comment(behind{s})
	}
}

func (p *printer) nested(list []ir.Stmt) {
	p.indent++
	p.stmts(list)
	p.indent--
}

func (p *printer) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Define:
		switch {
		case p.shared[s.Var] != "":
		case p.hoisted[s.Var] || p.to.isDeclared(s.Var):
			if s.Init != nil {
				p.line("%s = %s;", p.to.variable(s.Var), p.expr(s.Init))
			}
		case s.Var.Space == ir.Shared:
			p.line("__shared__ __align__(16) %s %s;", p.typ(s.Var.Type), s.Var.Name)
		case s.Init == nil:
			p.line("%s %s;", p.typ(s.Var.Type), s.Var.Name)
		default:
			p.line("%s %s = %s;", p.typ(s.Var.Type), s.Var.Name, p.expr(s.Init))
		}
		if s.Init != nil {
			p.updateRoots(s.Var)
		}
	case *ir.Closure:
		params := p.params(s.Lit)
		for i, v := range s.Lit.Params {
			if _, ok := v.Type.Underlying().(*types.Signature); ok {
				params[i] = "auto " + v.Name
			}
		}
		p.line("auto %s = [&](%s) -> %s {", s.Var.Name, strings.Join(params, ", "), p.results(s.Lit.Results))
		loops, outer := p.loops, p.outer
		p.loops = append(p.loops, nil)
		p.outer = p.to.within(p.outer, s.Lit.Go)
		p.body(s.Lit)
		p.loops, p.outer = loops, outer
		p.line(";")
	case *ir.Assign:
		p.line("%s;", p.assign(s))
	case *ir.Call:
		p.call(s)
	case *ir.Effect:
		p.effect(s)
	case *ir.Memory:
		p.memory(s)
	case *ir.Printf:
		args := []string{strconv.Quote(s.Format)}
		for _, a := range s.Args {
			args = append(args, p.expr(a))
		}
		p.line("printf(%s);", strings.Join(args, ", "))
	case *ir.If:
		p.branch(s)
	case *ir.Loop:
		p.loop(s)
	case *ir.Block:
		if len(s.Body) == 0 {
			return
		}
		if s.Label == nil && len(s.Body) == 1 {
			if _, ok := s.Body[0].(*ir.Define); !ok {
				p.stmt(s.Body[0])
				return
			}
		}
		p.line("{")
		p.nested(s.Body)
		p.line("}")
		if s.Label != nil && s.Label.Left {
			p.line("%s:;", s.Label.Name)
		}
	case *ir.Leave:
		if n := len(p.loops); n > 0 && p.loops[n-1] != nil && p.loops[n-1].Label == s.To {
			p.line("break;")
			return
		}
		s.To.Left = true
		p.line("goto %s;", s.To.Name)
	case *ir.Again:
		s.To.Again = true
		p.line("goto %s_next;", s.To.Name)
	case *ir.Mark:
		if s.Label.Left { // by a Jump
			p.line("%s:;", s.Label.Name)
		}
	case *ir.Jump:
		if p.to.asks() {
			p.poll(s.Pos)
		}
		p.line("goto %s;", s.To.Name)
	case *ir.Return:
		if text, ok := p.to.leaves(); ok {
			p.line("%s", text)
			return
		}
		list := make([]string, len(s.Values))
		for i, v := range s.Values {
			list[i] = p.expr(v)
		}
		switch len(list) {
		case 0:
			p.line("return;")
		case 1:
			p.line("return %s;", list[0])
		default:
			p.line("return {%s};", strings.Join(list, ", "))
		}
	case *ir.Check:
		p.check(s)
	case *ir.Panic:
		p.to.panics(s)
	case *ir.Step:
		p.place(s.Pos)
	}
}

// give is the return of a thread that is to end.
func (p *printer) give() string {
	if text, ok := p.to.leaves(); ok {
		return text
	}
	if len(p.fun.Results) == 0 {
		return "return;"
	}
	return "return {};"
}

func (p *printer) assign(s *ir.Assign) string {
	if text := p.to.store(s); text != "" {
		return text
	}
	text := p.expr(s.To) + " = " + p.expr(s.Value)
	if updates := p.to.updates(ir.Root(s.To), ", "); updates != "" {
		text += ", " + updates
	}
	return text
}

func (p *printer) call(s *ir.Call) {
	var args []string
	for i, a := range s.Args {
		arg := p.expr(a)
		if s.Func != nil && i < len(s.Func.Params) && stays(s.Func, s.Func.Params[i]) {
			if r, ok := a.(*ir.Ref); !ok || !slices.Contains(p.fun.Params, r.Var) || !stays(p.fun, r.Var) {
				arg = p.typ(a.Type()) + "(" + arg + ")" // which nobody changes
			}
		}
		args = append(args, arg)
	}
	name, panics := "", true
	if s.Func != nil && s.Func.Foreign {
		name, panics = "::"+s.Func.Name, false
		for i, a := range s.Args {
			if _, ok := a.Type().Underlying().(*types.Slice); ok {
				args[i] += ".ptr"
			}
		}
	} else if s.Func != nil {
		name, panics = s.Func.Name, p.panics[s.Func]
		args = append(args, "go")
	} else {
		name = s.Lit.Name
	}
	text := name + "(" + strings.Join(args, ", ") + ")"
	p.to.calls(s)
	switch len(s.Dst) {
	case 0:
		p.line("%s;", text)
	case 1:
		p.line("%s = %s;", p.to.variable(s.Dst[0]), text)
	default:
		p.line("{")
		p.line("    auto go_results = %s;", text)
		for i, v := range s.Dst {
			if v != nil {
				p.line("    %s = go_results.r%d;", p.to.variable(v), i)
			}
		}
		p.line("}")
	}
	for _, v := range s.Dst {
		p.updateRoots(v)
	}
	if panics {
		p.to.called(s)
	}
}

func (p *printer) effect(s *ir.Effect) {
	var args []string
	for _, a := range s.Args {
		args = append(args, p.expr(a))
	}
	p.cooperative = p.cooperative || s.Name == "sync_grid"
	text := "go::" + s.Name + "(" + strings.Join(args, ", ") + ")"
	if s.Name == "tile" || s.Name == "coalesced" {
		text = "go::" + s.Name + "<" + p.typ(s.T) + ">(" + strings.Join(args, ", ") + ")"
	}
	if s.Name == "wait_copies" {
		text = "go::wait_copies<" + s.Args[0].(*ir.Const).Value.ExactString() + ">()"
	}
	if s.Name == "clear" {
		if _, ok := s.T.Underlying().(*types.Slice); !ok {
			text = args[0] + " = " + p.typ(s.T) + "{}"
		}
	}
	text = cmp.Or(p.to.effect(s, args), text)
	if s.Dst != nil {
		text = p.to.variable(s.Dst) + " = " + text
	}
	p.line("%s;", text)
	p.updateRoots(s.Dst)
}

// memoryNames are the functions of the header.
var memoryNames = map[ir.MemoryOp]string{
	ir.Load: "load", ir.Store: "store", ir.Add: "add", ir.Sub: "sub", ir.Min: "min", ir.Max: "max", ir.And: "and", ir.Or: "or", ir.Xor: "xor",
	ir.Exchange: "exch", ir.CompareExchange: "cas", ir.Increment: "inc", ir.Decrement: "dec",
}

// memory writes an operation on memory. Its order is that of fences around it.
func (p *printer) memory(s *ir.Memory) {
	suffix := map[ir.Scope]string{ir.BlockScope: "_block", ir.SystemScope: "_system"}[s.Scope]
	fence := "go::thread_fence" + suffix + "();"
	if s.Order.Releases() {
		p.line("%s", fence)
	}
	if s.Op == ir.Fence {
		return
	}
	args := []string{p.expr(s.Addr)}
	for _, a := range s.Args {
		args = append(args, p.expr(a))
	}
	text := "go::atomic_" + memoryNames[s.Op] + suffix + "(" + strings.Join(args, ", ") + ")"
	if s.Dst != nil {
		text = p.to.variable(s.Dst) + " = " + text
	}
	p.line("%s;", text)
	if s.Order.Acquires() {
		p.line("%s", fence)
	}
}

func (p *printer) branch(s *ir.If) {
	p.line("if (%s) {", trim(p.expr(s.Cond)))
	p.nested(s.Then)
	for {
		if len(s.Else) == 1 {
			inner := s.Else[0]
			if b, ok := inner.(*ir.Block); ok && b.Label == nil && len(b.Body) == 1 {
				inner = b.Body[0]
			}
			if next, ok := inner.(*ir.If); ok {
				s = next
				p.line("} else if (%s) {", trim(p.expr(s.Cond)))
				p.nested(s.Then)
				continue
			}
		}
		break
	}
	if len(s.Else) > 0 {
		p.line("} else {")
		p.nested(s.Else)
	}
	p.line("}")
}

// trim takes off the parentheses around a whole expression.
func trim(x string) string {
	if !strings.HasPrefix(x, "(") {
		return x
	}
	depth := 0
	for i := range len(x) {
		switch x[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 && i < len(x)-1 {
				return x
			}
		}
	}
	return x[1 : len(x)-1]
}

func (p *printer) loop(s *ir.Loop) {
	cond, post, inline := "", "", true
	if s.Cond != nil {
		cond = trim(p.expr(s.Cond))
	}
	for _, x := range s.Post {
		a, ok := x.(*ir.Assign)
		inline = inline && ok
		if ok {
			if post != "" {
				post += ", "
			}
			post += p.assign(a)
		}
	}
	if !inline {
		post = ""
	}
	p.line("for (; %s; %s) {", cond, post)
	p.loops = append(p.loops, s)
	again := false
	ir.Walk(s.Body, func(in ir.Stmt) {
		to, ok := in.(*ir.Again)
		again = again || ok && to.To == s.Label
	})
	p.indent++
	if p.to.asks() && !s.Short {
		p.poll(s.Pos)
	}
	if again {
		p.line("{")
		p.nested(s.Body)
		p.line("}")
		p.line("%s_next:;", s.Label.Name)
	} else {
		p.stmts(s.Body)
	}
	if !inline {
		p.stmts(s.Post)
	}
	p.indent--
	p.loops = p.loops[:len(p.loops)-1]
	p.line("}")
	if s.Label.Left {
		p.line("%s:;", s.Label.Name)
	}
}

func (p *printer) check(s *ir.Check) {
	if p.skips(s) {
		return
	}
	var args []string
	for _, a := range s.Args {
		args = append(args, p.expr(a))
	}
	p.to.check(s, args)
}

// site numbers a place that can panic.
func (p *printer) site(pos token.Pos, format string) int {
	s := Site{Pos: p.fset.Position(pos), Func: p.outer, Format: format}
	if n, ok := p.known[s]; ok {
		return n
	}
	p.sites = append(p.sites, s)
	p.known[s] = len(p.sites) - 1
	return len(p.sites) - 1
}
