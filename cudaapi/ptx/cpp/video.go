package cpp

import (
	"fmt"
	"strings"

	"gocuda/cudaapi/ptx"
)

// videos are what video instructions make of x and y.
var videos = map[string]string{
	"vadd": "x + y", "vsub": "x - y", "vavrg": "(x + y + (x + y >= 0)) >> 1", "vabsdiff": "x < y ? y - x : x - y", "vmin": "x < y ? x : y", "vmax": "x > y ? x : y",
	"vseteq": "x == y", "vsetne": "x != y", "vsetlt": "x < y", "vsetle": "x <= y", "vsetgt": "x > y", "vsetge": "x >= y",
	"vshlclamp": "x << (y < 32 ? y : 32)", "vshlwrap": "x << (y & 31)", "vshrclamp": "x >> (y < 32 ? y : 32)", "vshrwrap": "x >> (y & 31)",
}

// selected takes an operand and what is selected of it.
func selected(o ptx.Operand) (ptx.Operand, string) {
	if o.Kind == ptx.Name {
		if at := strings.LastIndexByte(o.Text, '.'); at > 0 {
			return ptx.Operand{Kind: ptx.Name, Text: o.Text[:at]}, o.Text[at+1:]
		}
	}
	return o, ""
}

// video does video instructions: of whole words or selected parts, or of all parts of words.
func (b *body) video(i *ptx.Instruction, p parts) {
	name := strings.TrimRight(i.Op, "24")
	words := p.words
	take := func(list ...string) string {
		if len(words) > 0 {
			for _, w := range list {
				if words[0] == w {
					words = words[1:]
					return w
				}
			}
		}
		return ""
	}
	switch name {
	case "vset":
		name += take("eq", "ne", "lt", "le", "gt", "ge")
	case "vshl", "vshr":
		name += take("clamp", "wrap")
	}
	expr, second := videos[name], take("add", "min", "max")
	signs := p.types
	if strings.HasPrefix(name, "vset") && len(signs) == 2 {
		signs = append([]ptx.Type{"u32"}, signs...)
	}
	if expr == "" || len(words) > 0 || len(signs) != 3 || len(i.Operands) < 3 {
		b.unknown(i)
	}
	d, to := selected(i.Operands[0])
	x, xs := selected(i.Operands[1])
	y, ys := selected(i.Operands[2])
	c := "0u"
	if len(i.Operands) > 3 {
		c = b.read(i.Operands[3], "u32")
	}
	function := func(wide string, bits int) string {
		if p.sat {
			expr = fmt.Sprintf("gocuda::bounded<%d, %v>(%s)", bits, signs[0].Signed(), expr)
		}
		return fmt.Sprintf("[](%s x, %s y) GOCUDA_LAMBDA { return %s; }", wide, wide, expr)
	}
	v, z := b.read(x, "u32"), b.read(y, "u32")
	if n := strings.TrimPrefix(i.Op, strings.TrimRight(i.Op, "24")); n != "" {
		bits := map[string]int{"2": 16, "4": 8}[n]
		digits := map[string][3]string{"2": {"10", "10", "32"}, "4": {"3210", "3210", "7654"}}[n]
		for k, s := range []string{to, xs, ys} {
			if s != "" {
				digits[k] = s[1:]
			}
		}
		mask := 0
		for _, c := range digits[0] {
			mask |= 1 << (c - '0')
		}
		b.write(d, "b32", fmt.Sprintf("gocuda::video<%d, %v, %v>(%s, %s, %s, 0x%s, 0x%s, %d, %v, %s)", bits, signs[1].Signed(), signs[2].Signed(), v, z, c,
			digits[1], digits[2], mask, second == "add", function("long", bits)))
		return
	}
	piece := func(v, part string, y ptx.Type) string {
		bits, n := placed(part)
		return fmt.Sprintf("gocuda::piece<%d, %v>(%s, %d)", bits, y.Signed(), v, n)
	}
	bits, n := placed(to)
	text := fmt.Sprintf("(%s)(%s, %s)", function("__int128", bits), piece(v, xs, signs[1]), piece(z, ys, signs[2]))
	h := value(signs[0])
	switch {
	case to != "":
		text = fmt.Sprintf("gocuda::merged<%d>(%s, (gocuda_u32)%s, %d)", bits, c, text, n)
	case second == "add":
		text = fmt.Sprintf("(gocuda_u32)%s + %s", text, c)
	case second != "":
		wide := h
		if name == "vabsdiff" { // which has no sign
			wide = "gocuda_u32"
		}
		text = fmt.Sprintf("gocuda::%s_of<%s>((%s)%s, (%s)%s)", second, h, wide, text, h, c)
	default:
		text = fmt.Sprintf("(gocuda_u32)%s", text)
	}
	b.write(d, "b32", text)
}

// placed gives the size of a part of a word in bits, and its number, counted from the lowest.
func placed(part string) (bits, n int) {
	if len(part) != 2 {
		return 32, 0
	}
	return map[byte]int{'b': 8, 'h': 16}[part[0]], int(part[1] - '0')
}
