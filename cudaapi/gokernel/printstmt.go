package gokernel

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
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
	how := "static __device__ __forceinline__"
	if p.host != nil {
		how = "static" // the compiler knows what to inline
	}
	p.line("%s %s %s(%s) {", how, p.results(f.Results), f.Name, strings.Join(append(p.params(f), "go::thread &go"), ", "))
}

// body writes the statements of a function and its closing brace.
func (p *printer) body(f *ir.Func) {
	old := p.fun
	p.fun = f
	p.indent++
	if p.host != nil {
		defer p.rootFrame(f)()
	}
	if jumps(f.Body) {
		aim(f.Body)
		p.hoist(f.Body)
	}
	if p.host != nil {
		p.globalsOf(f)
	}
	if p.host != nil && p.host.recursive[f] {
		p.line("if (go::deep(go, %d)) %s", p.passes(f.Pos), p.give())
	}
	p.stmts(f.Body)
	p.indent--
	p.line("}")
	p.fun = old
}

// mayPanic says whether statements may end the thread.
func (p *printer) mayPanic(list []ir.Stmt) bool {
	for _, s := range list {
		switch s := s.(type) {
		case *ir.Panic:
			return true
		case *ir.Jump:
			if p.host != nil {
				return true
			}
		case *ir.Check:
			if !p.skips(s) {
				return true
			}
		case *ir.Call:
			if s.Func == nil || p.panics[s.Func] {
				return true
			}
		case *ir.If:
			if p.mayPanic(s.Then) || p.mayPanic(s.Else) {
				return true
			}
		case *ir.Loop:
			if p.mayPanic(s.Body) || p.mayPanic(s.Post) || p.host != nil && !s.Short {
				return true
			}
		case *ir.Block:
			if p.mayPanic(s.Body) {
				return true
			}
		}
	}
	return false
}

// skips says whether a check is left out: it holds, or the user asked for that.
func (p *printer) skips(c *ir.Check) bool {
	return c.Holds || p.unchecked && (c.Kind == ir.InRange || c.Kind == ir.SliceOK || c.Kind == ir.NonNil)
}

// aim notes which labels a goto leads to.
func aim(list []ir.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ir.Jump:
			s.To.Left = true
		case *ir.If:
			aim(s.Then)
			aim(s.Else)
		case *ir.Loop:
			aim(s.Body)
			aim(s.Post)
		case *ir.Block:
			aim(s.Body)
		}
	}
}

// jumps says whether statements have a goto: C++ lets none pass a declaration.
func jumps(list []ir.Stmt) bool {
	for _, s := range list {
		switch s := s.(type) {
		case *ir.Jump:
			return true
		case *ir.If:
			if jumps(s.Then) || jumps(s.Else) {
				return true
			}
		case *ir.Loop:
			if jumps(s.Body) || jumps(s.Post) {
				return true
			}
		case *ir.Block:
			if jumps(s.Body) {
				return true
			}
		}
	}
	return false
}

// hoist declares all variables of a function at its start.
func (p *printer) hoist(list []ir.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ir.Define:
			if p.hoisted[s.Var] { // in the root frame
				continue
			}
			p.line("%s%s %s;", map[bool]string{true: "__shared__ __align__(16) "}[s.Var.Space == ir.Shared], p.typ(s.Var.Type), s.Var.Name)
			p.hoisted[s.Var] = true
		case *ir.If:
			p.hoist(s.Then)
			p.hoist(s.Else)
		case *ir.Loop:
			p.hoist(s.Body)
			p.hoist(s.Post)
		case *ir.Block:
			p.hoist(s.Body)
		}
	}
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
		case p.whole != nil && p.whole.vars[s.Var] != nil && (p.whole.vars[s.Var].way == scalar || p.whole.vars[s.Var].way == kept) && s.Var.Space == ir.Local:
			if s.Init != nil {
				p.line("%s = %s;", p.nameOf(s.Var), p.expr(s.Init))
			}
		case p.hoisted[s.Var]:
			if s.Init != nil {
				p.line("%s = %s;", s.Var.Name, p.expr(s.Init))
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
		if p.host != nil {
			p.outer = s.Lit.Go
		}
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
		if p.host != nil {
			p.poll(s.Pos)
		}
		p.line("goto %s;", s.To.Name)
	case *ir.Return:
		if p.whole != nil && p.fun == p.whole.f {
			p.line("%s", p.end())
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
		if p.host != nil {
			what := Panics
			if s.Runtime {
				what = PanicsRuntime
			}
			p.line("go::panic(go, %d);", p.hostSite(HostSite{Pos: p.fset.Position(s.Pos), What: what, Text: s.Text}))
			p.line("%s", p.give())
			return
		}
		p.line("%sgo::panic(go, %d);", p.at(), p.site(s.Pos, "panic: "+strings.ReplaceAll(s.Text, "%", "%%")))
		p.line("%s", p.give())
	}
}

