package cpp

import (
	"fmt"
	"slices"
	"strings"

	"gocuda/cudaapi/ptx"
)

// access is what an instruction that goes to memory says of itself.
type access struct {
	space  string
	order  string // volatile, relaxed, acquire, release, acq_rel, seq_cst
	vector int
	op     string // of atom and red
	tells  bool   // a barrier in memory, the last operand
	types  []ptx.Type
}

var orders = []string{"volatile", "relaxed", "acquire", "release", "acq_rel", "seq_cst"}
var operations = strings.Fields("add and or xor cas exch inc dec min max")

// accessOf reads an instruction's parts.
func (b *body) accessOf(i *ptx.Instruction) (a access) {
	for _, m := range i.Mods {
		first, rest, _ := strings.Cut(m, "::")
		switch {
		case slices.Contains([]string{"global", "shared", "local", "const", "param"}, first):
			if rest != "" && rest != "cta" && (rest != "cluster" || first != "shared") && rest != "entry" && rest != "func" {
				b.unknown(i)
			}
			a.space = first
		case slices.Contains(orders, m):
			a.order = m
		case m == "v2" || m == "v4" || m == "v8":
			a.vector = int(m[1] - '0')
		case slices.Contains(operations, m) && (i.Op == "atom" || i.Op == "red"):
			a.op = m
		case m == "mbarrier" || m == "async" || first == "mbarrier" && i.Op != "ld":
			a.tells = true
		case slices.Contains([]string{"weak", "nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "cta", "gpu", "sys", "cluster", "noftz"}, m) || first == "L1" || first == "L2":
		case ptx.Type(m).Bits() > 0:
			a.types = append(a.types, ptx.Type(m))
		default:
			b.unknown(i)
		}
	}
	if len(a.types) != 1 || a.types[0].Bits() > 64 && (a.types[0] != "b128" || a.vector != 0) {
		b.unknown(i)
	}
	return a
}

// elements are a vector's operands, or the operand itself.
func elements(o ptx.Operand) []ptx.Operand {
	if o.Kind == ptx.Vector {
		return o.Parts
	}
	return []ptx.Operand{o}
}

func (b *body) load(i *ptx.Instruction) {
	a := b.accessOf(i)
	y := a.types[0]
	list := elements(i.Operands[0])
	if o := i.Operands[1]; b.variable(o.Text) != nil && b.variable(o.Text).Space == "param" || a.space == "param" && b.typeOf(o.Text) == "" {
		for k, e := range list {
			b.write(e, y, fmt.Sprintf("gocuda::pick<%s>(%s, %d)", value(y), b.parameter(o.Text), o.Plus+int64(k*y.Bits()/8)))
		}
		return
	}
	at := b.pointer(i.Operands[1], a.space)
	if b.told(a.space) && a.order != "" {
		b.emit("{ const gocuda_u64 gocuda_o = %s; gocuda::order_turn();", at)
		defer b.emit("}")
		defer b.tell(i, a, "gocuda_o", 1, nil)
	} else {
		b.tell(i, a, at, len(list), nil)
	}
	if len(list) > 1 {
		b.emit("{ const gocuda_u64 gocuda_a = %s;", at)
		b.sites("load", len(list)*y.Bits()/8)
		for k := range list {
			b.emit("const %s gocuda_v%d = gocuda::raw_load<%[1]s>(gocuda_a + %[3]d);", value(y), k, k*y.Bits()/8)
		}
		for k, e := range list {
			b.write(e, y, fmt.Sprintf("gocuda_v%d", k))
		}
		b.emit("}")
		return
	}
	text := fmt.Sprintf("GOCUDA_LOAD(%s, %d, %s)", value(y), y.Bits()/8, at) // where it stands is its line: no function of a header
	switch a.order {
	case "volatile", "relaxed":
		text = fmt.Sprintf("*(volatile %s *)(%s)", value(y), at)
	case "acquire":
		text = fmt.Sprintf("gocuda::load_acquire<%s>(%s)", value(y), at)
	}
	b.write(list[0], y, text)
}

// parameter is what holds a parameter.
func (b *body) parameter(name string) string {
	if v := b.variable(name); v == nil || v.Space != "param" {
		b.refuse("the PTX reads or writes the parameter %s, which is not declared", name)
	}
	return id(name)
}

func (b *body) store(i *ptx.Instruction) {
	a := b.accessOf(i)
	y := a.types[0]
	o, list := i.Operands[0], elements(i.Operands[1])
	var values []string
	for _, e := range list {
		values = append(values, b.read(e, y))
	}
	if a.space == "param" || b.variable(o.Text) != nil && b.variable(o.Text).Space == "param" {
		for k, v := range values {
			b.emit("gocuda::put<%s>(%s, %d, %s);", value(y), b.parameter(o.Text), o.Plus+int64(k*y.Bits()/8), v)
		}
		return
	}
	at := b.pointer(o, a.space)
	b.tell(i, a, at, len(list), values)
	if b.slow[i] {
		b.emit("gocuda::between();")
	}
	if a.tells {
		if len(i.Operands) != 3 {
			b.unknown(i)
		}
		for k, v := range values {
			b.emit("((%s *)(%s))[%d] = %s;", value(y), at, k, v)
		}
		b.emit("gocuda::mbarrier_change(%s, 0, 0, -%dul);", b.pointer(i.Operands[2], a.space), len(list)*y.Bits()/8)
		return
	}
	if len(list) > 1 {
		b.emit("{ const gocuda_u64 gocuda_a = %s;", at)
		b.sites("store", len(list)*y.Bits()/8)
		for k, v := range values {
			b.emit("gocuda::raw_store<%s>(gocuda_a + %d, %s);", value(y), k*y.Bits()/8, v)
		}
		b.emit("}")
		return
	}
	switch a.order {
	case "volatile", "relaxed":
		b.emit("*(volatile %s *)(%s) = %s;", value(y), at, values[0])
	case "release":
		b.emit("gocuda::store_release<%s>(%s, %s);", value(y), at, values[0])
	default:
		b.emit("GOCUDA_STORE(%s, %d, %s, %s);", value(y), y.Bits()/8, at, values[0])
	}
}

// sites checks an access of so many bytes at gocuda_a.
func (b *body) sites(kind string, bytes int) {
	for at := 0; at < bytes; at += 16 {
		b.emit("GOCUDA_SITE(%s, %d, gocuda_a + %d);", kind, min(16, bytes-at), at)
	}
}

// atomic does atom, and red, which has no result.
func (b *body) atomic(i *ptx.Instruction) {
	a := b.accessOf(i)
	y := a.types[0]
	operands := i.Operands
	result := unused
	if i.Op == "atom" {
		result, operands = operands[0], operands[1:]
	}
	one, _ := halves(y)
	small := y.Bits() < 32 && shorts[one] == "" && !(y.Bits() == 16 && a.op == "cas") || y.Bits() > 64 && a.op != "cas" && a.op != "exch"
	extreme := shorts[one] != "" && a.vector != 0 && (a.op == "min" || a.op == "max")
	if small || a.op == "" || y.Float() && !extreme && a.op != "add" && (a.op != "exch" || shorts[one] != "") || a.vector != 0 && (!y.Float() || a.op != "add" && !extreme) {
		b.unknown(i)
	}
	if y == "b32" || y == "b64" {
		y = unsigned(y)
		a.types[0] = y
	}
	at := b.pointer(operands[0], a.space)
	if b.told(a.space) {
		b.emit("{ const gocuda_u64 gocuda_o = %s; gocuda::order_turn();", at)
		at = "gocuda_o"
		defer b.emit("}")
		defer b.tell(i, a, at, max(a.vector, 1), nil)
	} else {
		b.tell(i, a, at, 1, nil)
	}
	if a.tells {
		if len(operands) != 3 || a.vector != 0 {
			b.unknown(i)
		}
		b.emit("(void)%s;", b.atomicCall(a, at, operands[1:2]))
		b.emit("gocuda::mbarrier_change(%s, 0, 0, -%dul);", b.pointer(operands[2], a.space), y.Bits()/8)
		return
	}
	if a.vector == 0 {
		b.write(result, y, b.atomicCall(a, at, operands[1:]))
		return
	}
	list := elements(operands[1]) // each number is added by itself
	b.emit("{")
	for k, o := range list {
		b.emit("%s gocuda_v%d = %s;", held(y), k, b.atomicCall(a, fmt.Sprintf("(%s + %d)", at, k*y.Bits()/8), []ptx.Operand{o}))
	}
	for k := range list {
		if result.Kind == ptx.Vector && k < len(result.Parts) {
			b.write(result.Parts[k], y, fmt.Sprintf("gocuda_v%d", k))
		} else {
			b.emit("(void)gocuda_v%d;", k)
		}
	}
	b.emit("}")
}

// atomicCall is the call of an atomic operation on what is at an address.
func (b *body) atomicCall(a access, at string, operands []ptx.Operand) string {
	var values []string
	for _, o := range operands {
		values = append(values, b.read(o, a.types[0]))
	}
	return b.operate(a, at, values)
}

// operate is such a call, with values in C++.
func (b *body) operate(a access, at string, values []string) string {
	y := a.types[0]
	wide := value(y)
	if y.Bits() == 64 && !y.Float() {
		wide = map[bool]string{true: "long long", false: "unsigned long long"}[y.Signed() && (a.op == "min" || a.op == "max")]
	}
	if y.Bits() == 32 && !y.Float() && (a.op == "inc" || a.op == "dec") {
		wide = "unsigned"
	}
	name := "atomic" + map[string]string{"add": "Add", "and": "And", "or": "Or", "xor": "Xor", "cas": "CAS", "exch": "Exch", "inc": "Inc", "dec": "Dec", "min": "Min", "max": "Max"}[a.op]
	own := false
	if one, _ := halves(y); shorts[one] != "" {
		name, own = "gocuda::atomic_"+a.op+"<"+shorts[one]+">", true
	} else if y.Bits() == 64 && (a.op == "inc" || a.op == "dec") || y.Bits() == 128 {
		name, own = "gocuda::atomic_"+a.op, true
	}
	if b.looped && a.space == "shared" && !own && y.Bits() >= 32 {
		name = "gocuda::shared_" + a.op // the block's threads alone have it, and none comes in between
	}
	args := []string{fmt.Sprintf("(%s *)%s", wide, at)}
	for _, v := range values {
		args = append(args, fmt.Sprintf("(%s)%s", wide, v))
	}
	return fmt.Sprintf("(%s)%s(%s)", value(y), name, strings.Join(args, ", "))
}

// known are the functions that simulated devices have.
var known = map[string]string{"vprintf": "gocuda_vprintf", "__assertfail": "gocuda::assert_fails", "malloc": "gocuda::device_malloc", "free": "gocuda::device_free"}

func (b *body) call(i *ptx.Instruction) {
	operands := i.Operands
	var results, params []ptx.Operand
	if len(operands) > 0 && operands[0].Kind == ptx.List {
		results, operands = operands[0].Parts, operands[1:]
	}
	if len(operands) == 0 || len(results) > 1 {
		b.refuse("simulated devices do not know the form of the PTX call %s", i)
	}
	to := operands[0]
	if len(operands) > 1 && operands[1].Kind == ptx.List {
		params = operands[1].Parts
	}
	var args, types []string
	for _, o := range params {
		v := b.variable(o.Text)
		if v == nil {
			b.refuse("a call in the PTX has the argument %s, which is no parameter", o)
		}
		args, types = append(args, id(o.Text)), append(types, storage(v))
	}
	result := "void"
	if len(results) == 1 {
		v := b.variable(results[0].Text)
		if v == nil {
			b.refuse("a call in the PTX has the result %s, which is no parameter", results[0])
		}
		result = storage(v)
	}
	f := ""
	switch s := b.symbols[to.Text]; {
	case b.typeOf(to.Text) != "":
		f = fmt.Sprintf("((%s (*)(%s))%s)", result, strings.Join(types, ", "), id(to.Text))
	case known[to.Text] != "" && s.function != nil && s.function.Declared:
		f = known[to.Text]
	case s.space == "func":
		f = id(to.Text)
	default:
		b.refuse("the PTX calls %s, which is not declared", to.Text)
	}
	text := fmt.Sprintf("%s(%s);", f, strings.Join(args, ", "))
	if len(results) == 1 {
		text = id(results[0].Text) + " = " + text
	}
	b.emit("%s", text)
}
