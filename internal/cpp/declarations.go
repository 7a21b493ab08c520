package cpp

import (
	"slices"
	"strings"
)

// Declaration is one at the top level of a source.
type Declaration struct {
	Text string
	Line int // of its start, from 1
	// Names are what it declares, or a part of: a struct's for a method outside of it, and
	// for an operator the types of its parameters.
	Names []string
	// Uses are the names in it.
	Uses []string
	Kind Kind
}

// Kind is what a declaration declares.
type Kind int

// The kinds.
const (
	Other    Kind = iota // a type, a constant, a namespace, a function of the host
	Device               // a __device__ function
	Kernel               // a __global__ function
	Variable             // one that can change, in the module's memory
	Macro                // lines of the preprocessor that define something
	Include              // those that do not
)

// Declarations cuts a source into its declarations at the top level, and within extern "C".
// Lines of the preprocessor with a condition are one, with what is between them.
func Declarations(src string) []Declaration { return declarations(src, "", 1) }

func declarations(src, before string, line int) (list []Declaration) {
	tokens := Tokens(src)
	lineOf := func(at int) int { return line + strings.Count(src[:at], "\n") }
	for i := 0; i < len(tokens); {
		first := i
		t := tokens[i]
		if t.IsDirective() {
			depth := 0
			for ; i < len(tokens); i++ {
				if !tokens[i].IsDirective() {
					continue
				}
				switch word := directive(tokens[i].Text); {
				case strings.HasPrefix(word, "if"):
					depth++
				case word == "endif":
					depth--
				}
				if depth <= 0 {
					break
				}
			}
			i = min(i+1, len(tokens))
			list = append(list, preprocessed(src, tokens[first:i], lineOf(t.Start)))
			continue
		}
		if t.Text == ";" {
			i++
			continue
		}
		if open := i + 2; t.Text == "extern" && open < len(tokens) && strings.HasPrefix(tokens[i+1].Text, `"`) {
			prefix := before + "extern " + tokens[i+1].Text + " "
			if tokens[open].Text == "{" {
				end := closing(tokens, open)
				from, to := tokens[open].End, tokens[end].Start
				if end == open || tokens[end].Text != "}" { // it is not closed
					to = len(src)
				}
				list = append(list, declarations(src[from:to], prefix, lineOf(from))...)
				i = end + 1
				continue
			}
		}
		i = ending(tokens, i) + 1
		d := declared(tokens[first:i])
		d.Text, d.Line = before+src[t.Start:tokens[i-1].End], lineOf(t.Start)
		list = append(list, d)
	}
	return list
}

// directive is the word of a line of the preprocessor, such as "define".
func directive(text string) string {
	fields := strings.Fields(strings.TrimSpace(text[1:]))
	if len(fields) == 0 {
		return ""
	}
	return fields[0]
}

func preprocessed(src string, tokens []Token, line int) Declaration {
	d := Declaration{Text: src[tokens[0].Start:tokens[len(tokens)-1].End], Line: line, Kind: Include}
	for _, t := range tokens {
		if !t.IsDirective() {
			d.Uses = append(d.Uses, t.Text)
			continue
		}
		words := words(t.Text)
		d.Uses = append(d.Uses, words...)
		if directive(t.Text) == "define" && len(words) > 1 {
			d.Kind = Macro
			d.Names = append(d.Names, words[1])
		}
	}
	return d
}

func words(text string) (list []string) {
	for i := 0; i < len(text); {
		if !IsName(text[i]) {
			i++
			continue
		}
		j := i
		for j < len(text) && IsWord(text[j]) {
			j++
		}
		list = append(list, text[i:j])
		i = j
	}
	return list
}

