package gokernel

import (
	"fmt"
	"go/token"
	"maps"
	"slices"
)

// Lined is the program once more as CUDA C++ that says of what it does on which line of the
// source it stands. Its kernels, their parameters and the variables have the same names and
// places in memory.
func (p *Program) Lined() string { return p.lined() }

// lines writes it.
func (p *Program) lines(from *printer) string {
	s := p.stepped()
	with := &printer{fset: p.fset, unchecked: from.unchecked, before: from.before, known: maps.Clone(from.known), sites: slices.Clone(p.Sites), lined: true}
	with.to = deviceWriter{with}
	return with.program(s.unit.prog, s.funcs)
}

// place says where what follows stands in the source.
func (p *printer) place(pos token.Pos) {
	if p.lined {
		at := p.fset.Position(pos)
		fmt.Fprintf(&p.b, "\n#line %d %q\n", at.Line, at.Filename)
	}
}
