package ptx

import (
	"fmt"
	"strings"
)

// A token is a word, a number, a string or a single character.
type token struct {
	text string
	line int
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c == '%' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || digit(c)
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// lex takes a text apart. Directives begin with their dot; opcodes have their parts behind
// dots; numbers may have a fraction and an exponent.
func lex(text string) ([]token, error) {
	var out []token
	line := 1
	for i := 0; i < len(text); {
		c := text[i]
		from := i
		switch {
		case c == '\n':
			line++
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == 0:
			i++
			continue
		case strings.HasPrefix(text[i:], "//"):
			for i < len(text) && text[i] != '\n' {
				i++
			}
			continue
		case strings.HasPrefix(text[i:], "/*"):
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				return nil, fmt.Errorf("line %d: a comment has no end", line)
			}
			line += strings.Count(text[i:i+2+end], "\n")
			i += end + 4
			continue
		case c == '"':
			for i++; i < len(text) && text[i] != '"' && text[i] != '\n'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if i >= len(text) || text[i] != '"' {
				return nil, fmt.Errorf("line %d: a string has no end", line)
			}
			i++
		case digit(c):
			i = number(text, i)
		case wordByte(c) || c == '.' && i+1 < len(text) && wordByte(text[i+1]):
			for i++; i < len(text); i++ {
				more := wordByte(text[i]) || c != '.' && text[i] == '.' && i+1 < len(text) && wordByte(text[i+1])
				if !more && strings.HasPrefix(text[i:], "::") && i+2 < len(text) && wordByte(text[i+2]) {
					i++
					more = true
				}
				if !more {
					break
				}
			}
		default:
			i++
		}
		out = append(out, token{text[from:i], line})
	}
	return out, nil
}

// number gives the end of a number.
func number(text string, i int) int {
	hex := strings.HasPrefix(text[i:], "0x") || strings.HasPrefix(text[i:], "0X")
	for i++; i < len(text); i++ {
		c := text[i]
		exponent := !hex && (c == '+' || c == '-') && (text[i-1] == 'e' || text[i-1] == 'E')
		if !wordByte(c) && c != '.' && !exponent {
			break
		}
	}
	return i
}
