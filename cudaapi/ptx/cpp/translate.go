// Package cpp makes C++ of PTX, for the threads of simulated devices: each thread's registers
// are variables, branches are gotos, and what instructions mean stands in the simulator's
// header ptx.h. What it does not know is an error that names the instruction and its line.
package cpp

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"gocuda/cudaapi/ptx"
	"gocuda/cudaapi/ptx/flow"
)

// Races says what is done about races between the threads of a launch.
type Races int

const (
	Hidden   Races = iota // nothing
	Shown                 // others come in between where an update would be lost on a GPU
	Observed              // what accesses memory or orders accesses calls the simulator's sim/order.h; variables are another image's
)

// Translate gives the C++ of a module. name is what the source is called, names are those of
// kernels, by their symbols. wide: the CPU has vectors of eight numbers, and the compiler is g++.
func Translate(m *ptx.Module, name string, names map[string]string, races Races, wide bool) (text string, err error) {
	t := &translator{wide: wide && races != Observed, m: m, name: name, symbols: map[string]symbol{}, loners: map[string]bool{}, observed: races == Observed, numbered: numbered(m), slow: map[*ptx.Instruction]bool{}}
	for _, d := range m.Decls {
		if f, ok := d.(*ptx.Function); ok {
			f.Body = contract(f.Body)
			if races == Shown {
				maps.Copy(t.slow, racy(f))
			}
		}
	}
	return t.text(names)
}

func (t *translator) text(names map[string]string) (text string, err error) {
	defer func() {
		if r := recover(); r != nil {
			bad, ok := r.(refusal)
			if !ok {
				panic(r)
			}
			text, err = "", error(bad)
		}
	}()
	t.module(names)
	return t.out.String(), nil
}

// refusal is an error that ends the translation.
type refusal struct{ text string }

func (e refusal) Error() string { return e.text }

type symbol struct {
	space    string // or func
	offset   int    // in shared memory, or its number among another image's variables
	dynamic  bool
	function *ptx.Function
}

type translator struct {
	m        *ptx.Module
	name     string
	out      strings.Builder
	symbols  map[string]symbol
	shared   int // bytes that all functions have in common
	before   int // bytes before dynamic shared memory
	place    int // the line of the source
	scopes   int
	within   bool                      // a function
	slow     map[*ptx.Instruction]bool // others come in before it
	numbered bool                      // barriers are told apart
	loners   map[string]bool           // functions that a thread can run while no other does
	meetings int                       // instructions that lanes do as one
	observed bool                      // accesses are told
	counts   *counting                 // what is counted; nil: nothing
	wide     bool                      // eight threads may go together
	strips   int                       // instructions for these
	arrays   strings.Builder           // in shared memory: where they lie, and their names
}

func (t *translator) refuse(format string, args ...any) {
	panic(refusal{fmt.Sprintf("%s(%d): error: ", t.name, max(t.place, 1)) + fmt.Sprintf(format, args...)})
}

// emit writes a line, or in functions what stays on the line, which says where it is from.
func (t *translator) emit(format string, args ...any) {
	fmt.Fprintf(&t.out, format, args...)
	t.out.WriteByte(map[bool]byte{true: ' ', false: '\n'}[t.within])
}

// id is a C++ name for one of PTX.
func id(name string) string {
	if rest, ok := strings.CutPrefix(name, "%"); ok {
		return "r_" + strings.ReplaceAll(strings.ReplaceAll(rest, "%", "P"), "$", "S")
	}
	return "n_" + strings.ReplaceAll(strings.ReplaceAll(name, "%", "P"), "$", "S")
}

// linked is a name's symbol, which assemblers take for one.
func linked(name string) string { return strings.ReplaceAll(name, "$", "_S_") }

// held is the C++ type that holds a register or parameter.
func held(y ptx.Type) string {
	switch {
	case y == "pred":
		return "bool"
	case y == "f32":
		return "float"
	case y == "f64":
		return "double"
	}
	return fmt.Sprintf("gocuda_u%d", max(y.Bits(), 8))
}

