package cpp

import (
	"fmt"
	"math"
	"strings"

	"gocuda/cudaapi/ptx"
)

// bitsOf is a literal's value, as C++, of as many bits as a type has.
func bitsOf(literal string, y ptx.Type) string {
	text, negative := strings.CutPrefix(literal, "-")
	bits, float, err := ptx.Number(text)
	if err != nil {
		return "0" // the parser lets none pass
	}
	if float {
		v := math.Float64frombits(bits)
		if negative {
			v = -v
		}
		switch {
		case y.Bits() == 32 && len(text) == 10 && text[:2] == "0f": // the payload of a NaN, too
			var n uint32
			fmt.Sscanf(text[2:], "%x", &n) //nolint:errcheck // it was read before
			if negative {
				n ^= 1 << 31
			}
			return fmt.Sprintf("%#xu", n)
		case y.Bits() == 32:
			return fmt.Sprintf("%#xu", math.Float32bits(float32(v)))
		}
		return fmt.Sprintf("%#xul", math.Float64bits(v))
	}
	if negative {
		bits = -bits
	}
	if n := y.Bits(); n < 64 {
		bits &= 1<<max(n, 1) - 1
	}
	return fmt.Sprintf("%#xul", bits)
}

// read is an operand's value as an instruction's type has it.
func (b *body) read(o ptx.Operand, y ptx.Type) string {
	switch o.Kind {
	case ptx.Literal:
		if y == "f32" || y == "f64" {
			return fmt.Sprintf("gocuda::bits_as<%s>((gocuda_u%d)%s)", held(y), y.Bits(), bitsOf(o.Text, y))
		}
		if y == "pred" {
			return fmt.Sprintf("(%s != 0)", bitsOf(o.Text, "u32"))
		}
		return fmt.Sprintf("(%s)%s", value(y), bitsOf(o.Text, y))
	case ptx.Inverted:
		return "!" + id(o.Text)
	case ptx.Name:
		if r := b.typeOf(o.Text); r != "" && b.looks && b.nans.results[o.Text] {
			return convert("gocuda::canonical("+id(o.Text)+")", r, y)
		} else if r != "" {
			return convert(id(o.Text), r, y)
		}
		if s := b.special(o.Text); s != "" {
			return fmt.Sprintf("(%s)(%s)", value(y), s)
		}
		if strings.HasPrefix(o.Text, "%") {
			b.refuse("simulated devices do not have the PTX register %s", o.Text)
		}
		if v := b.variable(o.Text); v != nil {
			return fmt.Sprintf("(%s)((gocuda_u64)&%s + %d)", value(y), id(o.Text), o.Plus)
		}
		return fmt.Sprintf("(%s)((gocuda_u64)%s + %d)", value(y), b.address(o.Text), o.Plus)
	}
	b.refuse("simulated devices do not know the form of the PTX operand %s", o)
	return ""
}

// convert is an expression of one type with the bits that it has in another.
func convert(text string, from, to ptx.Type) string {
	f, t := held(from), value(to)
	switch {
	case f == t:
		return text
	case from == "pred" || to == "pred":
		return fmt.Sprintf("(%s)%s", t, text)
	case f == "float" || f == "double":
		bits := fmt.Sprintf("gocuda::bits_as<gocuda_u%d>(%s)", from.Bits(), text)
		if t == "float" || t == "double" {
			return fmt.Sprintf("gocuda::bits_as<%s>((gocuda_u%d)%s)", t, to.Bits(), bits)
		}
		return fmt.Sprintf("(%s)%s", t, bits)
	case t == "float" || t == "double":
		return fmt.Sprintf("gocuda::bits_as<%s>((gocuda_u%d)%s)", t, to.Bits(), text)
	}
	return fmt.Sprintf("(%s)%s", t, text)
}

// write sets a register to an expression of a type.
func (b *body) write(o ptx.Operand, y ptx.Type, expr string) {
	if o.Kind != ptx.Name {
		b.refuse("a PTX instruction has its result in %s, which is no register", o)
	}
	if o.Text == "_" {
		b.emit("(void)(%s);", expr)
		return
	}
	r := b.typeOf(o.Text)
	if r == "" {
		b.refuse("the PTX writes the register %s, which is not declared", o.Text)
	}
	x := "(" + expr + ")"
	switch h := held(r); {
	case h == value(y):
		b.emit("%s = %s;", id(o.Text), expr)
	case h == "float" || h == "double":
		if y.Float() && y.Bits() != r.Bits() {
			b.refuse("a PTX instruction has a result of type .%s in a register of type .%s", y, r)
		}
		b.emit("%s = gocuda::bits_as<%s>((gocuda_u%d)%s);", id(o.Text), h, r.Bits(), x)
	case y == "f32" || y == "f64":
		b.emit("%s = gocuda::bits_as<gocuda_u%d>%s;", id(o.Text), y.Bits(), x)
	default:
		b.emit("%s = (%s)(%s)%s;", id(o.Text), h, value(y), x)
	}
}

// pointer is the address that an operand names in a space, as a number.
func (b *body) pointer(o ptx.Operand, space string) string {
	if o.Kind != ptx.Address || o.Parts != nil {
		b.refuse("simulated devices do not know the form of the PTX address %s", o)
	}
	at := ""
	if o.Text == "" {
		at = fmt.Sprintf("%dul", uint64(o.Plus))
	} else if r := b.typeOf(o.Text); r != "" {
		at = fmt.Sprintf("(%s + %dul)", id(o.Text), uint64(o.Plus))
		if space == "shared" {
			at = fmt.Sprintf("(long)(int)(%s + %du)", id(o.Text), uint32(o.Plus))
		}
	} else if v := b.variable(o.Text); v != nil {
		at = fmt.Sprintf("((gocuda_u64)&%s + %dul)", id(o.Text), uint64(o.Plus))
	} else {
		at = fmt.Sprintf("((gocuda_u64)%s + %dul)", b.address(o.Text), uint64(o.Plus))
		if space == "" && b.symbols[o.Text].space == "shared" {
			space = "shared"
		}
	}
	if space == "shared" {
		return fmt.Sprintf("((gocuda_u64)gocuda_shared + %s)", at)
	}
	return at
}
