package cpp

import (
	"fmt"
	"slices"
	"strings"

	"gocuda/cudaapi/ptx"
)

// parts are an instruction's, sorted by what they say.
type parts struct {
	types        []ptx.Type
	round        string // rn, rz, rm, rp or rni, rzi, rmi, rpi
	ftz, sat, cc bool
	nan          bool
	words        []string // the others
}

var types = func() (list []ptx.Type) {
	for _, t := range strings.Fields("pred b8 b16 b32 b64 b128 u8 u16 u16x2 u32 u64 s8 s16 s16x2 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64") {
		list = append(list, ptx.Type(t))
	}
	return list
}()

func partsOf(i *ptx.Instruction) (p parts) {
	for _, m := range i.Mods {
		switch m {
		case "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi":
			p.round = m
		case "ftz":
			p.ftz = true
		case "sat":
			p.sat = true
		case "cc":
			p.cc = true
		case "NaN":
			p.nan = true
		case "uni", "aligned", "sync", "approx", "full": // approximate functions are exact here
		default:
			if slices.Contains(types, ptx.Type(m)) {
				p.types = append(p.types, ptx.Type(m))
			} else {
				p.words = append(p.words, m)
			}
		}
	}
	return p
}

func (b *body) unknown(i *ptx.Instruction) {
	b.refuse("simulated devices do not know the PTX instruction %s", i.Name())
}

// results are the operands of d|p; p is _ where there is none.
func results(o ptx.Operand) (d, p ptx.Operand) {
	if o.Kind == ptx.Both {
		return o.Parts[0], o.Parts[1]
	}
	return o, unused
}

// unused is the operand of a result that nobody wants.
var unused = ptx.Operand{Kind: ptx.Name, Text: "_"}

var directed = map[string]string{"rz": "gocuda::Zero", "rm": "gocuda::Down", "rp": "gocuda::Up"}

// ofNaN are the operands, the first one first, whose bits an f64 that is no number is of.
var ofNaN = map[string]string{"add": ", %[2]s, %[1]s", "sub": ", %[2]s, %[1]s", "mul": ", %[2]s, %[1]s", "fma": ", %[2]s, %[3]s, %[1]s"}

// float does arithmetic of f32 and f64: text has the operands' names a, b and c as %s, rounded is
// the function of rounded.h for other roundings.
func (b *body) float(i *ptx.Instruction, p parts, plain, rounded string) {
	y := p.types[0]
	if y != "f32" && y != "f64" || len(p.words) > 0 || p.cc {
		b.unknown(i)
	}
	var args []any
	var names []string
	for _, o := range i.Operands[1:] {
		v := b.read(o, y)
		if p.ftz && y == "f32" {
			v = "gocuda::flushed(" + v + ")"
		}
		args, names = append(args, v), append(names, v)
	}
	text, own := "", y == "f64" && ofNaN[i.Op] != ""
	if to := directed[p.round]; to != "" {
		if rounded == "" {
			b.unknown(i)
		}
		if text = fmt.Sprintf(strings.Replace(rounded, "<To>", "<"+to+">", 1), args...); own {
			text = fmt.Sprintf("gocuda::with_nan("+text+ofNaN[i.Op]+")", args...)
		}
	} else if own {
		text = fmt.Sprintf("gocuda::f%s(%s)", i.Op, strings.Join(names, ", "))
	} else {
		text = fmt.Sprintf(plain, args...)
	}
	if p.ftz && y == "f32" {
		text = "gocuda::flushed(" + text + ")"
	}
	if p.sat {
		text = "gocuda::saturated(" + text + ")"
	}
	if d := i.Operands[0].Text; y == "f32" && i.Op != "copysign" && (b.nans.seen[d] && !b.nans.results[d] || b.typeOf(d) != "f32") {
		text = "gocuda::canonical(" + text + ")"
	}
	b.write(i.Operands[0], y, text)
}

