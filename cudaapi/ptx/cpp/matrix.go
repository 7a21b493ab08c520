package cpp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gocuda/cudaapi/ptx"
)

// matrices are the instructions that the lanes of a warp do as one: sim/matrix.h.
var matrices = []string{"mma", "wmma", "ldmatrix", "stmatrix", "movmatrix"}

// hasMatrices reports whether a module has any.
func hasMatrices(m *ptx.Module) (found bool) {
	for _, d := range m.Decls {
		if f, ok := d.(*ptx.Function); ok {
			eachStatement(f.Body, func(s ptx.Statement) {
				i, ok := s.(*ptx.Instruction)
				found = found || ok && slices.Contains(matrices, i.Op)
			})
		}
	}
	return found
}

// tile is what an instruction on matrices says of itself.
type tile struct {
	m, n, k    int
	types      []string
	rows       []bool // of layouts: row, not col
	saturates  bool
	round      string
	bits       string // and, xor: how numbers of a bit are multiplied
	load, part string // wmma's: load, store or mma; a, b, c or d
	space      string
}

// elementBits are those of the types of elements that matrices have.
var elementBits = map[string]int{"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "s32": 32}

func (b *body) tileOf(i *ptx.Instruction) (t tile) {
	for _, m := range i.Mods {
		first, _, _ := strings.Cut(m, "::")
		switch {
		case elementBits[m] != 0:
			t.types = append(t.types, m)
		case m == "row" || m == "col":
			t.rows = append(t.rows, m == "row")
		case m == "and" || m == "xor":
			t.bits = m
		case m == "rn" || directed[m] != "":
			t.round = m
		case m == "satfinite":
			t.saturates = true
		case m == "load" || m == "store" || m == "mma":
			t.load = m
		case m == "a" || m == "b" || m == "c" || m == "d":
			t.part = m
		case first == "shared" || first == "global":
			t.space = first
		case m == "sync" || m == "aligned" || m == "popc":
		default:
			if n, err := fmt.Sscanf(m, "m%dn%dk%d", &t.m, &t.n, &t.k); n != 3 || err != nil {
				b.unknown(i)
			}
		}
	}
	return t
}

func (t tile) shape() string { return fmt.Sprintf("m%dn%dk%d", t.m, t.n, t.k) }

func (t tile) cpp() string { return fmt.Sprintf("gocuda::Shape<%d, %d, %d>", t.m, t.n, t.k) }

// elementType is the C++ for a type of elements.
func elementType(y string) string {
	if n := elementBits[y]; y[0] == 's' || y[0] == 'u' || y == "b1" {
		return fmt.Sprintf("gocuda::Int<%d, %v>", n, y[0] == 's')
	}
	return "gocuda::" + strings.ToUpper(y)
}

// products are the shapes of mma and of wmma, by the class of the first factor's type.
var products = map[string]map[string]string{
	"mma": {
		"half": "m16n8k8 m16n8k16", "tf32": "m16n8k4 m16n8k8", "f64": "m8n8k4 m16n8k4 m16n8k8 m16n8k16", "fp8": "m16n8k16 m16n8k32",
		"int8": "m8n8k16 m16n8k16 m16n8k32", "int4": "m8n8k32 m16n8k32 m16n8k64", "b1": "m8n8k128 m16n8k128 m16n8k256",
	},
	"wmma": {
		"half": "m16n16k16 m32n8k16 m8n32k16", "tf32": "m16n16k8", "f64": "m8n8k4",
		"int8": "m16n16k16 m32n8k16 m8n32k16", "int4": "m8n8k32", "b1": "m8n8k128",
	},
}

func class(y string) string {
	switch y {
	case "f16", "bf16":
		return "half"
	case "e4m3", "e5m2":
		return "fp8"
	case "s8", "u8":
		return "int8"
	case "s4", "u4":
		return "int4"
	}
	return y
}

// sums are the types that d and c may have.
var sums = map[string]string{"f16": "f16 f32", "bf16": "f32", "tf32": "f32", "f64": "f64", "e4m3": "f16 f32", "e5m2": "f16 f32", "s8": "s32", "u8": "s32", "s4": "s32", "u4": "s32", "b1": "s32"}

// capability is the target's, such as 90.
func (t *translator) capability() int {
	digits := strings.TrimLeft(strings.SplitN(t.m.Target, ",", 2)[0], "sm_")
	n, _ := strconv.Atoi(strings.TrimRight(digits, "af"))
	return n
}

// multiply does mma, and wmma.mma.
func (b *body) multiply(i *ptx.Instruction, t tile) {
	y := t.types
	if i.Op == "wmma" && len(y) == 2 {
		y = []string{y[0], "f16", "f16", y[1]}
	}
	if len(i.Operands) != 4 || len(y) != 4 || len(t.rows) != 2 {
		b.unknown(i)
	}
	d, a, c := y[0], y[1], y[3]
	kind := class(a)
	whole := kind == "int8" || kind == "int4"
	same := d == c || i.Op == "wmma" && a == "f16"
	if !slices.Contains(strings.Fields(products[i.Op][kind]), t.shape()) || class(y[2]) != kind || a != y[2] && kind == "half" || !same ||
		!slices.Contains(strings.Fields(sums[a]), d) || !slices.Contains(strings.Fields(sums[a]), c) ||
		t.saturates && !whole || t.round != "" && (a != "f64" || i.Op == "mma") || (t.bits != "") != (a == "b1") || i.Op == "mma" && (!t.rows[0] || t.rows[1]) {
		b.unknown(i)
	}
	how := ""
	switch {
	case a == "f64":
		how = fmt.Sprintf("Chain<%s>", directed[t.round])
	case whole:
		how = fmt.Sprintf("Whole<%v>", t.saturates)
	case a == "b1":
		how = fmt.Sprintf("Counted<%v>", t.bits == "xor")
	default:
		how = b.fused(i, t, kind)
	}
	word, size := "b32", 32
	if a == "f64" {
		word, size = "b64", 64
	}
	// Of halves wmma has each number of a and b at least twice.
	held := func(o ptx.Operand, numbers, bits int) []ptx.Operand {
		n := max(numbers*bits/(32*size), 1)
		if len(o.Parts) != n && !(i.Op == "wmma" && a == "f16" && len(o.Parts) == 8 && bits == 16) {
			b.unknown(i)
		}
		return o.Parts[:n]
	}
	b.emit("{ gocuda::Product<%s, %s, %s, %s, %s, gocuda::%s> gocuda_m;", t.cpp(), elementType(a), elementType(y[2]), elementType(c), elementType(d), how)
	for k, list := range [][]ptx.Operand{held(i.Operands[1], t.m*t.k, elementBits[a]), held(i.Operands[2], t.k*t.n, elementBits[a]), held(i.Operands[3], t.m*t.n, elementBits[c])} {
		for n, o := range list {
			b.emit("gocuda_m.%c[%d] = %s;", "abc"[k], n, b.read(o, ptx.Type("u"+word[1:])))
		}
	}
	b.emit("gocuda::meet(gocuda_m, %s);", b.together(i))
	for n, o := range held(i.Operands[0], t.m*t.n, elementBits[d]) {
		b.write(o, ptx.Type("u"+word[1:]), fmt.Sprintf("gocuda_m.d[%d]", n))
	}
	b.emit("}")
}

// together are the arguments that tell an instruction from others, and in messages.
func (b *body) together(i *ptx.Instruction) string {
	b.meetings++
	name := i.Op
	if i.Op != "movmatrix" && i.Op != "ldmatrix" && i.Op != "stmatrix" {
		name += "." + i.Mods[0]
	}
	return fmt.Sprintf("%d, %q, %d", b.meetings, name, max(b.place, 0))
}

// fused is how tensor cores of the target's capability add up: see docs/how/tensor-cores.md.
func (b *body) fused(i *ptx.Instruction, t tile, kind string) string {
	capability := b.capability()
	bits, terms := 25, t.k
	if capability < 90 {
		bits = 24
		if capability >= 80 && (kind == "tf32" && t.k == 8 || kind == "half" && t.k == 16) {
			terms = t.k / 2
		}
	}
	switch {
	case kind == "fp8" && capability < 90:
		b.refuse("simulated devices have the PTX instruction %s from compute capability 9.0 on", i.Name())
	case kind == "fp8":
		terms = t.k / 2
	case kind == "tf32" && i.Op == "wmma":
		terms = 4
	}
	return fmt.Sprintf("Fused<%d, %d, %v>", bits, terms, kind == "fp8")
}

// matrix does what the lanes of a warp do as one.
func (b *body) matrix(i *ptx.Instruction) {
	o := i.Operands
	switch i.Op {
	case "mma":
		if slices.ContainsFunc(i.Mods, func(m string) bool { return m == "sp" || strings.HasPrefix(m, "sp::") }) {
			b.refuse("simulated devices do not have sparse matrices: %s", i.Name())
		}
		b.multiply(i, b.tileOf(i))
	case "wmma":
		t := b.tileOf(i)
		switch t.load {
		case "mma":
			b.multiply(i, t)
		case "load":
			b.fragment(i, t, o[0], o[1], o[2:])
		default:
			b.fragment(i, t, o[1], o[0], o[2:])
		}
	case "movmatrix":
		b.emit("{ gocuda::Transposed gocuda_m; gocuda_m.a = %s; gocuda::meet(gocuda_m, %s);", b.read(o[1], "u32"), b.together(i))
		b.write(o[0], "u32", "gocuda_m.d")
		b.emit("}")
	default:
		b.rows(i)
	}
}

// The functions that load and store: their line is that of the instruction.
const (
	loads  = "[](gocuda_u64 gocuda_p, auto gocuda_n) GOCUDA_LAMBDA { return *(typename decltype(gocuda_n)::Word *)gocuda_p; }"
	stores = "[](gocuda_u64 gocuda_p, auto gocuda_n, auto gocuda_v) GOCUDA_LAMBDA { typedef typename decltype(gocuda_n)::Word Word; *(Word *)gocuda_p = (Word)gocuda_v; }"
)

// rows does ldmatrix and stmatrix.
func (b *body) rows(i *ptx.Instruction) {
	o, n, transposed, where := i.Operands, 0, false, ""
	for _, m := range i.Mods {
		first, _, _ := strings.Cut(m, "::")
		switch {
		case m == "x1" || m == "x2" || m == "x4":
			n = int(m[1] - '0')
		case m == "trans":
			transposed = true
		case first == "shared":
			where = first
		case m == "sync" || m == "aligned" || m == "m8n8" || m == "b16":
		default:
			b.unknown(i)
		}
	}
	list, at := elements(o[0]), o[1]
	if i.Op == "stmatrix" {
		list, at = elements(o[1]), o[0]
	}
	if n == 0 || len(list) != n {
		b.unknown(i)
	}
	if b.counts != nil {
		b.emit("if (gocuda::lane() < %d) {", 8*n)
		b.countAt(i, b.pointer(at, where))
		b.emit("}")
	}
	if i.Op == "ldmatrix" {
		b.emit("{ gocuda_u32 gocuda_v[%d]; gocuda::load_matrices<%[1]d, %v>(gocuda_v, %s, %s, %s);", n, transposed, b.pointer(at, where), loads, b.together(i))
		for k, d := range list {
			b.write(d, "u32", fmt.Sprintf("gocuda_v[%d]", k))
		}
		b.emit("}")
		return
	}
	b.emit("{ const gocuda_u32 gocuda_v[] = {%s}; gocuda::store_matrices<%d, %v>(gocuda_v, %s, %s, %s); }", b.list(list, "u32"), n, transposed, b.pointer(at, where), stores, b.together(i))
}

// list are operands' values.
func (b *body) list(list []ptx.Operand, y ptx.Type) string {
	var values []string
	for _, o := range list {
		values = append(values, b.read(o, y))
	}
	return strings.Join(values, ", ")
}

// fragment does wmma.load and wmma.store.
func (b *body) fragment(i *ptx.Instruction, t tile, regs, at ptx.Operand, stride []ptx.Operand) {
	if len(t.rows) != 1 || len(t.types) != 1 || len(stride) > 1 || t.part == "" || (t.load == "store") != (t.part == "d") {
		b.unknown(i)
	}
	y, rows := t.types[0], t.rows[0]
	bits, list := elementBits[y], elements(regs)
	size, which, height, width := 32, "C", t.m, t.n
	switch t.part {
	case "a":
		which, width = "A", t.k
	case "b":
		which, height = "B", t.k
	}
	known := false
	for kind, s := range products["wmma"] {
		same := class(y) == kind && kind != "half" && which != "C" || kind == "half" && (y == "f16" || y == "bf16" && which != "C" || y == "f32" && which == "C") ||
			which == "C" && slices.Contains([]string{"tf32 f32", "f64 f64", "int8 s32", "int4 s32", "b1 s32"}, kind+" "+y)
		known = known || same && slices.Contains(strings.Fields(s), t.shape())
	}
	if !known || bits < 8 && rows != (which == "A") {
		b.unknown(i)
	}
	word := ptx.Type("u32")
	if y == "f64" {
		size, word = 64, "u64"
	}
	n := max(height*width*bits/(32*size), 1)
	if y == "f16" && which != "C" {
		n = 8
	}
	if len(list) != n {
		b.unknown(i)
	}
	ld := width
	if !rows {
		ld = height
	}
	by := fmt.Sprintf("%du", ld)
	if len(stride) == 1 {
		by = b.read(stride[0], "u32")
	}
	from := b.pointer(at, t.space)
	if t.load == "store" {
		b.emit("{ const %s gocuda_v[] = {%s}; gocuda::store_fragment<%s, %s, %v, %d>(gocuda_v, %s, %s, %s, %s); }",
			held(word), b.list(list, word), t.cpp(), elementType(y), rows, n, from, by, stores, b.together(i))
		return
	}
	b.emit("{ %s gocuda_v[%d]; gocuda::load_fragment<%s, gocuda::of%s, %s, %v, %d>(gocuda_v, %s, %s, %s, %s);",
		held(word), n, t.cpp(), which, elementType(y), rows, n, from, by, loads, b.together(i))
	for k, d := range list {
		b.write(d, word, fmt.Sprintf("gocuda_v[%d]", k))
	}
	b.emit("}")
}
