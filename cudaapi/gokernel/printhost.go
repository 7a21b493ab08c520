package gokernel

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
)

// hostPrinter is what a printer knows besides that writes for the host.
type hostPrinter struct {
	recursive map[*ir.Func]bool
	sites     []HostSite
	types     typeList // of what Go's runtime is asked for
	outside   []outsideCall
	texts     bool // there are constant strings

	frames map[*ir.Func]*roots
	roots  *roots // of the function that is written; nil: it has none
}

// hostProgram writes all of it: what stands before, with the types, and variables,
// functions and entries.
func (p *printer) hostProgram(prog *ir.Program, entries []*ir.Func) (before, own string) {
	p.taken, p.panics, p.hoisted = make(map[string]bool), make(map[*ir.Func]bool), make(map[*ir.Var]bool)
	p.outer = "?"
	p.hostSite(HostSite{Func: p.outer}) // of a call that is not entered
	for _, g := range prog.Globals {
		p.line("static %s *%s;", p.typ(g.Type), g.Name)
	}
	p.line("extern \"C\" void go_math(void *call, void **functions) { go::go_call = (f64 (*)(void *, f64, f64))call; go::go_functions = functions; }")
	p.line("extern \"C\" void go_bind(void **places) {")
	for i, g := range prog.Globals {
		p.line("    %s = (%s *)places[%d];", g.Name, p.typ(g.Type), i)
	}
	p.line("}")
	for _, f := range prog.Funcs {
		p.panics[f] = p.host.recursive[f]
		if !f.Takes {
			p.line("static %s %s(%s);", p.results(f.Results), f.Name, strings.Join(append(p.params(f), "go::thread &go"), ", "))
		}
	}
	for _, f := range prog.Funcs { // callees before their callers
		p.outer = f.Go
		if n := slices.IndexFunc(p.host.outside, func(o outsideCall) bool { return o.fun == f }); n >= 0 {
			p.outsideFunc(f, n)
			continue
		}
		p.panics[f] = p.panics[f] || p.mayPanic(f.Body)
		p.line("")
		p.head(f)
		p.body(f)
	}
	for _, f := range entries {
		p.entry(f)
	}
	if len(p.host.types)+len(p.host.outside) > 0 {
		p.line("extern \"C\" void go_runtime(void *cross, void *answer) { go::go_cross = (void (*)(void *, void *, int, u64))cross; go::go_answer = answer; }")
	}
	var out strings.Builder
	out.WriteString(preludeOf(p.types.String(), p.b.String()) + "} // namespace go\n")
	for _, name := range p.order {
		fmt.Fprintf(&out, "struct %s;\n", name)
	}
	out.WriteString(p.types.String())
	return out.String(), p.b.String()
}

// entry writes the C function that calls one of Go.
func (p *printer) entry(f *ir.Func) {
	symbol := hostSymbol(f)
	p.line("")
	p.line("struct %s_frame {", symbol)
	var args []string
	for i, v := range f.Params {
		p.line("    %s a%d;", p.typ(v.Type), i)
		args = append(args, fmt.Sprintf("frame->a%d", i))
	}
	for i, t := range f.Results {
		p.line("    %s r%d;", p.typ(t), i)
	}
	p.line("};")
	p.line("extern \"C\" void %s(%s_frame *frame, go::record *call) {", symbol, symbol)
	p.line("    go::thread go = go::enter(call);")
	p.line("    if (go.dead) return;")
	call := f.Name + "(" + strings.Join(append(args, "go"), ", ") + ")"
	switch len(f.Results) {
	case 0:
		p.line("    %s;", call)
	case 1:
		p.line("    %s r = %s;", p.typ(f.Results[0]), call)
		p.line("    if (!go.dead) frame->r0 = r;")
	default:
		p.line("    auto r = %s;", call)
		p.line("    if (go.dead) return;")
		for i := range f.Results {
			p.line("    frame->r%d = r.r%d;", i, i)
		}
	}
	p.line("}")
}

// hostSite numbers a place.
func (p *printer) hostSite(s HostSite) int {
	if s.Func == "" {
		s.Func = p.outer
	}
	p.host.sites = append(p.host.sites, s)
	return len(p.host.sites) - 1
}

func (p *printer) passes(pos token.Pos) int {
	return p.hostSite(HostSite{Pos: p.fset.Position(pos)})
}

// hostWriter writes for the host.
type hostWriter struct{ *printer }

