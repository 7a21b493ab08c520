package lower

import (
	"go/types"
	"regexp"
	"strings"
)

// typeText writes a type as package reflect does, with its packages as pkg says.
func typeText(t types.Type, pkg func(*types.Package) string) string {
	s := reflectSpaces(types.TypeString(t, pkg))
	return anyName.ReplaceAllString(s, "${1}interface {}$2")
}

// anyName is any as a type: not a field of that name, which has a type behind it.
var anyName = regexp.MustCompile(`(^|[^\pL\pN_.])any([^\pL\pN_. ]| [}"]|$)`)

// reflectSpaces puts the spaces of a type as package reflect does: those of
// go/types are others.
func reflectSpaces(s string) string {
	var out strings.Builder
	var open []byte // brackets
	quoted := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		last := byte(0)
		if len(open) > 0 {
			last = open[len(open)-1]
		}
		switch {
		case quoted:
			if c == '\\' {
				out.WriteByte(c)
				i++
				c = s[i]
			} else if c == '"' {
				quoted = false
			}
		case c == '"':
			quoted = true
		case c == '(' || c == '[':
			open = append(open, c)
		case c == '{':
			out.WriteString(" {")
			if c = ' '; s[i+1] == '}' {
				out.WriteByte('}')
				i++
				continue
			}
			open = append(open, '{')
		case c == '}':
			out.WriteByte(' ')
			open = open[:len(open)-1]
		case c == ')' || c == ']':
			open = open[:len(open)-1]
		case c == ' ' && last == '[' && s[i-1] == ',':
			continue
		}
		out.WriteByte(c)
	}
	return out.String()
}
