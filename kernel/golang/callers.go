package golang

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"sort"
	"strings"
)

// rememberCallers notes which functions of the session the cell's functions call.
func (ev *Evaluator) rememberCallers(cell *checked) {
	for _, d := range cell.funcs {
		caller, ok := cell.info.Defs[d.Name].(*types.Func)
		if !ok || d.Body == nil {
			continue
		}
		if old, ok := ev.names[caller.Name()].(*types.Func); ok && d.Recv == nil && types.Identical(old.Signature(), caller.Signature()) && ev.callers[old] != nil {
			ev.callers[caller] = maps.Clone(ev.callers[old])
		}
		ast.Inspect(d.Body, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if f, ok := cell.info.Uses[id].(*types.Func); ok && f.Pkg() != nil && f.Pkg().Path() == "main" && f != caller {
					if ev.callers[f] == nil {
						ev.callers[f] = make(map[*types.Func]bool)
					}
					ev.callers[f][caller] = true
				}
			}
			return true
		})
	}
}

// leftBehind says which functions of earlier cells still call what a cell has
// replaced by a function with another signature.
func (ev *Evaluator) leftBehind(cell *checked) []string {
	var notes []string
	for _, d := range cell.funcs {
		now, ok := cell.info.Defs[d.Name].(*types.Func)
		if !ok || d.Recv != nil {
			continue
		}
		old, ok := ev.names[now.Name()].(*types.Func)
		if !ok || old == now || types.Identical(old.Signature(), now.Signature()) {
			continue
		}
		var names []string
		for caller := range ev.callers[old] {
			again := cell.pkg.Scope().Lookup(caller.Name())
			if ev.names[caller.Name()] == caller && (again == nil || again.Pkg() != cell.pkg) {
				names = append(names, caller.Name())
			}
		}
		if len(names) > 0 {
			sort.Strings(names)
			notes = append(notes, fmt.Sprintf("%s has another signature now: %s still calls the old one, %s; run its cell again",
				now.Name(), strings.Join(names, ", "), types.TypeString(old.Signature(), types.RelativeTo(old.Pkg()))))
		}
	}
	return notes
}
