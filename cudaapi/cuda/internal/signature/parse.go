package signature

import (
	"slices"
	"strings"

	"gocuda/internal/cpp"
)

// parser walks the tokens of a file, keeping the namespaces that it is in.
type parser struct {
	tokens  []token
	at      int
	scopes  []scope
	alias   map[string][]token // #define, typedef and using of simple types
	kernels []*Kernel

	variables []string // of namespaces
}

// scope is what an open brace belongs to.
type scope struct {
	namespace string // "" for other braces
	externC   bool
	nameless  bool // it is a namespace without a name
}

func (p *parser) peek(i int) string {
	if p.at+i < len(p.tokens) && p.at+i >= 0 {
		return p.tokens[p.at+i].text
	}
	return ""
}

// file reads declarations; start is where the one at hand began.
func (p *parser) file() {
	start := 0
	for p.at < len(p.tokens) {
		t := p.tokens[p.at]
		switch {
		case t.define != nil:
			p.alias[t.define[0]] = scan(strings.Join(t.define[1:], " "))
			p.at++
			start = p.at
		case t.text == "{":
			p.variable(p.tokens[start:p.at])
			p.scopes = append(p.scopes, opened(p.tokens[start:p.at]))
			p.at++
			start = p.at
		case t.text == "}":
			if len(p.scopes) > 0 {
				p.scopes = p.scopes[:len(p.scopes)-1]
			}
			p.at++
			start = p.at
		case t.text == ";":
			p.aliases(p.tokens[start:p.at])
			p.variable(p.tokens[start:p.at])
			p.at++
			start = p.at
		case t.text == "__global__":
			p.kernel(p.tokens[start:p.at])
			start = p.at
		default:
			p.at++
		}
	}
}

// opened says what a brace after the tokens of a declaration opens.
func opened(decl []token) scope {
	texts := words(decl)
	if i := slices.Index(texts, "namespace"); i >= 0 {
		return scope{namespace: strings.Join(texts[i+1:], ""), nameless: i+1 == len(texts)}
	}
	if len(texts) == 2 && texts[0] == "extern" && texts[1] == `"C"` {
		return scope{externC: true}
	}
	return scope{}
}

func words(tokens []token) []string {
	var out []string
	for _, t := range tokens {
		if t.define == nil {
			out = append(out, t.text)
		}
	}
	return out
}

// aliases remembers "typedef float real" and "using real = float".
func (p *parser) aliases(decl []token) {
	texts := words(decl)
	switch {
	case len(texts) >= 3 && texts[0] == "typedef":
		p.alias[texts[len(texts)-1]] = decl[1 : len(decl)-1]
	case len(texts) >= 4 && texts[0] == "using" && texts[2] == "=":
		p.alias[texts[1]] = decl[3:]
	}
}

// variable remembers the variable of a namespace that a declaration is of, up to its value.
func (p *parser) variable(decl []token) {
	texts := words(decl)
	device := slices.ContainsFunc(texts, func(w string) bool { return w == "__device__" || w == "__constant__" || w == "__managed__" })
	if !device || slices.Contains(texts, "template") || slices.Contains(texts, "extern") {
		return
	}
	name := ""
	for _, s := range p.scopes {
		if s.namespace == "" && !s.nameless && !s.externC {
			return // in a function or a type
		}
		if s.namespace != "" {
			name += s.namespace + "::"
		}
	}
	if name == "" {
		return
	}
	for _, part := range split(decl) {
		last := ""
		for i := 0; i < len(part); i++ {
			switch t := part[i].text; {
			case t == "=" || t == "[":
				i = len(part)
			case t == "(" && (last == "__align__" || last == "alignas" || last == "__attribute__"):
				end := (&parser{tokens: part}).matching(i)
				if end < 0 {
					return
				}
				i = end
			case t == "(":
				return // a function
			case cpp.IsWord(t[0]):
				last = t
			}
		}
		p.variables = append(p.variables, name+last)
	}
}