// give is the return of a thread that is to end.
func (p *printer) give() string {
	if p.whole != nil && p.fun == p.whole.f {
		return p.end()
	}
	if len(p.fun.Results) == 0 {
		return "return;"
	}
	return "return {};"
}

func (p *printer) assign(s *ir.Assign) string {
	if p.host != nil && storesPointers(s) {
		t := s.To.Type()
		return fmt.Sprintf("go::put<%s>(go, %d, &%s, %s)", p.typ(t), p.host.types.number(t), p.expr(s.To), p.expr(s.Value))
	}
	text := p.expr(s.To) + " = " + p.expr(s.Value)
	if updates := p.rootUpdates(ir.Root(s.To), ", "); updates != "" {
		text += ", " + updates
	}
	return text
}

func (p *printer) call(s *ir.Call) {
	var args []string
	for _, a := range s.Args {
		args = append(args, p.expr(a))
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
	if s.Func != nil && p.whole != nil {
		p.line("GOCUDA_AT;")
	}
	switch len(s.Dst) {
	case 0:
		p.line("%s;", text)
	case 1:
		p.line("%s = %s;", p.nameOf(s.Dst[0]), text)
	default:
		p.line("{")
		p.line("    auto go_results = %s;", text)
		for i, v := range s.Dst {
			if v != nil {
				p.line("    %s = go_results.r%d;", p.nameOf(v), i)
			}
		}
		p.line("}")
	}
	for _, v := range s.Dst {
		p.updateRoots(v)
	}
	switch {
	case panics && p.host != nil:
		p.line("if (GO_RARELY(go.dead)) { go::came(go, %d); %s }", p.passes(s.Pos), p.give())
	case panics:
		p.line("if (GO_RARELY(go.dead)) %s", p.give())
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
	if p.whole != nil {
		switch s.Name {
		case "thread_rank":
			text = "go_t"
		case "lane_id":
			text = "go_t % 32"
		case "grid_rank":
			text = "GOCUDA_GRID_RANK"
		case "grid_size":
			text = "GOCUDA_GRID_SIZE"
		}
	}
	if p.host != nil {
		text = cmp.Or(p.question(s, args), text)
	}
	if s.Dst != nil {
		text = p.nameOf(s.Dst) + " = " + text
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
		text = p.nameOf(s.Dst) + " = " + text
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
	again := leads(s.Body, s.Label)
	p.indent++
	if p.host != nil && !s.Short {
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

// leads says whether statements have a continue of the loop.
func leads(list []ir.Stmt, to *ir.Label) bool {
	for _, s := range list {
		switch s := s.(type) {
		case *ir.Again:
			if s.To == to {
				return true
			}
		case *ir.If:
			if leads(s.Then, to) || leads(s.Else, to) {
				return true
			}
		case *ir.Loop:
			if leads(s.Body, to) {
				return true
			}
		case *ir.Block:
			if leads(s.Body, to) {
				return true
			}
		}
	}
	return false
}

func (p *printer) check(s *ir.Check) {
	if p.skips(s) {
		return
	}
	var args []string
	for _, a := range s.Args {
		args = append(args, p.expr(a))
	}
	if p.host != nil {
		p.hostCheck(s, args)
		return
	}
	list := strings.Join(args, ", ")
	switch s.Kind {
	case ir.InRange:
		p.fails(s, "go::outside("+list+")", map[bool]string{false: "index out of range [%d] with length %d", true: "index out of range [%u] with length %d"}[isUnsigned(s.Args[0].Type())], list)
	case ir.SliceOK:
		p.fails(s, "go::bad_slice("+list+")", "slice bounds out of range [%d:%d:%d] with capacity %d", list)
	case ir.NonZero:
		p.fails(s, args[0]+" == 0", "integer divide by zero", "")
	case ir.NonNil:
		p.fails(s, "!"+args[0], "nil pointer dereference", "")
	case ir.NonMinus:
		p.fails(s, args[0]+" < 0", "negative shift amount %d", list)
	case ir.Fits:
		p.fails(s, args[0]+" < "+args[1], "cannot convert slice with length %d to array or pointer to array with length %d", list)
	}
}

func (p *printer) fails(s *ir.Check, cond, message, args string) {
	if args != "" {
		args = ", " + args
	}
	panics := fmt.Sprintf("{ %sgo::panic(go, %d%s); %s }", p.at(), p.site(s.Pos, message), args, p.give())
	if s.Fails {
		p.line("%s", panics)
		return
	}
	p.line("if (GO_RARELY(%s)) %s", cond, panics)
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
