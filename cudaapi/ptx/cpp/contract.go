package cpp

import (
	"fmt"
	"slices"

	"gocuda/cudaapi/ptx"
	"gocuda/cudaapi/ptx/flow"
)

// contract makes one rounding of two, as ptxas does: of a product that has no other use than in
// sums after it, before anything branches. Instructions that name a rounding stay as they are, as
// all do with -fmad=false.
func contract(list []ptx.Statement) []ptx.Statement {
	uses, defs := map[string]int{}, map[string]int{} // uses: other ones than in sums
	eachStatement(list, func(s ptx.Statement) {
		if i, ok := s.(*ptx.Instruction); ok {
			for _, n := range flow.Read(i) {
				uses[n]++
			}
			if free(i, "add") || free(i, "sub") {
				for _, o := range i.Operands[1:] {
					if o.Kind == ptx.Name && i.Operands[1].Text != i.Operands[2].Text {
						uses[o.Text]--
					}
				}
			}
			for _, n := range flow.Written(i) {
				defs[n]++
			}
		}
	})
	eachStatement(list, func(s ptx.Statement) { // a product that is negated first is as good
		if i, ok := s.(*ptx.Instruction); ok && negates(i) && defs[i.Operands[0].Text] == 1 && uses[i.Operands[0].Text] == 0 {
			uses[i.Operands[1].Text]--
		}
	})
	made := 0
	out, _ := contracted(list, nil, uses, defs, &made)
	return out
}

// contracted is contract of statements, before which the products of open stand. It gives those
// that stand before what follows.
func contracted(list, open []ptx.Statement, uses, defs map[string]int, made *int) (out, after []ptx.Statement) {
	for _, s := range list {
		i, ok := s.(*ptx.Instruction)
		switch {
		case !ok:
			if _, label := s.(*ptx.Label); label {
				open = nil
			}
			if b, nested := s.(*ptx.Block); nested {
				b.Body, open = contracted(b.Body, open, uses, defs, made)
			}
		case free(i, "mul") && defs[i.Operands[0].Text] == 1 && uses[i.Operands[0].Text] == 0:
			open = append(open, i)
		case negates(i) && defs[i.Operands[0].Text] == 1 && uses[i.Operands[0].Text] == 0:
			at := slices.IndexFunc(open, func(m ptx.Statement) bool { return m.(*ptx.Instruction).Operands[0].Text == i.Operands[1].Text })
			if at >= 0 {
				m := *open[at].(*ptx.Instruction)
				n, first := negated(m.Operands[1], i, made)
				out = append(out, n...)
				m.Operands = []ptx.Operand{i.Operands[0], first, m.Operands[2]}
				open = append(open, &m)
			}
		case free(i, "add") || free(i, "sub"):
			for k := 1; k <= 2; k++ {
				at := slices.IndexFunc(open, func(m ptx.Statement) bool {
					o := m.(*ptx.Instruction)
					return i.Operands[k].Kind == ptx.Name && o.Operands[0].Text == i.Operands[k].Text && slices.Equal(o.Mods, i.Mods)
				})
				if at < 0 {
					continue
				}
				m := open[at].(*ptx.Instruction)
				fused := *i
				fused.Op, fused.Mods = "fma", append([]string{"rn"}, i.Mods...)
				fused.Operands = []ptx.Operand{i.Operands[0], m.Operands[1], m.Operands[2], i.Operands[3-k]}
				if i.Op == "sub" {
					of := &fused.Operands[3]
					if k == 2 {
						of = &fused.Operands[1]
					}
					var n []ptx.Statement
					n, *of = negated(*of, i, made)
					out = append(out, n...)
				}
				i, s = &fused, &fused
				break
			}
		}
		if ok {
			if flow.Leaves(i) {
				open = nil
			}
			open = slices.DeleteFunc(open, func(m ptx.Statement) bool {
				o := m.(*ptx.Instruction)
				return o != i && slices.ContainsFunc(flow.Written(i), func(n string) bool { return n == o.Operands[1].Text || n == o.Operands[2].Text })
			})
		}
		out = append(out, s)
	}
	return out, open
}

// negated is an operand with the other sign, and what makes it, before an instruction.
func negated(o ptx.Operand, before *ptx.Instruction, made *int) (list []ptx.Statement, of ptx.Operand) {
	*made++
	of = ptx.Operand{Kind: ptx.Name, Text: fmt.Sprintf("%%gocuda_minus%d", *made)}
	t := before.Mods[len(before.Mods)-1]
	return []ptx.Statement{&ptx.Variable{Line: before.Line, Space: "reg", Type: ptx.Type(t), Name: of.Text},
		&ptx.Instruction{Line: before.Line, Op: "neg", Mods: []string{t}, Operands: []ptx.Operand{of, o}}}, of
}

// negates reports whether an instruction gives a number the other sign.
func negates(i *ptx.Instruction) bool {
	return i.Op == "neg" && i.Guard == "" && len(i.Operands) == 2 && i.Operands[1].Kind == ptx.Name && (slices.Equal(i.Mods, []string{"f32"}) || slices.Equal(i.Mods, []string{"f64"}))
}

// free reports whether an instruction is an operation that names no rounding.
func free(i *ptx.Instruction, op string) bool {
	if i.Op != op || i.Guard != "" || len(i.Operands) != 3 || i.Operands[0].Kind != ptx.Name {
		return false
	}
	return slices.Equal(i.Mods, []string{"f32"}) || slices.Equal(i.Mods, []string{"f64"}) || slices.Equal(i.Mods, []string{"ftz", "f32"})
}