// kernel reads one __global__ function; before holds the tokens of its
// declaration up to __global__.
func (p *parser) kernel(before []token) {
	k := &Kernel{Line: p.tokens[p.at].line, alias: p.alias}
	externC := false
	var spaces []string
	for _, s := range p.scopes {
		externC = externC || s.externC
		if s.namespace != "" {
			spaces = append(spaces, s.namespace)
		}
	}
	texts := words(before)
	k.instance = len(texts) > 0 && texts[len(texts)-1] == "template"
	if i := slices.Index(texts, "extern"); i >= 0 && i+1 < len(texts) && texts[i+1] == `"C"` {
		externC = true
	}
	if i := slices.Index(texts, "template"); i >= 0 && i+1 < len(texts) && texts[i+1] == "<" {
		k.Args = templateArgs(before[i+1:])
	}
	p.at++
	name := p.name()
	if name == "" || p.peek(0) != "(" {
		return
	}
	open := p.at
	end := p.matching(open)
	if end < 0 {
		p.at = len(p.tokens)
		return
	}
	for _, part := range split(p.tokens[open+1 : end]) {
		if w := words(part); len(w) == 0 || len(w) == 1 && w[0] == "void" {
			continue
		}
		k.decls = append(k.decls, part)
		k.Params = append(k.Params, param(part, p.alias))
	}
	p.at = end + 1
	k.Name = strings.Join(append(spaces, name), "::")
	if externC && !k.Template() {
		k.Symbol = name
	}
	k.Declared = p.peek(0) == ";" && !k.instance
	if k.instance && !strings.Contains(name, "<") { // which instance it is, its parameters say
		k.tellApart()
	}
	for i, old := range p.kernels {
		if old.Name == k.Name { // declared before, now defined, or the other way round
			if !k.Declared || old.Declared {
				k.Again = !k.Declared && !old.Declared
				p.kernels[i] = k
			}
			if k.Again && !k.Template() && !old.Template() {
				k.Overloads = append(old.Overloads, k.apart())
				if len(old.Overloads) == 0 {
					k.Overloads = []*Kernel{old.apart(), k.apart()}
				}
			}
			return
		}
	}
	p.kernels = append(p.kernels, k)
}

// apart is the kernel with a name that its overloads do not have.
func (k *Kernel) apart() *Kernel {
	made := *k
	made.Again, made.Overloads = false, nil
	made.tellApart()
	return &made
}

// tellApart adds the parameters to the kernel's name.
func (k *Kernel) tellApart() {
	var types []string
	for i, decl := range k.decls {
		types = append(types, typeOf(decl, k.Params[i].Name))
	}
	list := strings.Join(types, ", ")
	k.Expression = "(void (*)(" + list + "))" + k.Name
	k.Name += "(" + list + ")"
}

// typeOf is the type of a parameter, from its declaration.
func typeOf(decl []token, name string) string {
	var list []token
	stars := ""
	for i := 0; i < len(decl) && decl[i].text != "="; i++ {
		switch t := decl[i]; {
		case t.text == "[":
			stars = " *"
			i = len(decl)
		case t.text == name && name != "":
			name = "" // which may be that of a type, too
		default:
			list = append(list, t)
		}
	}
	return join(list) + stars
}

// name skips the return type and attributes and gives the function's name, with
// the arguments of a specialisation; the parser then stands at "(".
func (p *parser) name() string {
	name := ""
	for p.at < len(p.tokens) {
		switch t := p.peek(0); {
		case t == "__launch_bounds__" || t == "__cluster_dims__" || t == "__block_size__" || t == "__maxnreg__" || t == "__attribute__" || t == "alignas":
			p.at++
			if end := p.matching(p.at); p.peek(0) == "(" && end > 0 {
				p.at = end + 1
			}
		case t == "[" || t == "]" || t == "void" || t == "static" || t == "inline" || t == "extern" || t == `"C"` || t == "__forceinline__" || t == "__noinline__":
			p.at++
		case t == "(":
			return name
		case t == "<" && name != "":
			end := p.matching(p.at)
			if end < 0 {
				return ""
			}
			name += "<" + join(p.tokens[p.at+1:end]) + ">"
			p.at = end + 1
		case t == ";" || t == "{" || t == "}" || t == "":
			return ""
		default:
			if p.peek(0) == "::" || strings.HasSuffix(name, "::") {
				name += t
			} else {
				name = t
			}
			p.at++
		}
	}
	return ""
}

// matching is the index of the bracket that closes the one at i, or -1.
func (p *parser) matching(i int) int {
	if i >= len(p.tokens) {
		return -1
	}
	pairs := map[string]string{"(": ")", "<": ">", "[": "]", "{": "}"}
	closing, ok := pairs[p.tokens[i].text]
	if !ok {
		return -1
	}
	depth := 0
	for j := i; j < len(p.tokens); j++ {
		switch p.tokens[j].text {
		case p.tokens[i].text:
			depth++
		case closing:
			if depth--; depth == 0 {
				return j
			}
		}
	}
	return -1
}

// templateArgs are the names of a template's parameters, from "<" on; nil for
// the empty list of a full specialisation.
func templateArgs(tokens []token) []string {
	p := parser{tokens: tokens}
	end := p.matching(0)
	if end < 0 {
		return nil
	}
	var names []string
	for _, part := range split(tokens[1:end]) {
		w := words(part)
		if i := slices.Index(w, "="); i >= 0 {
			w = w[:i]
		}
		if len(w) > 0 {
			names = append(names, w[len(w)-1])
		}
	}
	return names
}

