package cpp

import (
	"math"
	"slices"

	"gocuda/cudaapi/ptx"
)

// Arithmetic of f32 that has no number for a result gives one NaN on a GPU; here it may give any.
// So where a result's bits may be seen, it is made that one. Registers that have nothing but such
// results in them, and numbers, are looked after where they are read: sums in loops are free of it.
type nans struct {
	results map[string]bool // registers with results of arithmetic alone
	seen    map[string]bool // other registers whose bits count, not their value alone
}

// arithmetic are operations that give the one NaN.
var arithmetic = map[string]bool{"add": true, "sub": true, "mul": true, "fma": true, "mad": true, "div": true, "sqrt": true, "rcp": true}

// copies reports whether an instruction gives a register of type f32 what others have.
func copies(i *ptx.Instruction) bool {
	return (i.Op == "mov" || i.Op == "selp") && slices.Equal(i.Mods, []string{"f32"}) && i.Operands[0].Kind == ptx.Name
}

// nansOf looks at a function's instructions. types are those of the registers.
func nansOf(list []*ptx.Instruction, types func(string) ptx.Type) nans {
	n := nans{map[string]bool{}, map[string]bool{}}
	other := map[string]bool{}
	for again := true; again; {
		again = false
		for _, i := range list {
			if len(i.Operands) == 0 {
				continue
			}
			for _, d := range append(i.Operands[:1:1], i.Operands[0].Parts...) {
				if d.Text == "" || other[d.Text] || n.gives(i, other, types) {
					continue
				}
				other[d.Text], again = true, true
			}
		}
	}
	for _, i := range list {
		if len(i.Operands) > 0 && i.Operands[0].Kind == ptx.Name {
			if d := i.Operands[0].Text; types(d) == "f32" && !other[d] {
				n.results[d] = true
			}
		}
		if n.blind(i) {
			continue
		}
		eachName(i, func(name string) { n.seen[name] = true })
	}
	return n
}

// gives reports whether an instruction's result is one of arithmetic, or a number.
func (n nans) gives(i *ptx.Instruction, other map[string]bool, types func(string) ptx.Type) bool {
	if types(i.Operands[0].Text) != "f32" {
		return false
	}
	if arithmetic[i.Op] && slices.Contains(i.Mods, "f32") {
		return true
	}
	if !copies(i) {
		return false
	}
	for k, o := range i.Operands[1:] {
		if i.Op == "selp" && k == 2 {
			continue
		}
		switch o.Kind {
		case ptx.Literal:
			bits, float, err := ptx.Number(o.Text)
			if v := math.Float64frombits(bits); err != nil || !float || v != v {
				return false
			}
		case ptx.Name:
			if other[o.Text] || types(o.Text) != "f32" {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// blind reports whether an instruction sees of numbers with a fraction only their value.
func (n nans) blind(i *ptx.Instruction) bool {
	switch {
	case arithmetic[i.Op], i.Op == "setp", i.Op == "min", i.Op == "max":
		return true
	}
	return false
}

// looks reports whether an instruction sees the bits of registers with results.
func (n nans) looks(i *ptx.Instruction) bool {
	if copies(i) && n.results[i.Operands[0].Text] {
		return false
	}
	return !n.blind(i) || !slices.Contains(i.Mods, "f32")
}
