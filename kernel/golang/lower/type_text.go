package lower

import (
	"go/types"
	"strings"
)

// typeText writes a type as package reflect does, with its packages as pkg says.
func typeText(t types.Type, pkg func(*types.Package) string) string {
	return withoutAliases(reflectSpaces(types.TypeString(t, pkg)))
}

// aliases are the names that package reflect does not know.
var aliases = map[string]string{"any": "interface {}", "byte": "uint8", "rune": "int32"}

// withoutAliases replaces the names of aliases in the text of a type: not those of
// packages' types, fields and methods, nor what stands in tags.
func withoutAliases(s string) string {
	var out strings.Builder
	quoted := false
	for i := 0; i < len(s); {
		end := i
		for !quoted && end < len(s) && (s[end] == '_' || s[end] >= 0x80 || isAlphanumeric(s[end])) {
			end++
		}
		if end == i {
			switch {
			case quoted && s[i] == '\\':
				out.WriteByte(s[i])
				i++
			case s[i] == '"':
				quoted = !quoted
			}
			out.WriteByte(s[i])
			i++
			continue
		}
		word := s[i:end]
		named := i > 0 && s[i-1] == '.' // or it names something: it has a type or a parameter after it
		if rest := s[end:]; rest != "" {
			named = named || rest[0] == '(' || rest[0] == ' ' && rest[1] != '}' && rest[1] != '"'
		}
		if is, ok := aliases[word]; ok && !named {
			word = is
		}
		out.WriteString(word)
		i = end
	}
	return out.String()
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

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