// value is the C++ type of an instruction's type.
func value(y ptx.Type) string {
	if y.Signed() {
		return map[int]string{8: "signed char", 16: "short", 32: "int", 64: "long"}[y.Bits()]
	}
	return held(y)
}

func size(v *ptx.Variable) int {
	n := v.Type.Bits() / 8 * max(v.Vector, 1)
	for _, d := range v.Dims {
		n *= max(d, 0)
	}
	return n
}

func align(v *ptx.Variable) int { return max(v.Align, v.Type.Bits()/8*max(v.Vector, 1)) }

// storage declares what holds a variable.
func storage(v *ptx.Variable) string {
	if v.Dims == nil && v.Vector == 0 {
		return held(v.Type)
	}
	return fmt.Sprintf("gocuda::Bytes<%d, %d>", max(size(v), 1), align(v))
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

func eachStatement(list []ptx.Statement, visit func(ptx.Statement)) {
	for _, s := range list {
		visit(s)
		if b, ok := s.(*ptx.Block); ok {
			eachStatement(b.Body, visit)
		}
	}
}

func (t *translator) module(names map[string]string) {
	if hasMatrices(t.m) {
		t.emit("#include \"sim/matrix.h\"")
	}
	if t.reserves() {
		t.shared = reserved
	}
	dynamic := false
	var functions []*ptx.Function
	var variables []*ptx.Variable
	of := "" // the function that a variable is of
	place := func(v *ptx.Variable, at *int) {
		*at = roundUp(*at, align(v))
		t.symbols[v.Name] = symbol{space: "shared", offset: *at}
		fmt.Fprintf(&t.arrays, "{%d, %d, %q, %q}, ", *at, size(v), v.Name, of)
		*at += size(v)
	}
	for _, d := range t.m.Decls {
		switch d := d.(type) {
		case *ptx.Function:
			if s, ok := t.symbols[d.Name]; !ok || s.function.Declared {
				t.symbols[d.Name] = symbol{space: "func", function: d}
			}
			functions = append(functions, d)
		case *ptx.Variable:
			switch {
			case d.Space == "shared" && slices.Contains(d.Dims, -1) || d.Space == "shared" && slices.Contains(d.Linkage, "extern"):
				t.symbols[d.Name] = symbol{space: "shared", dynamic: true}
				dynamic = true
			case d.Space == "shared":
				place(d, &t.shared)
			case d.Space == "global" || d.Space == "const":
				t.symbols[d.Name] = symbol{space: d.Space}
				variables = append(variables, d)
			default:
				t.refuse("simulated devices do not have PTX variables of the state space .%s", d.Space)
			}
		}
	}
	own := map[string]int{}
	for _, kernels := range []bool{false, true} {
		for _, f := range functions {
			if f.Kernel != kernels {
				continue
			}
			at := t.shared
			of = f.Name
			eachStatement(f.Body, func(s ptx.Statement) {
				if v, ok := s.(*ptx.Variable); ok && v.Space == "shared" {
					place(v, &at)
				} else if ok && (v.Space == "global" || v.Space == "const") {
					t.symbols[v.Name] = symbol{space: v.Space}
					variables = append(variables, v)
				}
			})
			if own[f.Name] = at; !kernels {
				t.shared = at
			}
		}
	}
	for _, n := range own {
		t.before = max(t.before, roundUp(n, 16))
	}
	for _, f := range functions {
		if t.symbols[f.Name].function == f && known[f.Name] == "" {
			t.emit("%s;", t.head(f, true))
		}
	}
	if t.watched() {
		t.elsewhere(variables)
	} else {
		for _, v := range variables {
			t.declare(v)
		}
		for _, v := range variables {
			t.define(v)
		}
	}
	whole := map[*ptx.Function]string{}
	for _, f := range functions {
		if !f.Declared {
			(&body{translator: t, f: f}).translate()
			if r := t.inRegions(f); r != nil && (!t.plain(f) || r.anyLanes()) {
				r.whole()
				whole[f] = ", &" + r.name()
			}
		} else if t.symbols[f.Name].function == f && known[f.Name] == "" {
			t.refuse("the PTX declares %s and does not define it", f.Name)
		}
	}
	t.emit("extern \"C\" __attribute__((visibility(\"default\"))) GOCUDA_RAW unsigned gocuda_describe(unsigned gocuda_i, gocuda::Kernel *gocuda_k) {\nswitch (gocuda_i) {")
	n := 0
	for _, f := range functions {
		if !f.Kernel || f.Declared {
			continue
		}
		shared := own[f.Name]
		if dynamic {
			shared = t.before
		}
		limits := ""
		for _, d := range f.Directives {
			switch d.Name {
			case "maxntid", "reqntid":
				threads := 1
				for _, k := range d.Values {
					threads *= k
				}
				limits += fmt.Sprintf("gocuda_k->threads = %d; ", threads)
			case "reqnctapercluster":
				for k := range 3 {
					size := 1
					if k < len(d.Values) {
						size = d.Values[k]
					}
					limits += fmt.Sprintf("gocuda_k->cluster[%d] = %d; ", k, size)
				}
			}
		}
		name := names[f.Name]
		if name == "" {
			name = f.Name
		}
		t.emit("case %d: *gocuda_k = gocuda::Told<&%s, %v%s>::describe(%q); gocuda_k->shared = %d; %sreturn 1;", n, id(f.Name), t.plain(f) && whole[f] == "", whole[f], name, shared, limits)
		n++
	}
	t.emit("}\nreturn 0;\n}")
}

// reserved is how much shared memory comes before all variables where a module uses what is
// reserved for libraries.
const reserved = 1 << 10

func (t *translator) reserves() (found bool) {
	for _, d := range t.m.Decls {
		if f, ok := d.(*ptx.Function); ok {
			eachStatement(f.Body, func(s ptx.Statement) {
				if i, ok := s.(*ptx.Instruction); ok {
					eachName(i, func(n string) { found = found || strings.HasPrefix(n, "%reserved_smem_") })
				}
			})
		}
	}
	return found
}

// head is a function's, as it is declared or defined.
func (t *translator) head(f *ptx.Function, declared bool) string {
	var params []string
	if f.Kernel {
		params = append(params, "const gocuda::Index &gocuda_index")
	}
	for _, p := range f.Params {
		params = append(params, storage(p)+" "+id(p.Name))
	}
	result := "void"
	if len(f.Results) > 1 {
		t.refuse("the PTX function %s has %d results, and simulated devices take one", f.Name, len(f.Results))
	} else if len(f.Results) == 1 {
		result = storage(f.Results[0])
	}
	text := fmt.Sprintf("%s %s(%s)", result, id(f.Name), strings.Join(params, ", "))
	if declared {
		text += fmt.Sprintf(" __asm__(%q)", linked(f.Name))
		if f.Kernel && t.plain(f) {
			text = "__attribute__((always_inline)) " + text
		} else {
			text = "__attribute__((noinline)) " + text
		}
	}
	return text
}

// elsewhere declares where the addresses of variables are that another image has, and their names.
func (t *translator) elsewhere(list []*ptx.Variable) {
	var names strings.Builder
	for n, v := range list {
		t.symbols[v.Name] = symbol{space: v.Space, offset: n}
		fmt.Fprintf(&names, "%q, ", linked(v.Name))
	}
	const visible = `extern "C" __attribute__((visibility("default"), used))`
	t.emit("%s gocuda_u64 gocuda_variables[%d] = {};", visible, len(list)+1)
	t.emit("%s const char *const gocuda_variable_names[] = {%snullptr};", visible, names.String())
	t.emit("%s const struct { gocuda_u64 at, size; const char *name, *of; } gocuda_shared_names[] = {%s{0, 0, nullptr, nullptr}};", visible, t.arrays.String())
}

func (t *translator) declare(v *ptx.Variable) {
	if v.Type.Bits() < 8 {
		t.refuse("simulated devices do not have PTX variables of type .%s", v.Type)
	}
	t.emit("extern gocuda::%s %s __asm__(%q);", t.array(v), id(v.Name), linked(v.Name))
}

// array is the type of a variable of the module: its elements are integers.
func (t *translator) array(v *ptx.Variable) string {
	bits := v.Type.Bits()
	for _, x := range v.Init {
		if x.Symbol != "" && bits != 64 {
			t.refuse("the PTX keeps the address of %s in elements of %d bits, and simulated devices need 64", x.Symbol, bits)
		}
	}
	return fmt.Sprintf("Array<gocuda_u%d, %d, %d>", bits, max(size(v)*8/bits, 1), align(v))
}

func (t *translator) define(v *ptx.Variable) {
	if slices.Contains(v.Linkage, "extern") {
		t.refuse("the PTX declares %s and does not define it", v.Name)
	}
	var values []string
	for _, x := range v.Init {
		switch {
		case x.Symbol != "":
			values = append(values, fmt.Sprintf("(gocuda_u64)%s + %d", t.address(x.Symbol), x.Plus))
		default:
			values = append(values, bitsOf(x.Literal, v.Type))
		}
	}
	t.emit("__attribute__((used)) gocuda::%s %s = {{%s}};", t.array(v), id(v.Name), strings.Join(values, ", "))
}

// address is that of a function or variable, shared ones but as offsets.
func (t *translator) address(name string) string {
	s, ok := t.symbols[name]
	switch {
	case !ok:
		t.refuse("the PTX uses %s, which is not declared", name)
	case s.space == "func" && known[name] != "":
		t.refuse("simulated devices do not have the address of the function %s", name)
	case s.dynamic:
		return fmt.Sprintf("%dul", t.before)
	case s.space == "shared":
		return fmt.Sprintf("%dul", s.offset)
	case t.watched() && s.space != "func":
		return fmt.Sprintf("gocuda_variables[%d]", s.offset)
	}
	return "&" + id(name)
}

// loop is what lies between a branch that leads back and its label: it may wait for others, or write.
type loop struct {
	waits, writes bool
	within        []*ptx.Instruction
}

// body is a function's that is translated.
type body struct {
	*translator
	f       *ptx.Function
	scopes  []map[string]string // C++ names of labels, and types of registers behind their names
	types   []map[string]ptx.Type
	vars    []map[string]*ptx.Variable // parameters and local variables
	seen    map[string]bool            // labels that stand above
	loops   map[*ptx.Instruction]loop
	targets []map[string][]string
	nans    nans
	looks   bool                      // the instruction sees more of a number than its value
	polled  map[*ptx.Instruction]bool // loads in a loop that only looks, or of what is then compared and swapped
	looped  bool                      // a loop runs all threads of a block
	early   map[*ptx.Instruction]bool // divisions that the program may not do there, or not at all

	copied   *flow.Graph // of which the instructions are; nil: they are the function's own
	barriers map[*ptx.Instruction]int
	beyond   map[*ptx.Instruction]uint64 // barriers that a thread there has come past
}

func (b *body) translate() {
	f := b.f
	b.place, b.within = 0, true
	b.emit("%s {", b.head(f, false))
	b.seen, b.loops = map[string]bool{}, loopsOf(f.Body)
	b.findPolled(f.Body)
	b.findBeyond(f)
	b.findEarly(f.Body)
	// The same name may stand for registers of different types in different scopes: as if it were none of f32.
	types := map[string]ptx.Type{}
	var list []*ptx.Instruction
	eachStatement(f.Body, func(s ptx.Statement) {
		switch s := s.(type) {
		case *ptx.Instruction:
			list = append(list, s)
		case *ptx.Variable:
			for k := range max(s.Count, 1) {
				n := s.Name
				if s.Count > 0 {
					n = fmt.Sprintf("%s%d", s.Name, k)
				}
				if types[n] != "" && types[n] != s.Type {
					types[n] = "b32"
				} else {
					types[n] = s.Type
				}
			}
		}
	})
	b.nans = nansOf(list, func(n string) ptx.Type { return types[n] })
	b.vars = append(b.vars, map[string]*ptx.Variable{})
	for _, p := range slices.Concat(f.Params, f.Results) {
		b.vars[0][p.Name] = p
	}
	for _, p := range f.Results {
		b.emit("%s %s{};", storage(p), id(p.Name))
	}
	if !f.Kernel {
		b.emit("const gocuda::Index gocuda_index{gocuda::thread_index(), gocuda::block_index(), gocuda::block_dim(), gocuda::grid_dim()};")
	}
	b.emit("char *const gocuda_shared = (char *)gocuda::dynamic_shared(); bool gocuda_carry = false;")
	if b.counts != nil && !f.Kernel {
		b.emit("gocuda::CountedCall gocuda_call;")
	}
	b.block(f.Body)
	if len(f.Results) > 0 {
		b.emit("return %s;", id(f.Results[0].Name))
	}
	b.within = false
	b.emit("}")
}

func (b *body) block(list []ptx.Statement) {
	types, labels, vars, targets := map[string]ptx.Type{}, map[string]string{}, map[string]*ptx.Variable{}, map[string][]string{}
	b.types, b.scopes, b.vars, b.targets = append(b.types, types), append(b.scopes, labels), append(b.vars, vars), append(b.targets, targets)
	b.translator.scopes++
	for _, s := range list {
		switch s := s.(type) {
		case *ptx.Label:
			labels[s.Name] = fmt.Sprintf("L%d_%s", b.translator.scopes, id(s.Name))
		case *ptx.Prototype:
			targets[s.Name] = s.Targets
		case *ptx.Variable:
			switch {
			case s.Space == "reg":
				b.registers(s, types)
			case s.Space == "param" || s.Space == "local":
				vars[s.Name] = s
				init := ""
				if s.Space == "param" {
					init = "{}"
				}
				b.emit("%s %s%s;", storage(s), id(s.Name), init)
			}
		}
	}
	for _, s := range list {
		switch s := s.(type) {
		case *ptx.Label:
			b.seen[labels[s.Name]] = true
			b.emit("%s:;", labels[s.Name])
		case *ptx.Block:
			b.emit("{")
			b.block(s.Body)
			b.emit("}")
		case *ptx.Place:
			b.at(s)
		case *ptx.Instruction:
			b.countStretch(s)
			b.guarded(s)
		}
	}
	n := len(b.types) - 1
	b.types, b.scopes, b.vars, b.targets = b.types[:n], b.scopes[:n], b.vars[:n+1], b.targets[:n]
}

func (b *body) registers(v *ptx.Variable, types map[string]ptx.Type) {
	if v.Vector != 0 || v.Type.Bits() > 64 && v.Type != "b128" {
		b.refuse("simulated devices do not have PTX registers of type .%s", v.Type)
	}
	names := []string{v.Name}
	if v.Count > 0 {
		names = nil
		used := map[string]bool{}
		eachStatement(b.f.Body, func(s ptx.Statement) {
			if i, ok := s.(*ptx.Instruction); ok {
				eachName(i, func(n string) { used[n] = true })
			}
		})
		for k := range v.Count {
			if n := fmt.Sprintf("%s%d", v.Name, k); used[n] {
				names = append(names, n)
			}
		}
	}
	for _, n := range names {
		types[n] = v.Type
		b.emit("%s %s = 0;", held(v.Type), id(n))
	}
}

func eachName(i *ptx.Instruction, visit func(string)) {
	if i.Guard != "" {
		visit(i.Guard)
	}
	var walk func(list []ptx.Operand)
	walk = func(list []ptx.Operand) {
		for _, o := range list {
			if i.Op[0] == 'v' && i.Op != "vote" {
				o, _ = selected(o)
			}
			if o.Kind != ptx.Literal && o.Text != "" {
				visit(o.Text)
			}
			walk(o.Parts)
		}
	}
	walk(i.Operands)
}

// at notes a place in the source: of what a header has, the place of the call.
func (b *body) at(l *ptx.Place) {
	if l = b.own(l); l == nil {
		return
	}
	if b.place != l.Line {
		b.place = l.Line
		b.emit("\n# %d %q\n", l.Line, b.name)
	}
}

// own is a place as one in the source itself; nil if there is none.
func (t *translator) own(l *ptx.Place) *ptx.Place {
	for _, p := range []*ptx.Place{l, l.At} {
		if p != nil && p.Line > 0 && (t.m.Files[p.File] == t.name || path.Base(t.m.Files[p.File]) == path.Base(t.name)) {
			return p
		}
	}
	return nil
}

// typeOf is a register's type; "" if the name is none.
func (b *body) typeOf(name string) ptx.Type {
	for _, m := range slices.Backward(b.types) {
		if y := m[name]; y != "" {
			return y
		}
	}
	return ""
}

func (b *body) variable(name string) *ptx.Variable {
	for _, m := range slices.Backward(b.vars) {
		if v := m[name]; v != nil {
			return v
		}
	}
	return nil
}

func (b *body) label(name string) string {
	for _, m := range slices.Backward(b.scopes) {
		if l := m[name]; l != "" {
			return l
		}
	}
	b.refuse("the PTX branches to %s, which is no label", name)
	return ""
}

func (b *body) guarded(i *ptx.Instruction) {
	if i.Guard == "" {
		b.instruction(i)
		return
	}
	not := ""
	if i.Not {
		not = "!"
	}
	guard := not + id(i.Guard)
	if i.Op == "bra" {
		b.countAt(i, guard)
		if l, ok := b.loops[i]; ok && l.waits {
			guard = fmt.Sprintf("gocuda::%s(%s)", l.how(), guard)
		}
		b.emit("if (%s) goto %s;", guard, b.label(i.Operands[0].Text))
		return
	}
	b.emit("if (%s) {", guard)
	b.instruction(i)
	b.emit("}")
}

func (l loop) how() string {
	if l.writes {
		return "again"
	}
	return "spin"
}

// loopsOf finds the branches that lead back, and what lies between.
func loopsOf(list []ptx.Statement) map[*ptx.Instruction]loop {
	loops := map[*ptx.Instruction]loop{}
	var flat []ptx.Statement
	at := map[string]int{}
	eachStatement(list, func(s ptx.Statement) {
		if l, ok := s.(*ptx.Label); ok {
			at[l.Name] = len(flat)
		}
		flat = append(flat, s)
		i, ok := s.(*ptx.Instruction)
		if !ok || i.Op != "bra" {
			return
		}
		from, back := at[i.Operands[0].Text]
		if !back {
			return
		}
		l := loop{}
		for _, s := range flat[from:] {
			if i, ok := s.(*ptx.Instruction); ok {
				l.within = append(l.within, i)
				l.waits = l.waits || mayWait(i) || i.Op == "atom"
				l.writes = l.writes || i.Op == "st" || i.Op == "atom" || i.Op == "red" || i.Op == "call"
			}
		}
		loops[i] = l
	})
	return loops
}

// mayWait reports whether an instruction may look at what others write.
func mayWait(i *ptx.Instruction) bool {
	switch i.Op {
	case "ld":
		return slices.ContainsFunc(i.Mods, func(m string) bool { return m == "volatile" || m == "relaxed" || m == "acquire" })
	case "nanosleep", "membar", "fence", "mbarrier":
		return true
	}
	return false
}

// plain reports whether a kernel's threads can run one after another, each to its end.
func (t *translator) plain(f *ptx.Function) bool {
	plain := !t.watched() // which thread runs must be known
	loops := loopsOf(f.Body)
	for _, l := range loops {
		plain = plain && !l.waits
	}
	eachStatement(f.Body, func(s ptx.Statement) {
		i, ok := s.(*ptx.Instruction)
		if !ok {
			return
		}
		switch i.Op {
		case "bar", "barrier", "shfl", "vote", "match", "redux", "activemask", "elect", "trap", "call", "mapa", "getctarank",
			"mma", "wmma", "ldmatrix", "stmatrix", "movmatrix":
			plain = false
		case "atom":
			plain = plain && !slices.Contains(i.Mods, "cas") && !slices.Contains(i.Mods, "exch")
		}
		eachName(i, func(n string) {
			_, index := indices[n]
			plain = plain && (index || !isSpecial(n))
		})
		plain = plain && !mayWait(i) && !t.slow[i]
	})
	return plain
}

// indices are the special registers that kernels are told.
var indices = func() map[string]string {
	m := map[string]string{}
	for reg, field := range map[string]string{"%tid": "thread", "%ctaid": "block", "%ntid": "dim", "%nctaid": "grid"} {
		for _, x := range []string{"x", "y", "z"} {
			m[reg+"."+x] = "gocuda_index." + field + "." + x
		}
	}
	return m
}()

// specials are the others.
var specials = map[string]string{
	"%laneid": "gocuda::lane()", "%warpid": "(gocuda::load(gocuda::self()->rank) / 32)", "WARP_SZ": "32u",
	"%lanemask_eq": "(1u << gocuda::lane())", "%lanemask_lt": "((1u << gocuda::lane()) - 1)", "%lanemask_le": "(~0u >> (31 - gocuda::lane()))",
	"%lanemask_ge": "(~0u << gocuda::lane())", "%lanemask_gt": "(~1u << gocuda::lane())",
	"%globaltimer": "gocuda::global_timer()", "%globaltimer_lo": "(gocuda_u32)gocuda::global_timer()", "%globaltimer_hi": "(gocuda_u32)(gocuda::global_timer() >> 32)",
	"%clock": "(gocuda_u32)clock64()", "%clock64": "(gocuda_u64)clock64()", "%clock_hi": "(gocuda_u32)(clock64() >> 32)",
	"%smid": "0u", "%nsmid": "1u", // one multiprocessor runs all
	"%envreg1": "(gocuda_u32)(gocuda::grid_counter() >> 32)", "%envreg2": "(gocuda_u32)gocuda::grid_counter()",
	"%reserved_smem_offset_begin": "0u", "%reserved_smem_offset_1": "0u", "%reserved_smem_offset_end": fmt.Sprintf("%du", reserved), "%reserved_smem_offset_cap": fmt.Sprintf("%du", reserved),
	"%nwarpid": "((gocuda_index.dim.x * gocuda_index.dim.y * gocuda_index.dim.z + 31) / 32)", "%gridid": "0ul",
	"%cluster_ctarank": "gocuda::cluster_rank()", "%cluster_nctarank": "gocuda::cluster_size()",
}

func init() {
	for k, x := range []string{"x", "y", "z"} {
		dim, block, grid := fmt.Sprintf("gocuda::cluster_dim(%d)", k), indices["%ctaid."+x], indices["%nctaid."+x]
		specials["%cluster_nctaid."+x] = dim
		specials["%cluster_ctaid."+x] = fmt.Sprintf("(%s %% %s)", block, dim)
		specials["%clusterid."+x] = fmt.Sprintf("(%s / %s)", block, dim)
		specials["%nclusterid."+x] = fmt.Sprintf("(%s / %s)", grid, dim)
	}
}

func isSpecial(n string) bool { return specials[n] != "" || indices[n] != "" }