func (hostWriter) stringType() string                 { return "go::string" }
func (hostWriter) linkage() string                    { return "static" } // the compiler knows what to inline
func (hostWriter) within(_, literal string) string    { return literal }
func (hostWriter) asks() bool                         { return true }
func (hostWriter) isDeclared(*ir.Var) bool            { return false }
func (hostWriter) leaves() (text string, ok bool)     { return "", false }
func (hostWriter) at() string                         { return "" }
func (hostWriter) calls(*ir.Call)                     {}
func (hostWriter) index(name string) string           { panic("no index of a thread on the host: " + name) }
func (p hostWriter) opens(f *ir.Func) (closes func()) { return p.rootFrame(f) }

func (p hostWriter) text(value string) string {
	p.host.texts = true
	return fmt.Sprintf("go::string{(const u8 *)%s, %d}", quoted(value), len(value))
}

func (hostWriter) variable(v *ir.Var) string {
	if v.Space == ir.Global {
		return "(*" + v.Name + ")"
	}
	return v.Name
}

// from gives Go's collector no address behind something.
func (hostWriter) from(base, i, n string) string {
	return "go::from(" + base + ", " + i + ", " + n + ")"
}

func (p hostWriter) started(f *ir.Func) {
	p.globalsOf(f)
	if p.host.recursive[f] {
		p.line("if (go::deep(go, %d)) %s", p.passes(f.Pos), p.give())
	}
}

func (p hostWriter) store(s *ir.Assign) string {
	if !storesPointers(s) {
		return ""
	}
	t := s.To.Type()
	return fmt.Sprintf("go::put<%s>(go, %d, &%s, %s)", p.typ(t), p.host.types.number(t), p.expr(s.To), p.expr(s.Value))
}

func (p hostWriter) called(s *ir.Call) {
	p.line("if (GO_RARELY(go.dead)) { go::came(go, %d); %s }", p.passes(s.Pos), p.give())
}

func (p hostWriter) panics(s *ir.Panic) {
	what := Panics
	if s.Runtime {
		what = PanicsRuntime
	}
	p.line("go::panic(go, %d);", p.hostSite(HostSite{Pos: p.fset.Position(s.Pos), What: what, Text: s.Text}))
	p.line("%s", p.give())
}

func (p hostWriter) check(s *ir.Check, args []string) {
	kinds := map[ir.CheckKind]SiteKind{ir.InRange: IndexRange, ir.SliceOK: SliceBounds, ir.NonZero: DivideByZero, ir.NonNil: NilPointer, ir.NonMinus: NegativeShift, ir.Fits: ArrayLength}
	site := p.hostSite(HostSite{Pos: p.fset.Position(s.Pos), What: kinds[s.Kind], High: s.High, Max: s.Max, Cap: s.Cap, Unsigned: ir.IsUnsigned(s.Args[0].Type())})
	list := strings.Join(args, ", ")
	cond := ""
	switch s.Kind {
	case ir.InRange:
		cond = "go::outside(" + list + ")"
	case ir.SliceOK:
		cond = "go::bad_slice(" + list + ")"
	case ir.NonZero:
		cond, list = args[0]+" == 0", ""
	case ir.NonNil:
		cond, list = "!"+args[0], ""
	case ir.NonMinus:
		cond = args[0] + " < 0"
	case ir.Fits:
		cond = args[0] + " < " + args[1]
	}
	if list != "" {
		list = ", " + list
	}
	p.line("if (GO_RARELY(%s)) { go::panic(go, %d%s); %s }", cond, site, list, p.give())
}

// poll ends the call where it is to end.
func (p *printer) poll(pos token.Pos) {
	p.line("if (go::stopped(go, %d)) %s", p.passes(pos), p.give())
}

// quoted writes bytes as C++ does.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(text) {
		fmt.Fprintf(&b, "\\%03o", text[i])
	}
	b.WriteByte('"')
	return b.String()
}

// globalsOf has a function keep the addresses of the package variables that it uses:
// no store can change those, so the variables can be in registers.
func (p *printer) globalsOf(f *ir.Func) {
	var list []*ir.Var
	note := func(e ir.Expr) {
		if r, ok := e.(*ir.Ref); ok && r.Var.Space == ir.Global && !slices.Contains(list, r.Var) {
			list = append(list, r.Var)
		}
	}
	var visit func(s ir.Stmt)
	visit = func(s ir.Stmt) {
		ir.Exprs(s, note)
		if c, ok := s.(*ir.Closure); ok {
			ir.Walk(c.Lit.Body, visit)
		}
	}
	ir.Walk(f.Body, visit)
	for _, g := range list {
		p.line("%s *const %s = ::%s;", p.typ(g.Type), g.Name, g.Name)
	}
}