// least is how many operands an instruction has at least: 2 where nothing stands here.
var least = map[string]int{"ret": 0, "exit": 0, "trap": 0, "brkpt": 0, "pmevent": 1, "membar": 0, "fence": 0, "bar": 0, "barrier": 0, "mbarrier": 1, "cp": 0, "bra": 1, "call": 1, "activemask": 1, "nanosleep": 1, "red": 2,
	"mad": 4, "fma": 4, "selp": 4, "setp": 3, "set": 3, "add": 3, "sub": 3, "mul": 3, "div": 3, "rem": 3, "min": 3, "max": 3, "and": 3, "or": 3, "xor": 3, "shl": 3, "shr": 3,
	"shf": 4, "bfe": 4, "bfi": 5, "prmt": 4, "copysign": 3, "addc": 3, "subc": 3, "madc": 4, "mul24": 3, "mad24": 4, "lop3": 5, "dp4a": 4, "dp2a": 4, "bmsk": 3, "szext": 3, "sad": 4, "shfl": 5, "vote": 3, "match": 3, "redux": 3, "brx": 2, "prefetch": 0, "prefetchu": 0, "griddepcontrol": 0, "isspacep": 2, "mapa": 3}

func (b *body) instruction(i *ptx.Instruction) {
	if n, ok := least[i.Op]; len(i.Operands) < n || !ok && len(i.Operands) < 2 {
		b.unknown(i)
	}
	b.tellBeyond(i)
	p := partsOf(i)
	b.looks = b.nans.looks(i)
	var y ptx.Type
	if len(p.types) > 0 {
		y = p.types[0]
	}
	o := i.Operands
	switch i.Op {
	case "ld", "ldu":
		b.load(i)
		return
	case "st":
		b.store(i)
		return
	case "pmevent": // counts something
		return
	case "atom", "red":
		b.atomic(i)
		return
	case "call":
		b.call(i)
		return
	case "bra":
		if l, ok := b.loops[i]; ok && l.waits {
			b.emit("gocuda::%s(true);", l.how())
		}
		b.emit("goto %s;", b.label(o[0].Text))
		return
	case "brx":
		b.table(i)
		return
	case "ret":
		if len(b.f.Results) > 0 {
			b.emit("return %s;", id(b.f.Results[0].Name))
		} else {
			b.emit("return;")
		}
		return
	case "exit":
		if !b.f.Kernel {
			b.unknown(i)
		}
		b.emit("return;")
		return
	case "trap":
		b.emit("__trap();")
		return
	case "brkpt", "prefetch", "prefetchu", "griddepcontrol": // a programmatic launch overlaps nothing here
		return
	case "membar", "fence":
		b.emit("__threadfence();")
		if b.observed && !slices.ContainsFunc(i.Mods, func(m string) bool { return strings.HasPrefix(m, "proxy") }) {
			b.emit("gocuda::order_fence(%d);", scopeOf(i, 2))
		}
		return
	case "nanosleep":
		b.emit("__nanosleep(0);")
		return
	case "activemask":
		b.write(o[0], "b32", "gocuda::active()")
		return
	case "bar", "barrier":
		b.barrier(i, p)
		return
	case "tex", "tld4":
		b.texture(i)
		return
	case "suld", "sust":
		b.surface(i)
		return
	case "txq", "suq":
		b.query(i)
		return
	case "mbarrier":
		if len(i.Mods) == 0 {
			b.unknown(i)
		}
		b.mbarrier(i, p)
		return
	case "cp":
		b.copy(i)
		return
	case "elect":
		b.elect(i)
		return
	case "mapa", "getctarank":
		if len(p.types) != 1 {
			b.unknown(i)
		}
		b.mapped(i, p)
		return
	case "shfl", "vote", "match", "redux":
		b.lanes(i, p)
		return
	case "mma", "wmma", "ldmatrix", "stmatrix", "movmatrix":
		b.matrix(i)
		return
	case "isspacep":
		b.isspacep(i, p)
		return
	case "cvta":
		b.generic(i, p)
		return
	case "cvt":
		if b.small(i) {
			return
		}
	}
	if y == "" {
		b.unknown(i)
	}
	if i.Op == "vmad" {
		b.multiplyAdd(i, p)
		return
	}
	if i.Op[0] == 'v' {
		b.video(i, p)
		return
	}
	if one, pair := halves(y); (pair || shorts[one] != "") && !slices.Contains([]string{"cvt", "mov", "selp", "set", "setp"}, i.Op) {
		b.short(i, p)
		return
	}
	if y.Bits() > 64 && i.Op != "mov" {
		b.unknown(i)
	}
	if y.Float() {
		switch i.Op {
		case "add":
			b.float(i, p, "%s + %s", "gocuda::sum<To>(%s, %s)")
			return
		case "sub":
			b.float(i, p, "%s - %s", "gocuda::sum<To>(%s, -%s)")
			return
		case "mul":
			b.float(i, p, "%s * %s", "gocuda::product<To>(%s, %s)")
			return
		case "fma", "mad":
			b.float(i, p, "gocuda::fuse(%s, %s, %s)", "gocuda::fused<To>(%s, %s, %s)")
			return
		case "div":
			b.float(i, p, "%s / %s", "gocuda::quotient<To>(%s, %s)")
			return
		case "sqrt":
			b.float(i, p, "sqrt(%s)", "gocuda::root<To>(%s)")
			return
		case "rcp":
			b.float(i, p, fmt.Sprintf("(%s)1 / %%s", value(y)), fmt.Sprintf("gocuda::quotient<To>((%s)1, %%s)", value(y)))
			return
		case "rsqrt", "ex2", "lg2", "sin", "cos", "tanh":
			b.float(i, p, "gocuda::approx_"+i.Op+"(%s)", "")
			return
		case "min", "max":
			f := "gocuda::f" + i.Op
			if p.nan {
				f += "_nan"
			}
			b.observe(i)
			if f += "(%s, %s)"; p.signed() {
				f = "gocuda::with_signs(" + strings.ReplaceAll(f, "%s", "gocuda::fabs(%[1]s)") + ", %[1]s, %[2]s)"
				f = strings.Replace(f, "fabs(%[1]s))", "fabs(%[2]s))", 1)
			}
			b.float(i, p, f, "")
			return
		case "neg", "abs":
			b.float(i, p, "gocuda::f"+i.Op+"(%s)", "")
			return
		case "copysign":
			b.float(i, p, "gocuda::sign_of(%s, %s)", "")
			return
		case "testp":
			if len(p.words) == 1 {
				b.write(o[0], "pred", fmt.Sprintf("gocuda::is_%s(%s)", p.words[0], b.read(o[1], y)))
				return
			}
		}
	}
	switch i.Op {
	case "mov":
		b.move(i, y)
	case "cvt":
		b.cvt(i, p)
	case "setp", "set":
		b.compare(i, p)
	case "selp":
		b.write(o[0], y, fmt.Sprintf("%s ? %s : %s", b.read(o[3], "pred"), b.read(o[1], y), b.read(o[2], y)))
	default:
		b.integer(i, p, y)
	}
}

