package cpp

import (
	"fmt"
	"slices"
	"strings"

	"gocuda/cudaapi/ptx"
)

// shape is what a texture or surface instruction says of its object's elements.
type shape struct {
	dims    int
	layered bool
	cube    bool
}

var shapes = map[string]shape{"1d": {dims: 1}, "2d": {dims: 2}, "3d": {dims: 3}, "a1d": {dims: 1, layered: true}, "a2d": {dims: 2, layered: true},
	"cube": {dims: 2, cube: true}, "acube": {dims: 2, layered: true, cube: true}}

// number is the shape as the runtime knows it.
func (s shape) number() (n int) {
	n = s.dims
	if s.layered {
		n |= 4
	}
	if s.cube {
		n |= 8
	}
	return n
}

// coordinates are how many an instruction has beside a layer.
func (s shape) coordinates() int {
	if s.cube {
		return 3
	}
	return s.dims
}

// fetch is a texture or surface instruction, as its parts say.
type fetch struct {
	shape
	words  []string // before the shape
	types  []ptx.Type
	vector int
	mode   int // of a surface: what is beside it
}

func (b *body) fetchOf(i *ptx.Instruction) (f fetch) {
	f.vector = 1
	for _, m := range i.Mods {
		switch known, ok := shapes[m]; {
		case ok:
			f.shape = known
		case m == "v2" || m == "v4":
			f.vector = int(m[1] - '0')
		case slices.Contains([]string{"trap", "clamp", "zero"}, m) && i.Op[0] == 's':
			f.mode = slices.Index([]string{"trap", "clamp", "zero"}, m)
		case slices.Contains(types, ptx.Type(m)):
			f.types = append(f.types, ptx.Type(m))
		default:
			f.words = append(f.words, m)
		}
	}
	if f.dims == 0 || len(f.types) == 0 {
		b.unknown(i)
	}
	return f
}

// object is the operand of a texture or surface object, and its coordinates.
func (b *body) object(i *ptx.Instruction, o ptx.Operand, f fetch, y ptx.Type) (handle, layer string, where []string) {
	if o.Kind != ptx.Address || len(o.Parts) != 1 || o.Plus != 0 {
		b.unknown(i)
	}
	if b.typeOf(o.Text) == "" {
		b.refuse("simulated devices have texture and surface objects, not texture or surface references (%s)", o.Text)
	}
	handle, layer = b.read(ptx.Operand{Kind: ptx.Name, Text: o.Text}, "u64"), "0"
	list := elements(o.Parts[0])
	if f.layered && len(list) > 0 {
		layer, list = b.read(list[0], "u32"), list[1:]
	}
	if len(list) < f.coordinates() {
		b.unknown(i)
	}
	for _, c := range list[:f.coordinates()] { // another one fills up a vector
		where = append(where, b.read(c, y))
	}
	return handle, layer, where
}

