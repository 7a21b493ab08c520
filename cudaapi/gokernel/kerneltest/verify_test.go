package kerneltest

import (
	"fmt"
	_ "unsafe" // for linkname

	"gocuda/cudaapi/gokernel/ir"
)

// passed is called after each pass over a program that a test here compiles.
//
//go:linkname passed gocuda/cudaapi/gokernel.passed
var passed func(name string, p *ir.Program, c any)

func init() {
	passed = func(name string, p *ir.Program, _ any) {
		if err := ir.Verify(p); err != nil {
			panic(fmt.Sprintf("after the pass %s: %v", name, err))
		}
	}
}
