package sim

import (
	"slices"

	"gocuda/internal/cpp"
)

// C++ leaves open what a shift by more than the bits gives, and what a number
// gives that does not fit the integer that it is converted to; a CPU takes the
// lower bits of the one and makes a negative number of the other. Kernels count
// on what a GPU gives: (1u << n) - 1 has all bits set for 32. So shifts and casts
// to integers go through functions (include/sim/defined.h). A conversion that no
// cast shows stays the CPU's.

// define rewrites shifts and casts.
func (s *scanned) define(toks []token) {
	cast := -1 // the parenthesis that ended the last cast
	for i := 1; i+1 < len(toks); i++ {
		switch t := toks[i]; {
		case t.text == "<" && toks[i+1].text == "<" && adjacent(toks, i):
			i += s.shift(toks, i, "left", "<")
		case t.text == ">" && toks[i+1].text == ">" && adjacent(toks, i):
			i += s.shift(toks, i, "right", ">")
		case t.text == "static_cast" && toks[i+1].text == "<":
			open := i + 2
			for open < len(toks) && isIntegerWord(toks[open].text) {
				open++
			}
			if open+1 < len(toks) && toks[open].text == ">" && toks[open+1].text == "(" && open > i+2 {
				s.convert(toks, open+1, join(toks[i+2:open]))
				i = open
			}
		case t.text == "(":
			end := i + 1
			for end < len(toks) && isIntegerWord(toks[end].text) {
				end++
			}
			if end > i+1 && end+1 < len(toks) && toks[end].text == ")" && (cast == i-1 || mayPrecedeCast(toks[i-1])) && mayBeCast(toks[end+1]) {
				at := toks[end].end
				s.edits = append(s.edits, edit{at, at, "(gocuda::To<" + join(toks[i+1:end]) + ">)"})
				cast = end
				i = end
			}
		case isIntegerWord(t.text) && toks[i+1].text == "(" && mayPrecedeCast(toks[i-1]) && toks[i-1].text != "<" && toks[i-1].text != ";" &&
			toks[i-1].text != "{" && toks[i-1].text != "}" && closing(toks, i+1) > i+2 && !isIntegerWord(toks[i+2].text) && !otherTypes[toks[i+2].text]:
			s.convert(toks, i+1, t.text)
		}
	}
}

// convert makes what stands in the parentheses that open there an integer.
func (s *scanned) convert(toks []token, open int, kind string) {
	end := closing(toks, open)
	if toks[end].text != ")" {
		return
	}
	s.edits = append(s.edits, edit{toks[open].end, toks[open].end, "(gocuda::To<" + kind + ">)("}, edit{toks[end].start, toks[end].start, ")"})
}

// shift rewrites << or >> at i, and says how many more tokens it takes.
func (s *scanned) shift(toks []token, i int, name, char string) int {
	more := 1
	if i+2 < len(toks) && toks[i+2].text == char && adjacent(toks, i+1) {
		for i+more+1 < len(toks) && toks[i+more+1].text == char {
			more++ // a launch, or what closes templates
		}
		return more
	}
	assigns := i+2 < len(toks) && toks[i+2].text == "=" && adjacent(toks, i+1)
	before, after := toks[i-1], i+2
	if assigns {
		more, after = 2, i+3
		name += "_in"
	}
	if after >= len(toks) || before.text == "operator" || before.text == "." || !endsOperand(before) || !beginsOperand(toks[after]) ||
		char == ">" && !assigns && closesTemplates(toks, i) {
		return more
	}
	text := char + char + "gocuda::" + name + char + char
	if assigns {
		text += "="
	}
	s.edits = append(s.edits, edit{toks[i].start, toks[i+more].end, text})
	return more
}

// closesTemplates says whether >> at i closes the arguments of two templates:
// two < stand open before it.
func closesTemplates(toks []token, i int) bool {
	open, depth := 0, 0
	for i--; i >= 0; i-- {
		switch toks[i].text {
		case ")", "]":
			depth++
		case "(", "[":
			if depth--; depth < 0 {
				return open >= 2
			}
		case ";", "{", "}":
			if depth == 0 {
				return open >= 2
			}
		case "<":
			if depth == 0 && !(i > 0 && toks[i-1].text == "<") && toks[i+1].text != "<" && toks[i+1].text != "=" {
				open++
			}
		case ">":
			if depth == 0 && !(i > 0 && toks[i-1].text == "-") {
				open--
			}
		}
	}
	return open >= 2
}

func isIntegerWord(name string) bool {
	switch name {
	case "int", "unsigned", "signed", "long", "short", "char", "size_t", "uint", "ulong", "ushort", "uchar",
		"int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t":
		return true
	}
	return false
}

var otherTypes = map[string]bool{"void": true, "bool": true, "float": true, "double": true, "const": true}

func endsOperand(t token) bool {
	return t.text == ")" || t.text == "]" || isNameToken(t) || '0' <= t.text[0] && t.text[0] <= '9' || t.text[0] == '"' || t.text[0] == '\''
}

func beginsOperand(t token) bool {
	return endsOperand(t) && t.text != ")" && t.text != "]" || slices.Contains([]string{"(", "-", "+", "~", "!", "*", "&", "::"}, t.text) || t.text[0] == '.' && len(t.text) > 1
}

// mayPrecedeCast says whether an operand may begin behind a token.
func mayPrecedeCast(t token) bool {
	switch t.text {
	case "return", "case", "else", "do":
		return true
	case ")", "]", "\"", "::", ".":
		return false
	}
	return !cpp.IsName(t.text[0]) && !('0' <= t.text[0] && t.text[0] <= '9') && t.text[0] != '"' && t.text[0] != '\''
}

// mayBeCast says whether what follows a type in parentheses is converted to it.
func mayBeCast(t token) bool {
	switch t.text {
	case "const", "noexcept", "override", "final", "volatile", "throw", "mutable":
		return false
	}
	return beginsOperand(t)
}