// observe has a minimum's NaN count.
func (b *body) observe(i *ptx.Instruction) { b.nans.seen[i.Operands[0].Text] = true }

func unsigned(y ptx.Type) ptx.Type { return ptx.Type(fmt.Sprintf("u%d", y.Bits())) }

func (b *body) integer(i *ptx.Instruction, p parts, y ptx.Type) {
	o, v := i.Operands, value(y)
	u := unsigned(y)
	word := ""
	if len(p.words) > 0 {
		word = p.words[0]
	}
	if y.Float() || p.round != "" || p.ftz || len(p.words) > 1 && i.Op != "shf" {
		b.unknown(i)
	}
	arg := func(k int) string { return b.read(o[k], y) }
	bits := func(k int) string { return b.read(o[k], u) }
	f := func(name string) string {
		var args []string
		for k := range o[1:] {
			args = append(args, fmt.Sprintf("(%s)%s", v, arg(k+1)))
		}
		return fmt.Sprintf("gocuda::%s<%s>(%s)", name, v, strings.Join(args, ", "))
	}
	h := held(u)
	set := func(format string, args ...any) { b.write(o[0], y, fmt.Sprintf(format, args...)) }
	if y == "pred" {
		switch i.Op {
		case "and":
			set("%s & %s", arg(1), arg(2))
		case "or":
			set("%s | %s", arg(1), arg(2))
		case "xor":
			set("%s ^ %s", arg(1), arg(2))
		case "not":
			set("!%s", arg(1))
		default:
			b.unknown(i)
		}
		return
	}
	if word != "" && !slices.Contains([]string{"mul", "mad", "shf", "bfind", "madc", "prmt", "mul24", "mad24", "bmsk", "szext", "dp2a", "min", "max"}, i.Op) || p.sat && i.Op != "add" && i.Op != "sub" {
		b.unknown(i)
	}
	switch i.Op {
	case "add", "sub", "addc", "subc":
		switch {
		case p.sat:
			set("%s", f(i.Op+"_sat"))
		case p.cc || i.Op == "addc" || i.Op == "subc":
			b.carrying(o[0], y, i.Op[:3], h, bits(1), bits(2), len(i.Op) == 4, p.cc)
		default:
			set("(%s)(%s %s %s)", h, bits(1), map[string]string{"add": "+", "sub": "-"}[i.Op], bits(2))
		}
	case "mul", "mad", "madc":
		b.product(i, p, y, word)
	case "mul24", "mad24":
		if word != "lo" {
			b.unknown(i)
		}
		text := fmt.Sprintf("gocuda::low24<%s>(%s) * gocuda::low24<%s>(%s)", v, arg(1), v, arg(2))
		if i.Op == "mad24" {
			text = fmt.Sprintf("(%s)(%s) + %s", h, text, bits(3))
		}
		set("(%s)(%s)", h, text)
	case "div", "rem":
		line := fmt.Sprint(max(b.place, 0))
		if b.early[b.original(i)] {
			line = "gocuda::untold"
		}
		set("gocuda::%s<%s>(%s, %s, %s)", i.Op, v, arg(1), arg(2), line)
	case "min", "max":
		if word != "" && (word != "relu" || y != "s32") {
			b.unknown(i)
		}
		op := map[string]string{"min": "<", "max": ">"}[i.Op]
		text := fmt.Sprintf("%s %s %s ? %s : %s", arg(1), op, arg(2), arg(1), arg(2))
		if word == "relu" {
			text = fmt.Sprintf("gocuda::positive<int>(%s)", text)
		}
		set("%s", text)
	case "abs":
		set("(%s)(%s < 0 ? 0 - %s : %s)", h, arg(1), bits(1), bits(1))
	case "neg":
		set("(%s)(0 - %s)", h, bits(1))
	case "and", "or", "xor":
		set("(%s)(%s %s %s)", h, bits(1), map[string]string{"and": "&", "or": "|", "xor": "^"}[i.Op], bits(2))
	case "not":
		set("(%s)~%s", h, bits(1))
	case "cnot":
		set("(%s)(%s == 0)", h, bits(1))
	case "shl", "shr":
		set("gocuda::%s<%s>(%s, %s)", i.Op, v, arg(1), b.read(o[2], "u32"))
	case "shf":
		if len(p.words) != 2 {
			b.unknown(i)
		}
		set("gocuda::funnel_%s(%s, %s, %s, %v)", word, bits(1), bits(2), b.read(o[3], "u32"), p.words[1] == "wrap")
	case "popc", "clz":
		b.write(o[0], "u32", fmt.Sprintf("gocuda::%s<%s>(%s)", i.Op, h, bits(1)))
	case "brev":
		set("gocuda::brev<%s>(%s)", h, bits(1))
	case "bfind":
		if word != "" && word != "shiftamt" {
			b.unknown(i)
		}
		b.write(o[0], "u32", fmt.Sprintf("gocuda::bfind<%s>(%s, %v)", v, arg(1), word != ""))
	case "bfe":
		set("gocuda::bfe<%s>(%s, %s, %s)", v, arg(1), b.read(o[2], "u32"), b.read(o[3], "u32"))
	case "bfi":
		set("gocuda::bfi<%s>(%s, %s, %s, %s)", h, bits(1), bits(2), b.read(o[3], "u32"), b.read(o[4], "u32"))
	case "prmt":
		how := bits(3)
		if word != "" {
			table := map[string]string{"f4e": "0x6543543243213210", "b4e": "0x0123701267015670", "rc8": "0x3333222211110000",
				"ecl": "0x3333322232113210", "ecr": "0x3210221011100000", "rc16": "0x3232101032321010"}[word]
			if table == "" {
				b.unknown(i)
			}
			how = fmt.Sprintf("(gocuda_u32)(%sul >> 16 * (%s & 3))", table, how)
		}
		set("gocuda::prmt(%s, %s, %s)", bits(1), bits(2), how)
	case "bmsk", "szext":
		if word != "clamp" && word != "wrap" || y.Bits() != 32 {
			b.unknown(i)
		}
		set("gocuda::%s<%s>(%s, %s, %v)", i.Op, v, arg(1), b.read(o[2], "u32"), word == "wrap")
	case "dp4a", "dp2a":
		first := map[string]string{"dp4a": "0", "dp2alo": "0", "dp2ahi": "2"}[i.Op+word]
		if len(p.types) != 2 || first == "" {
			b.unknown(i)
		}
		set("gocuda::dot<%s, %v, %v>(%s, %s, %s, %s)", map[string]string{"dp4a": "8", "dp2a": "16"}[i.Op], p.types[0].Signed(), p.types[1].Signed(), bits(1), bits(2), bits(3), first)
	case "lop3":
		set("gocuda::lop3(%s, %s, %s, %s)", bits(1), bits(2), bits(3), b.read(o[4], "u32"))
	case "sad":
		set("(%s)((%s < %s ? %s - %s : %s - %s) + %s)", h, arg(1), arg(2), bits(2), bits(1), bits(1), bits(2), bits(3))
	default:
		b.unknown(i)
	}
}

