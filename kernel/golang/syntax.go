package golang

import "go/token"

// Syntax finds mistakes of syntax in a cell, without checking or running it.
func (ev *Evaluator) Syntax(name, code string) *Error {
	if _, mistakes := parse(token.NewFileSet(), name, code); mistakes != nil {
		return compileError(code, syntaxErrors(mistakes))
	}
	return nil
}