// closing is the index of the bracket that closes the one at i, or of the last token.
func closing(tokens []Token, i int) int {
	depth := 0
	for ; i < len(tokens); i++ {
		switch tokens[i].Text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(tokens) - 1
}

// ending is the index of the last token of a declaration.
func ending(tokens []Token, i int) int {
	function := false
	block := tokens[i].Text == "namespace" || tokens[i].Text == "inline" && i+1 < len(tokens) && tokens[i+1].Text == "namespace"
	for ; i < len(tokens); i++ {
		switch tokens[i].Text {
		case ";":
			return i
		case "=":
			function = false
		case "(":
			if !attribute(tokens, i) {
				function = true
			}
			i = closing(tokens, i)
		case "[":
			i = closing(tokens, i)
		case "{":
			i = closing(tokens, i)
			if function || block {
				return i
			}
		}
	}
	return len(tokens) - 1
}

// attribute says whether the parenthesis at i is of an attribute, and not of parameters.
func attribute(tokens []Token, i int) bool {
	return i > 0 && slices.Contains([]string{"__launch_bounds__", "__align__", "alignas", "__attribute__", "__declspec", "decltype", "noexcept", "static_assert", "__cluster_dims__"}, tokens[i-1].Text)
}

// parameterTypes are the names of a function's parameters' types.
func parameterTypes(tokens []Token) (list []string) {
	begins := false
	for _, t := range tokens {
		switch {
		case t.Text == "{":
			return list
		case t.Text == "(" || t.Text == ",":
			begins = true
		case begins && IsName(t.Text[0]) && t.Text != "const" && t.Text != "struct":
			list, begins = append(list, t.Text), false
		}
	}
	return list
}

// declared says what the tokens of a declaration declare.
func declared(tokens []Token) (d Declaration) {
	i := 0
	for ; i < len(tokens) && tokens[i].Text == "template"; i++ { // past its parameters
		depth := 0
		for i++; i < len(tokens); i++ {
			if tokens[i].Text == "<" {
				depth++
			}
			if tokens[i].Text == ">" {
				if depth--; depth == 0 {
					break
				}
			}
		}
	}
	head := tokens[min(i, len(tokens)):] // up to a body, a value or parameters
	params := false
	for j, t := range head {
		if t.Text == "(" && !attribute(head, j) {
			params = true
		}
		if params || t.Text == "{" || t.Text == "=" || t.Text == ";" {
			head = head[:j]
			break
		}
	}
	has := func(words ...string) bool {
		return slices.ContainsFunc(head, func(t Token) bool { return slices.Contains(words, t.Text) })
	}
	for _, t := range tokens {
		if IsName(t.Text[0]) {
			d.Uses = append(d.Uses, t.Text)
		}
	}
	last := func(list []Token) string {
		for j := len(list) - 1; j >= 0; j-- {
			switch {
			case list[j].Text == "]": // an array's length
				for j > 0 && list[j].Text != "[" {
					j--
				}
			case IsName(list[j].Text[0]):
				return list[j].Text
			}
		}
		return ""
	}
	typ := has("struct", "class", "union", "enum", "namespace")
	switch {
	case has("operator"):
		d.Kind, d.Names = Device, parameterTypes(tokens)
	case params:
		d.Names = []string{last(head)}
		for j := len(head) - 1; j > 1; j-- { // a method outside of its type, of which it is part
			if head[j-1].Text == "::" {
				d.Names = []string{head[j-2].Text}
			}
		}
		switch {
		case has("__global__"):
			d.Kind = Kernel
		case has("__device__"):
			d.Kind = Device
		}
	case has("typedef"):
		d.Names = []string{last(tokens)}
	case has("using") || !typ:
		d.Names = []string{last(head)}
		if len(head) > 1 && head[0].Text == "using" && head[1].Text == "namespace" {
			d.Kind, d.Names = Include, nil
		} else if !has("using", "const", "constexpr") || has("__constant__") {
			d.Kind = Variable
		}
	default:
		for j := 1; j < len(head); j++ {
			if IsName(head[j].Text[0]) && slices.Contains([]string{"struct", "class", "union", "enum", "namespace"}, head[j-1].Text) && head[j].Text != "class" && head[j].Text != "struct" {
				d.Names = append(d.Names, head[j].Text)
				break
			}
		}
		if has("enum") { // what it lists
			for j, t := range tokens[:len(tokens)-1] {
				if IsName(t.Text[0]) && (tokens[j+1].Text == "," || tokens[j+1].Text == "=" || tokens[j+1].Text == "}") {
					d.Names = append(d.Names, t.Text)
				}
			}
		}
		if n := len(tokens); n > 2 && tokens[n-1].Text == ";" && IsName(tokens[n-2].Text[0]) && slices.ContainsFunc(tokens, func(t Token) bool { return t.Text == "{" }) { // struct T {...} v;
			d.Kind = Variable
			d.Names = append(d.Names, tokens[n-2].Text)
		}
	}
	return d
}
