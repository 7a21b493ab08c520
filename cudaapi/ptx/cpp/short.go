package cpp

import (
	"fmt"
	"slices"
	"strings"

	"gocuda/cudaapi/ptx"
)

// shorts are the bits of fraction and exponent of the formats of 16 bits.
var shorts = map[ptx.Type]string{"f16": "10, 5", "bf16": "7, 8"}

// The parts of a register that holds two numbers of 16 bits.
const low, high = "(gocuda_u16)(%s)", "(gocuda_u16)(%s >> 16)"

// halves is the type of each of two numbers that a type has, or the type itself.
func halves(y ptx.Type) (one ptx.Type, pair bool) {
	text, pair := strings.CutSuffix(string(y), "x2")
	return ptx.Type(text), pair
}

// part is an operand's, or the operand.
func (b *body) part(o ptx.Operand, y ptx.Type, part string) string {
	if part == "" {
		return b.read(o, y)
	}
	return fmt.Sprintf("(%s)"+part, value(y), b.read(o, "b32"))
}

// short does arithmetic of 16 bits, and of pairs.
func (b *body) short(i *ptx.Instruction, p parts) {
	y := p.types[0]
	one, pair := halves(y)
	if pair {
		b.write(i.Operands[0], "b32", fmt.Sprintf("%s | (gocuda_u32)%s << 16", b.shortPart(i, p, one, low), b.shortPart(i, p, one, high)))
		return
	}
	b.write(i.Operands[0], unsigned(y), b.shortPart(i, p, one, ""))
}

// shortPart is what an instruction makes of a part of its operands.
func (b *body) shortPart(i *ptx.Instruction, p parts, y ptx.Type, part string) string {
	signs := (i.Op == "min" || i.Op == "max") && p.signed()
	relu := slices.Contains(p.words, "relu")
	if len(p.types) != 1 || len(p.words) > 1 || len(p.words) == 1 && !relu || p.round != "" && p.round != "rn" {
		b.unknown(i)
	}
	f := shorts[y]
	if f == "" && signs {
		b.unknown(i)
	}
	if f == "" { // integers
		op := map[string]string{"add": "+", "min": "<", "max": ">"}[i.Op]
		if op == "" || p.sat || relu && !y.Signed() || len(i.Operands) != 3 {
			b.unknown(i)
		}
		x, z := b.part(i.Operands[1], y, part), b.part(i.Operands[2], y, part)
		text := fmt.Sprintf("%s + %s", x, z)
		if op != "+" {
			text = fmt.Sprintf("%s %s %s ? %s : %s", x, op, z, x, z)
		}
		if relu {
			text = fmt.Sprintf("gocuda::positive<short>(%s)", text)
		}
		return fmt.Sprintf("(gocuda_u16)(%s)", text)
	}
	counts := map[string]int{"add": 3, "sub": 3, "mul": 3, "fma": 4, "neg": 2, "abs": 2, "min": 3, "max": 3, "ex2": 2, "tanh": 2}
	if counts[i.Op] != len(i.Operands) || p.nan && counts[i.Op] != 3 || relu && i.Op != "fma" && counts[i.Op] != 3 {
		b.unknown(i)
	}
	f = "gocuda::Short<" + f + ">::"
	flush := func(text string) string {
		if p.ftz && y == "f16" {
			return f + "flushed(" + text + ")"
		}
		return text
	}
	var args []string
	for _, o := range i.Operands[1:] {
		args = append(args, flush(b.part(o, unsigned(y), part)))
	}
	op := i.Op
	if p.nan {
		op += "_nan"
	}
	list := strings.Join(args, ", ")
	if signs {
		list = fmt.Sprintf("%sabs(%s), %[1]sabs(%[3]s)", f, args[0], args[1])
	}
	text := flush(fmt.Sprintf("%s%s(%s)", f, op, list))
	if signs {
		text = fmt.Sprintf("%swith_signs(%s, %s, %s)", f, text, args[0], args[1])
	}
	if p.sat {
		text = f + "saturated(" + text + ")"
	}
	if relu {
		text = f + "relu(" + text + ")"
	}
	return text
}

// narrowed is a number as one of 16 bits.
func (b *body) narrowed(i *ptx.Instruction, p parts, y ptx.Type, v string, relu, finite bool) string {
	f := shorts[y]
	text := fmt.Sprintf("gocuda::narrow<%s>((double)%s)", f, v)
	if to := directed[p.round]; to != "" {
		text = fmt.Sprintf("gocuda::narrowed<%s, %s>((double)%s)", to, f, v)
	}
	if p.types[1] == "f64" {
		text = fmt.Sprintf("gocuda::nan_of<%s>(%s, %s)", f, v, text)
	}
	if relu {
		text = fmt.Sprintf("gocuda::Short<%s>::relu(%s)", f, text)
	}
	if finite {
		text = fmt.Sprintf("gocuda::Short<%s>::finite(%s)", f, text)
	}
	return text
}