// carrying adds or subtracts two numbers of type h, with the carry if it takes it; sets says
// whether it sets it.
func (b *body) carrying(d ptx.Operand, y ptx.Type, op, h, x, z string, takes, sets bool) {
	in, out := "false", "gocuda_unused"
	if takes {
		in = "gocuda_carry"
	}
	if sets {
		out = "gocuda_carry"
	}
	b.emit("{ bool gocuda_unused; (void)gocuda_unused;")
	b.write(d, y, fmt.Sprintf("gocuda::%s_carry<%s>(%s, %s, %s, %s)", op, h, x, z, in, out))
	b.emit("}")
}

func (b *body) product(i *ptx.Instruction, p parts, y ptx.Type, word string) {
	o, v, h := i.Operands, value(y), held(unsigned(y))
	if p.sat || i.Op == "mul" && p.cc || word == "wide" && (p.cc || i.Op == "madc") {
		b.unknown(i)
	}
	text, z := "", y
	switch word {
	case "lo":
		text = fmt.Sprintf("(%s)((gocuda_u64)%s * (gocuda_u64)%s)", h, b.read(o[1], unsigned(y)), b.read(o[2], unsigned(y)))
	case "hi":
		text = fmt.Sprintf("gocuda::high<%s>(%s, %s)", v, b.read(o[1], y), b.read(o[2], y))
	case "wide":
		z = ptx.Type(fmt.Sprintf("%s%d", string(y[0]), 2*y.Bits()))
		if z.Bits() > 64 {
			b.unknown(i)
		}
		text = fmt.Sprintf("(%s)((%s)%s * (%s)%s)", held(unsigned(z)), value(z), b.read(o[1], y), value(z), b.read(o[2], y))
	default:
		b.unknown(i)
	}
	if p.cc || i.Op == "madc" {
		b.carrying(o[0], z, "add", h, fmt.Sprintf("(%s)%s", h, text), b.read(o[3], unsigned(z)), i.Op == "madc", p.cc)
		return
	}
	if i.Op == "mad" {
		text = fmt.Sprintf("(%s)((%s)%s + %s)", held(unsigned(z)), held(unsigned(z)), text, b.read(o[3], unsigned(z)))
	}
	b.write(o[0], z, text)
}

