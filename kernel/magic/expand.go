package magic

import (
	"go/parser"
	"strings"
	"unicode"
	"unicode/utf8"
)

// expandDoc is said of each magic that expands its arguments.
const expandDoc = "In its arguments, {expression} and $name stand for values of Go; write {{, }} and $$ for {, } and $."

// part is a piece of a call's arguments.
type part struct {
	text   string // literal; or, of Go, what it gave
	goCode string // an expression; empty: literal
	column int    // where that begins in the line, in bytes from 1
}

// parse cuts Args into literal text and expressions of Go.
func (c Call) parse() ([]part, error) {
	var parts []part
	var literal strings.Builder
	cut := func(code string, at int) {
		if literal.Len() > 0 {
			parts = append(parts, part{text: literal.String()})
			literal.Reset()
		}
		if code != "" {
			parts = append(parts, part{goCode: code, column: c.Column + at})
		}
	}
	for i := 0; i < len(c.Args); {
		rest := c.Args[i:]
		switch {
		case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "}}"), strings.HasPrefix(rest, "$$"):
			literal.WriteByte(rest[0])
			i += 2
		case rest[0] == '{':
			n := expression(rest[1:])
			if n < 0 {
				return nil, c.UsageErrorf("%s is not a Go expression in braces; for a brace itself write {{", rest)
			}
			cut(rest[1:1+n], i+1)
			i += n + 2
		case rest[0] == '$' && identifier(rest[1:]) > 0:
			n := identifier(rest[1:])
			cut(rest[1:1+n], i+1)
			i += n + 1
		default:
			literal.WriteByte(rest[0])
			i++
		}
	}
	cut("", 0)
	return parts, nil
}

// expression is the length of the expression before the first } that ends one,
// or negative.
func expression(text string) int {
	for n := 0; ; n++ {
		next := strings.IndexByte(text[n:], '}')
		if next < 0 {
			return -1
		}
		n += next
		if _, err := parser.ParseExpr(text[:n]); err == nil {
			return n
		}
	}
}

// identifier is the length of the name that text begins with.
func identifier(text string) int {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		if r != '_' && !unicode.IsLetter(r) && (n == 0 || !unicode.IsDigit(r)) {
			break
		}
		n += size
	}
	return n
}

// expand puts the values of expressions into the arguments.
func (c Call) expand(env Env) (Call, error) {
	if len(c.parts) == 0 {
		return c, nil
	}
	parts := make([]part, len(c.parts))
	var args strings.Builder
	for i, p := range c.parts {
		if p.goCode != "" {
			var err error
			if p.text, err = env.Text(p.goCode, c.Line, p.column); err != nil {
				return c, err
			}
		}
		parts[i] = p
		args.WriteString(p.text)
	}
	c.parts, c.Args = parts, args.String()
	return c, nil
}