// texture does tex and tld4. There is one level of detail, so which one is asked for, or how
// coordinates change from thread to thread, makes no difference.
func (b *body) texture(i *ptx.Instruction) {
	f := b.fetchOf(i)
	level := 0
	for _, w := range f.words {
		switch {
		case i.Op == "tex" && (w == "level" || w == "grad"):
			level = map[string]int{"level": 1, "grad": 2}[w]
		case i.Op == "tld4" && len(w) == 1 && strings.Contains("rgba", w) && len(f.words) == 1:
		default:
			b.unknown(i)
		}
	}
	o := i.Operands
	if f.vector != 4 || len(f.types) != 2 || len(o) != 2+level || f.types[0].Bits() != 32 || i.Op == "tld4" && (f.types[1] != "f32" || f.number() != 2 || len(f.words) != 1) {
		b.unknown(i)
	}
	result, resident := results(o[0])
	list := elements(result)
	handle, layer, where := b.object(i, o[1], f, f.types[1])
	if len(list) != 4 {
		b.unknown(i)
	}
	b.emit("{ gocuda_u32 gocuda_v[4];")
	for len(where) < 3 {
		where = append(where, "0")
	}
	at := strings.Join(where, ", ")
	switch {
	case i.Op == "tld4":
		b.emit("const float gocuda_at[3] = {%s}; gocuda::texture_gather(%s, %d, %s, gocuda_at, %d, gocuda_v, %d);", at, handle, f.number(), layer, strings.Index("rgba", f.words[0]), max(b.place, 0))
	case f.types[1] == "f32":
		b.emit("const float gocuda_at[3] = {%s}; gocuda::texture_at(%s, %d, %s, gocuda_at, gocuda_v, %d);", at, handle, f.number(), layer, max(b.place, 0))
	case f.types[1] == "s32" && !f.cube:
		b.emit("const int gocuda_at[3] = {%s}; gocuda::texture_element(%s, %d, %s, gocuda_at, gocuda_v, %d);", at, handle, f.number(), layer, max(b.place, 0))
	default:
		b.unknown(i)
	}
	for k, e := range list {
		b.write(e, f.types[0], convert(fmt.Sprintf("gocuda_v[%d]", k), "u32", f.types[0]))
	}
	b.emit("}")
	if resident.Text != "_" {
		b.write(resident, "pred", "true")
	}
}

// surface does suld and sust: bytes at coordinates of which the first counts bytes.
func (b *body) surface(i *ptx.Instruction) {
	f := b.fetchOf(i)
	for _, w := range f.words {
		if w != "b" && !slices.Contains([]string{"ca", "cg", "cs", "cv", "wb", "wt"}, w) {
			b.unknown(i)
		}
	}
	y := f.types[0]
	if len(i.Operands) != 2 || len(f.types) != 1 || !slices.Contains(f.words, "b") || f.cube || y.Bits() < 8 || f.vector*y.Bits() > 128 {
		b.unknown(i)
	}
	o, values := i.Operands[0], i.Operands[1]
	if i.Op == "suld" {
		o, values = values, o
	}
	list := elements(values)
	if len(list) != f.vector {
		b.unknown(i)
	}
	handle, layer, where := b.object(i, o, f, "s32")
	for len(where) < 3 {
		where = append(where, "0")
	}
	if f.layered {
		where[2] = "(int)" + layer
	}
	b.emit("{ const int gocuda_at[3] = {%s};", strings.Join(where, ", "))
	n := f.vector * y.Bits() / 8
	call := func(name string) {
		b.emit("gocuda::%s(%s, %d, gocuda_at, gocuda_v, %d, %d, %d);", name, handle, f.number(), n, f.mode, max(b.place, 0))
	}
	if i.Op == "suld" {
		b.emit("%s gocuda_v[%d];", value(y), f.vector)
		call("surface_load")
		for k, e := range list {
			b.write(e, y, fmt.Sprintf("gocuda_v[%d]", k))
		}
	} else {
		var text []string
		for _, e := range list {
			text = append(text, b.read(e, y))
		}
		b.emit("const %s gocuda_v[%d] = {%s};", value(y), f.vector, strings.Join(text, ", "))
		call("surface_store")
	}
	b.emit("}")
}

// sizes are what txq and suq can be asked for.
var sizes = []string{"width", "height", "depth", "array_size", "normalized_coords"}

func (b *body) query(i *ptx.Instruction) {
	p := partsOf(i)
	what := -1
	if len(p.words) == 1 {
		what = slices.Index(sizes, p.words[0])
	}
	o := i.Operands
	if what < 0 || len(o) != 2 || o[1].Kind != ptx.Address || o[1].Parts != nil || b.typeOf(o[1].Text) == "" {
		b.unknown(i)
	}
	handle := b.read(ptx.Operand{Kind: ptx.Name, Text: o[1].Text}, "u64")
	b.write(o[0], "b32", fmt.Sprintf("gocuda::object_size(%s, %d, %d, %d)", handle, map[string]int{"suq": 1}[i.Op], what, max(b.place, 0)))
}