// move copies, also between a register and a vector of its parts.
func (b *body) move(i *ptx.Instruction, y ptx.Type) {
	from, to := i.Operands[1], i.Operands[0]
	part := func(n int) ptx.Type { return ptx.Type(fmt.Sprintf("b%d", y.Bits()/n)) }
	switch {
	case to.Kind == ptx.Vector:
		n := len(to.Parts)
		b.emit("{ gocuda_u%d gocuda_v = %s;", y.Bits(), b.read(from, unsigned(y)))
		for k, o := range to.Parts {
			b.write(o, part(n), fmt.Sprintf("(gocuda_u%d)(gocuda_v >> %d)", y.Bits()/n, k*y.Bits()/n))
		}
		b.emit("}")
	case from.Kind == ptx.Vector:
		n := len(from.Parts)
		var list []string
		for k, o := range from.Parts {
			list = append(list, fmt.Sprintf("(gocuda_u%d)%s << %d", y.Bits(), b.read(o, part(n)), k*y.Bits()/n))
		}
		b.write(to, unsigned(y), strings.Join(list, " | "))
	default:
		b.write(to, y, b.read(from, y))
	}
}

// compare does setp and set.
func (b *body) compare(i *ptx.Instruction, p parts) {
	y := p.types[len(p.types)-1]
	one, pair := halves(y)
	if len(p.words) == 0 || y.Bits() < 16 || one.Float() && one != "f32" && one != "f64" && shorts[one] == "" || pair && shorts[one] == "" {
		b.unknown(i)
	}
	with := ""
	if len(p.words) > 1 {
		if with = map[string]string{"and": "&", "or": "|", "xor": "^"}[p.words[1]]; with == "" || len(i.Operands) < 4 {
			b.unknown(i)
		}
		with += " " + b.read(i.Operands[3], "pred")
	}
	holds := func(part string) string { return b.holds(i, p, one, part) }
	if i.Op == "set" {
		b.set(i, p, pair, holds, with)
		return
	}
	d, other := results(i.Operands[0])
	switch {
	case pair:
		b.emit("{ bool gocuda_v = %s%s, gocuda_w = %s%s;", holds(low), with, holds(high), with)
	case other.Text == "_":
		b.write(d, "pred", holds("")+with)
		return
	default:
		b.emit("{ bool gocuda_v = %s, gocuda_w = !gocuda_v%s; gocuda_v = gocuda_v%s;", holds(""), with, with)
	}
	b.write(d, "pred", "gocuda_v")
	b.write(other, "pred", "gocuda_w")
	b.emit("}")
}

