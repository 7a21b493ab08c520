package cpp

import "gocuda/cudaapi/ptx"

// Threads of a GPU that add to one place without an atomic operation lose updates: all threads
// of a warp read before one writes. Here threads run one after another and would lose few. So
// other threads may run before a store to a place that was read, unless the place looks like
// the thread's own.

// racy finds these stores.
func racy(f *ptx.Function) map[*ptx.Instruction]bool {
	found := map[*ptx.Instruction]bool{}
	own := ownPlaces(f)
	type address struct {
		base string
		plus int64
	}
	read := map[address]bool{}
	place := func(o ptx.Operand) (address, bool) {
		return address{o.Text, o.Plus}, o.Kind == ptx.Address && o.Parts == nil && !own[o.Text]
	}
	eachStatement(f.Body, func(s ptx.Statement) {
		i, ok := s.(*ptx.Instruction)
		if !ok || len(i.Operands) == 0 {
			return
		}
		switch i.Op {
		case "bar", "barrier":
			clear(read)
		case "st":
			if p, ok := place(i.Operands[0]); ok && read[p] {
				found[i] = true
			}
			return
		}
		for _, o := range elements(i.Operands[0]) { // what lies at another address from here on
			for p := range read {
				if p.base == o.Text {
					delete(read, p)
				}
			}
		}
		if i.Op == "ld" {
			if p, ok := place(i.Operands[1]); ok {
				read[p] = true
			}
		}
	})
	return found
}

// ownPlaces are the names of places that no other thread shares, as far as it can be seen:
// local variables, parameters, and registers that are computed from the thread's index, without
// division, bit operations or loads.
func ownPlaces(f *ptx.Function) map[string]bool {
	own := map[string]bool{}
	for _, of := range []string{"%tid", "%ctaid"} {
		for _, x := range []string{".x", ".y", ".z"} {
			own[of+x] = true
		}
	}
	eachStatement(f.Body, func(s ptx.Statement) {
		if v, ok := s.(*ptx.Variable); ok && (v.Space == "local" || v.Space == "param") {
			own[v.Name] = true
		}
	})
	for _, p := range append(f.Params, f.Results...) {
		own[p.Name] = true
	}
	for n := -1; n != len(own); {
		n = len(own)
		eachStatement(f.Body, func(s ptx.Statement) {
			i, ok := s.(*ptx.Instruction)
			if !ok {
				return
			}
			switch i.Op {
			case "mov", "add", "sub", "mul", "mad", "shl", "cvt", "cvta":
				for _, o := range i.Operands[1:] {
					if own[o.Text] && i.Operands[0].Kind == ptx.Name {
						own[i.Operands[0].Text] = true
					}
				}
			}
		})
	}
	return own
}
