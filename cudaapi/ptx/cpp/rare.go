package cpp

import (
	"fmt"
	"slices"
	"strings"

	"gocuda/cudaapi/ptx"
)

// signed takes xorsign.abs out of an instruction's words: of absolute values, with a sign that
// is negative where one of two operands is.
func (p *parts) signed() bool {
	k := slices.Index(p.words, "xorsign")
	if k < 0 || k+1 == len(p.words) || p.words[k+1] != "abs" {
		return false
	}
	p.words = slices.Delete(slices.Clone(p.words), k, k+2)
	return true
}

// multiplyAdd does vmad: a product of selected parts and a number, one of the two negated, or
// with one more; shifted, and bounded.
func (b *body) multiplyAdd(i *ptx.Instruction, p parts) {
	if len(p.types) != 3 || len(i.Operands) != 4 {
		b.unknown(i)
	}
	plus, shift := "", 0
	for _, w := range p.words {
		switch {
		case w == "po" && plus == "":
			plus = " + 1"
		case (w == "shr7" || w == "shr15") && shift == 0:
			fmt.Sscan(w[3:], &shift) //nolint:errcheck // it is a number
		default:
			b.unknown(i)
		}
	}
	negated := [4]bool{}
	var operands [4]string
	signed := p.types[1].Signed() || p.types[2].Signed()
	for k := 1; k < 4; k++ {
		o := i.Operands[k]
		if o.Kind == ptx.Negated {
			negated[k], o.Kind = true, ptx.Name
		}
		if k == 3 {
			signed = signed || negated[1] != negated[2]
			operands[k] = fmt.Sprintf("(long)%s", b.read(o, map[bool]ptx.Type{true: "s32", false: "u32"}[signed]))
			break
		}
		o, part := selected(o)
		bits, n := placed(part)
		operands[k] = fmt.Sprintf("gocuda::piece<%d, %v>(%s, %d)", bits, p.types[k].Signed(), b.read(o, "u32"), n)
	}
	if plus != "" && (negated[1] || negated[2] || negated[3]) {
		b.unknown(i)
	}
	sign := func(no bool) string { return map[bool]string{true: "-", false: ""}[no] }
	text := fmt.Sprintf("(%s((__int128)%s * %s) + %s%s%s) >> %d", sign(negated[1] != negated[2]), operands[1], operands[2], sign(negated[3]), operands[3], plus, shift)
	if signed = signed || negated[3]; p.sat {
		text = fmt.Sprintf("gocuda::bounded<32, %v>(%s)", signed, text)
	}
	b.write(i.Operands[0], "b32", fmt.Sprintf("(gocuda_u32)(%s)", text))
}

// reduce does copies that add to what is there, or the like: the atomic operation on each element.
func (b *body) reduce(i *ptx.Instruction) {
	o := i.Operands
	var spaces []string
	a := access{}
	for _, m := range i.Mods[3:] {
		first, _, _ := strings.Cut(m, "::")
		switch {
		case first == "global" || first == "shared":
			spaces = append(spaces, first)
		case slices.Contains(operations, m):
			a.op = m
		case first == "bulk_group" || first == "mbarrier" || first == "L2" || m == "noftz":
		case ptx.Type(m).Bits() > 0:
			a.types = append(a.types, ptx.Type(m))
		default:
			b.unknown(i)
		}
	}
	if len(spaces) != 2 || len(a.types) != 1 || len(o) < 3 || a.op == "" {
		b.unknown(i)
	}
	y := a.types[0]
	if y == "b32" || y == "b64" {
		y = unsigned(y)
		a.types[0] = y
	}
	to, from := b.pointer(o[0], spaces[0]), b.pointer(o[1], spaces[1])
	size := y.Bits() / 8
	b.emit("for (gocuda_u64 gocuda_at = 0, gocuda_n = %s; gocuda_at < gocuda_n; gocuda_at += %d) {", b.read(o[2], "u32"), size)
	b.emit("(void)%s; }", b.operate(a, fmt.Sprintf("(%s + gocuda_at)", to), []string{fmt.Sprintf("*(%s *)(%s + gocuda_at)", value(y), from)}))
	if len(o) > 3 && o[3].Kind == ptx.Address {
		b.emit("gocuda::mbarrier_change(%s, 0, 0, -(gocuda_u64)%s);", b.pointer(o[3], "shared"), b.read(o[2], "u32"))
	}
}
