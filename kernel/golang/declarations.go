package golang

import (
	"go/types"
	"slices"
)

// sourceText is a declaration as a cell has it.
type sourceText struct {
	text string
	line int // of the cell, from 1, where it begins
}

// Declaration is what a cell declared under a name, or a method of it.
type Declaration struct {
	Cell   string // as errors call it
	Line   int    // of the cell, from 1, where the text begins
	Text   string // as the user typed it, with the comment above it
	Kind   string // "var", "const", "func", "type" or "method"
	Method string // its name
}

// Declarations returns what a name of the session stands for: one declaration, and
// the methods of a type after it. There are none for what cells did not declare.
func (ev *namespace) Declarations(name string) []Declaration {
	ev.mu.Lock()
	defer ev.mu.Unlock()
	o := ev.names[name]
	if o == nil || ev.source[o].text == "" {
		return nil
	}
	of := func(o types.Object, kind, method string) Declaration {
		return Declaration{ev.fset.Position(o.Pos()).Filename, ev.source[o].line, ev.source[o].text, kind, method}
	}
	switch o := o.(type) {
	case *types.Const:
		return []Declaration{of(o, "const", "")}
	case *types.Func:
		return []Declaration{of(o, "func", "")}
	case *types.TypeName:
		list := []Declaration{of(o, "type", "")}
		if n, ok := types.Unalias(o.Type()).(*types.Named); ok {
			for m := range n.Methods() {
				if ev.source[m].text != "" && !slices.ContainsFunc(list, func(d Declaration) bool { return d.Method == m.Name() }) {
					list = append(list, of(m, "method", m.Name()))
				}
			}
		}
		return list
	}
	return []Declaration{of(o, "var", "")}
}