// holds is the condition of a comparison, of numbers or of a part of pairs.
func (b *body) holds(i *ptx.Instruction, p parts, y ptx.Type, part string) string {
	operand := func(k int) string {
		v := b.part(i.Operands[k], y, part)
		switch f := shorts[y]; {
		case f != "" && p.ftz:
			return fmt.Sprintf("gocuda::widen<%s>(gocuda::Short<%s>::flushed(%s))", f, f, v)
		case f != "":
			return fmt.Sprintf("gocuda::widen<%s>(%s)", f, v)
		case p.ftz && y == "f32":
			return "gocuda::flushed(" + v + ")"
		}
		return v
	}
	x, z, op := operand(1), operand(2), p.words[0]
	plain := map[string]string{"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
	switch {
	case op == "ne" && y.Float():
		return fmt.Sprintf("gocuda::is_other(%s, %s)", x, z)
	case plain[op] != "":
		return fmt.Sprintf("(%s %s %s)", x, plain[op], z)
	case y.Float() && op == "equ":
		return fmt.Sprintf("!gocuda::is_other(%s, %s)", x, z)
	case y.Float() && len(op) == 3 && op[2] == 'u' && plain[op[:2]] != "":
		inverse := map[string]string{"ne": "==", "lt": ">=", "le": ">", "gt": "<=", "ge": "<"}[op[:2]]
		return fmt.Sprintf("!(%s %s %s)", x, inverse, z)
	case op == "num":
		return fmt.Sprintf("(%s == %s && %s == %s)", x, x, z, z)
	case op == "nan":
		return fmt.Sprintf("!(%s == %s && %s == %s)", x, x, z, z)
	}
	b.unknown(i)
	return ""
}

// set gives 1, or all bits, where a condition holds.
func (b *body) set(i *ptx.Instruction, p parts, pair bool, holds func(string) string, with string) {
	d := p.types[0]
	one, pairs := halves(d)
	yes := map[ptx.Type]string{"f32": "1.0f", "f16": "0x3c00", "bf16": "0x3f80"}[one]
	if yes == "" {
		yes = map[int]string{16: "0xffff", 32: "~0u"}[one.Bits()]
	}
	switch {
	case yes == "" || pairs != pair && (pairs || d.Bits() != 32):
		b.unknown(i)
	case pair:
		if !pairs {
			yes = "0xffff"
		}
		b.write(i.Operands[0], "b32", fmt.Sprintf("((%s%s) ? %su : 0) | ((%s%s) ? %su : 0) << 16", holds(low), with, yes, holds(high), with, yes))
	default:
		b.write(i.Operands[0], d, fmt.Sprintf("(%s%s) ? (%s)%s : (%s)0", holds(""), with, value(d), yes, value(d)))
	}
}

// cvt converts.
func (b *body) cvt(i *ptx.Instruction, p parts) {
	o := i.Operands
	finite := len(p.words) > 0 && p.words[len(p.words)-1] == "satfinite"
	if finite {
		p.words = p.words[:len(p.words)-1]
	}
	relu := len(p.words) == 1 && p.words[0] == "relu"
	if len(p.types) != 2 || len(p.words) > 0 && !relu || p.types[1].Bits() > 64 {
		b.unknown(i)
	}
	d, s := p.types[0], p.types[1]
	if one, pair := halves(d); pair && shorts[one] != "" && len(o) == 3 && s == "f32" && !p.sat && !p.ftz {
		v := func(k int) string { return b.narrowed(i, p, one, b.read(o[k], "f32"), relu, finite) }
		b.write(o[0], "b32", fmt.Sprintf("(gocuda_u32)%s << 16 | %s", v(1), v(2)))
		return
	}
	if len(o) != 2 || d.Bits() > 64 || d[len(d)-1] == 'x' {
		b.unknown(i)
	}
	v := b.read(o[1], s)
	dv := value(d)
	text := ""
	same := d == s
	if shorts[s] != "" {
		v, s = fmt.Sprintf("gocuda::widen<%s>(%s)", shorts[s], v), "f32"
	}
	if p.ftz && s == "f32" {
		v = "gocuda::canonical(gocuda::flushed(" + v + "))"
	}
	integral := map[string]string{"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}[p.round]
	if integral != "" {
		integral = "__builtin_" + integral + map[bool]string{true: "f", false: ""}[s == "f32"]
	}
	if (relu || finite) && shorts[d] == "" || integral != "" && d.Float() && !same {
		b.unknown(i)
	}
	switch {
	case shorts[d] != "":
		if integral != "" {
			v = fmt.Sprintf("%s(%s)", integral, v)
		} else if s.Bits() == 64 && !s.Float() {
			v = fmt.Sprintf("gocuda::odd_of(%s)", v)
		}
		text = b.narrowed(i, p, d, v, relu, finite)
		if p.sat {
			text = fmt.Sprintf("gocuda::Short<%s>::saturated(%s)", shorts[d], text)
		}
		b.write(o[0], d, text)
		return
	case d.Float() && s.Float():
		switch {
		case integral != "":
			text = fmt.Sprintf("%s(%s)", integral, v)
		case directed[p.round] != "" && d == "f32" && s == "f64":
			text = fmt.Sprintf("gocuda::converted<%s, float>(%s)", directed[p.round], v)
		default:
			text = fmt.Sprintf("(%s)(%s)", dv, v)
		}
		if p.ftz && d == "f32" {
			text = "gocuda::flushed(" + text + ")"
		}
	case d.Float():
		text = fmt.Sprintf("(%s)%s", dv, v)
		if to := directed[p.round]; to != "" {
			text = fmt.Sprintf("gocuda::converted<%s, %s>(%s)", to, dv, v)
		}
	case s.Float():
		if integral == "" {
			b.unknown(i)
		}
		text = fmt.Sprintf("gocuda::clamped<%s>(%s(%s))", dv, integral, v)
		if p.round == "rzi" {
			text = fmt.Sprintf("gocuda::clamped<%s>(%s)", dv, v)
		}
		b.write(o[0], d, text)
		return
	default:
		text = fmt.Sprintf("(%s)%s", dv, v)
		if p.sat {
			text = fmt.Sprintf("gocuda::fitted<%s>(%s)", dv, v)
		}
		b.write(o[0], d, text)
		return
	}
	if p.sat {
		text = "gocuda::saturated(" + text + ")"
	}
	if d == "f32" && s == "f32" && p.types[1] != "bf16" { // other formats leave what is no number what it is
		text = "gocuda::canonical(" + text + ")"
	}
	b.write(o[0], d, text)
}
