package cpp

import (
	"slices"

	"gocuda/cudaapi/ptx"
	"gocuda/cudaapi/ptx/flow"
)

// findEarly finds divisions whose result nothing reads before the next branch: NVRTC moves what a
// loop does not change before it, also from behind a comparison that keeps it from dividing by 0.
func (b *body) findEarly(list []ptx.Statement) {
	b.early = map[*ptx.Instruction]bool{}
	var open []*ptx.Instruction
	eachStatement(list, func(s ptx.Statement) {
		switch s := s.(type) {
		case *ptx.Label:
			open = nil
		case *ptx.Instruction:
			read := flow.Read(s)
			open = slices.DeleteFunc(open, func(d *ptx.Instruction) bool {
				used := s.Op != "selp" && slices.Contains(read, d.Operands[0].Text)
				if used {
					delete(b.early, d)
				}
				return used
			})
			if (s.Op == "div" || s.Op == "rem") && len(s.Operands) > 0 {
				b.early[s], open = true, append(open, s)
			}
			if flow.Leaves(s) {
				open = nil
			}
		}
	})
}
