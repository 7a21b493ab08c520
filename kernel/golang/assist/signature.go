package assist

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"gocuda/kernel/magic"
)

// Call is a call that is being written.
type Call struct {
	Signature string   // the function's name, its parameters and its results
	Params    []string // as they stand in Signature
	Active    int      // the parameter at the cursor, from 0; it can be beyond the last one
	Doc       string
}

// CallAt finds the innermost call with the cursor, a position in bytes, between its
// parentheses. It returns nil where there is none, or where the function is not known.
func CallAt(scope Scope, code string, cursor int) *Call {
	cursor = clamp(code, cursor)
	if name, body := cellMagic(code, cursor); name != "" {
		if !slices.Contains(goBodies, name) {
			return nil
		}
		return CallAt(scopeOf(scope, name), code[body:], cursor-body)
	}
	code = magic.Blank(code)
	tokens := lex(code[:cursor])
	open, _ := openBrackets(tokens)
	for _, bracket := range slices.Backward(open) {
		if bracket.tok == token.LBRACE {
			return nil
		}
		at := slices.IndexFunc(tokens, func(t lexeme) bool { return t.start == bracket.start })
		if bracket.tok != token.LPAREN || at == 0 {
			continue
		}
		i := callee(tokens[:at])
		name := tokens[i]
		if name.tok != token.IDENT {
			continue
		}
		if i > 0 && (tokens[i-1].tok == token.FUNC || tokens[i-1].tok == token.RPAREN) {
			return nil // a declaration
		}
		a := analyse(scope, code, name.start, name.end, false)
		if a == nil || a.cursor == token.NoPos {
			return nil
		}
		obj := a.object()
		if obj == nil {
			return nil
		}
		if _, ok := obj.(*types.TypeName); ok {
			return nil // a conversion
		}
		sig, ok := obj.Type().Underlying().(*types.Signature)
		if !ok {
			return nil
		}
		if f, ok := obj.(*types.Func); ok {
			sig = namedSignature(f, scope)
		}
		about := &page{scope: scope, a: a, obj: obj}
		about.write()
		c := &Call{Active: argument(tokens[at+1:]), Doc: strings.TrimSpace(about.doc)}
		c.write(obj.Name(), sig, qualifier(a.pkg))
		return c
	}
	return nil
}

// callee is the index of the last token before a parenthesis, but for type arguments.
func callee(before []lexeme) int {
	depth := 0
	for i := len(before) - 1; i > 0; i-- {
		switch before[i].tok {
		case token.RBRACK:
			depth++
			continue
		case token.LBRACK:
			depth--
			continue
		}
		if depth == 0 {
			return i
		}
	}
	return 0
}

// argument counts the arguments before the cursor.
func argument(tokens []lexeme) (n int) {
	depth := 0
	for _, t := range tokens {
		switch t.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.COMMA:
			if depth == 0 {
				n++
			}
		}
	}
	return n
}

func (c *Call) write(name string, sig *types.Signature, qual types.Qualifier) {
	for i := range sig.Params().Len() {
		v := sig.Params().At(i)
		text := types.TypeString(v.Type(), qual)
		if list, ok := v.Type().(*types.Slice); ok && sig.Variadic() && i == sig.Params().Len()-1 {
			text = "..." + types.TypeString(list.Elem(), qual)
			c.Active = min(c.Active, i)
		}
		if v.Name() != "" {
			text = v.Name() + " " + text
		}
		c.Params = append(c.Params, text)
	}
	results := types.NewSignatureType(nil, nil, nil, nil, sig.Results(), false)
	c.Signature = name + "(" + strings.Join(c.Params, ", ") + ")" + strings.TrimPrefix(types.TypeString(results, qual), "func()")
}
