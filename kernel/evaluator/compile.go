package evaluator

import "gocuda/kernel/magic"

// compiler is the magic.Compiler of an evaluator.
type compiler struct{ *evaluator }

func (c compiler) CompileNext(run func() error) error { return c.golang.CompileNext(run) }
func (c compiler) SetCompile(on bool)                 { c.golang.SetCompile(on) }
func (c compiler) Compiled() (list []magic.CompiledFunction) {
	for _, f := range c.golang.Compiled() {
		list = append(list, magic.CompiledFunction(f))
	}
	return list
}