// split cuts a list at its commas outside brackets.
func split(tokens []token) [][]token {
	var out [][]token
	depth, start := 0, 0
	for i, t := range tokens {
		switch t.text {
		case "(", "<", "[", "{":
			depth++
		case ")", ">", "]", "}":
			depth--
		case ",":
			if depth == 0 {
				out = append(out, tokens[start:i])
				start = i + 1
			}
		}
	}
	if start < len(tokens) {
		out = append(out, tokens[start:])
	}
	return out
}

func join(tokens []token) string {
	var b strings.Builder
	last := ""
	for _, t := range words(tokens) {
		if last == "," || last != "" && cpp.IsWord(t[0]) && cpp.IsWord(last[len(last)-1]) {
			b.WriteByte(' ')
		}
		b.WriteString(t)
		last = t
	}
	return b.String()
}

// noise are words of a declaration that do not change how it is passed.
var noise = map[string]bool{"volatile": true, "__restrict__": true, "__restrict": true, "restrict": true,
	"__grid_constant__": true, "struct": true, "typename": true, "register": true, "class": true, "enum": true}

// param reads one parameter. bound replaces names: a template's parameters, or
// aliases.
func param(tokens []token, bound map[string][]token) Param {
	stars, depth := 0, 0
	readOnly := false
	var names []token
	var p Param
scan:
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case t.define != nil:
		case t.text == "<":
			if len(names) == 0 {
				return p // not a declaration
			}
			depth++
			names[len(names)-1].text += "<"
		case t.text == ">" && depth > 0:
			depth--
			names[len(names)-1].text += ">"
		case depth > 0:
			names[len(names)-1].text += t.text
		case t.text == "*":
			stars++
		case t.text == "[": // an array parameter is a pointer
			stars++
			break scan
		case t.text == "=":
			break scan
		case t.text == "const":
			readOnly = readOnly || stars == 0
		case t.text == "::": // a qualified name goes by its last part
			if i+1 < len(tokens) && len(names) > 0 && stars == 0 {
				names = names[:len(names)-1]
			}
		case noise[t.text]:
		case cpp.IsWord(t.text[0]):
			// A word after the stars, or after a complete type, is the name.
			if stars > 0 || len(names) > 0 && !continues(names, t.text) {
				p.Name = t.text
			} else {
				names = append(names, t)
			}
		}
	}
	base, more, constant := resolve(names, bound, 0)
	stars += more
	readOnly = readOnly || constant
	if stars == 0 {
		p.Type = base
		return p
	}
	p.Type = Type{Name: base.Name + " *", Kind: Pointer, Size: 8}
	p.Elem, p.ReadOnly = base, readOnly && stars == 1
	if stars > 1 {
		p.Elem = Type{Name: base.Name + strings.Repeat(" *", stars-1), Kind: Pointer, Size: 8}
	}
	return p
}

// continues reports whether a word goes on with the type begun by names:
// "unsigned long long int" has four.
func continues(names []token, next string) bool {
	basic := func(s string) bool {
		switch s {
		case "unsigned", "signed", "long", "short", "int", "char", "double":
			return true
		}
		return false
	}
	return basic(next) && basic(names[len(names)-1].text)
}

// resolve finds the type that names spell, through aliases.
func resolve(names []token, bound map[string][]token, depth int) (base Type, stars int, constant bool) {
	var texts []string
	for _, n := range names {
		texts = append(texts, n.text)
	}
	name := strings.Join(texts, " ")
	if t, ok := scalars[order(texts)]; ok {
		t.Name = name
		return t, 0, false
	}
	if to, ok := bound[name]; ok && len(names) == 1 && depth < 8 {
		var inner []token
		for _, t := range to {
			switch {
			case t.text == "*":
				stars++
			case t.text == "const":
				constant = true
			case t.text == "::":
				inner = nil
			case noise[t.text]:
			default:
				inner = append(inner, t)
			}
		}
		base, more, c := resolve(inner, bound, depth+1)
		return base, stars + more, constant || c
	}
	return Type{Name: name}, 0, false
}

// order brings "long unsigned int" into the order of the table.
func order(texts []string) string {
	i := max(slices.Index(texts, "unsigned"), slices.Index(texts, "signed"))
	if i <= 0 {
		return strings.Join(texts, " ")
	}
	sign := texts[i]
	return sign + " " + strings.Join(append(slices.Clone(texts[:i]), texts[i+1:]...), " ")
}
