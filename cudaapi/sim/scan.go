package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gocuda/internal/cpp"
)

// A kernel's name, its namespace and the text of its parameters are found by
// reading the preprocessed source as far as braces and declarations go; what
// the parameters' types are is left to the compiler.

// scanned is what a source holds that the host must know of.
type scanned struct {
	text    string // the source, with dynamic shared memory rewritten
	kernels []scannedKernel
	// templates are the names of kernel templates, which NVRTC too compiles
	// only where a name expression asks for them.
	templates map[string]bool
	// limits of templates, as in scannedKernel.
	limits map[string]string
	// told says that kernels take a gocuda::Index before their parameters.
	told     bool
	plain    map[string]bool // kernels and templates, by name
	whole    map[string]bool // kernels that stand as loops over their threads, too
	launches []int           // where kernels are launched by <<<...>>>
	edits    []edit
	bodies   []body
}

// body is a kernel's body in the tokens, and its name.
type body struct {
	name        string
	global      token // its __global__
	first, last int
}

type scannedKernel struct {
	name   string // qualified
	params string // their declarations, without defaults
	limits string // C++ that sets what of gocuda_k the declaration says of launches
}

// edit replaces a stretch of the source.
type edit struct {
	start, end int
	text       string
}

type token struct {
	text       string
	start, end int
}

// tokens splits preprocessed C++. Line markers are passed over.
func tokens(src string) []token {
	var out []token
	for _, t := range cpp.Tokens(src) {
		if !t.IsDirective() && !t.IsRaw() {
			out = append(out, token{t.Text, t.Start, t.End})
		}
	}
	return out
}

// What is rewritten besides what must be.
type rewriting uint

const (
	told    rewriting = 1 << iota // kernels take their index as a parameter
	slow                          // and races show
	defined                       // and shifts and casts give what GPUs give
)

// scan reads preprocessed CUDA C++ and rewrites it.
func scan(src string, what rewriting) scanned {
	toks := tokens(src)
	s := scanned{templates: map[string]bool{}, limits: map[string]string{}, plain: map[string]bool{}, whole: map[string]bool{}, told: what&told != 0}
	type scope struct {
		name string
		open bool // a namespace or extern "C", in which kernels may be
	}
	var scopes []scope
	outer := func() bool { return len(scopes) == 0 || scopes[len(scopes)-1].open }
	first := 0   // where the current declaration begins
	within := -1 // the kernel whose body this is, in s.bodies
	for i := 0; i < len(toks); i++ {
		switch t := toks[i]; t.text {
		case "extern":
			if end, text := dynamicShared(src, toks, i, outer()); end > 0 {
				s.edits = append(s.edits, edit{t.start, toks[end].start, text}) // but for the semicolon
				i = end
				first = i + 1
			}
		case "static":
			// The macro has it already, and C++ does not take it twice.
			if j := pastQualifiers(toks, i+1); j < len(toks) && toks[j].text == "__shared__" {
				s.edits = append(s.edits, edit{t.start, t.end, ""})
			}
		case "__shared__":
			if j := pastQualifiers(toks, i+1); j < len(toks) && toks[j].text == "static" {
				s.edits = append(s.edits, edit{toks[j].start, toks[j].end, ""})
			}
		case "<":
			if i+2 < len(toks) && toks[i+1].text == "<" && toks[i+2].text == "<" && adjacent(toks, i) && adjacent(toks, i+1) {
				s.launches = append(s.launches, t.start)
				i += 2
			}
		case ";":
			if outer() {
				s.head(toks[first:i])
				first = i + 1
			}
		case "{":
			if !outer() {
				scopes = append(scopes, scope{})
				continue
			}
			decl := toks[first:i]
			name, open := namespaceOf(decl)
			if len(decl) > 2 && decl[0].text == "__gocuda_whole__" {
				s.whole[strings.TrimSuffix(decl[2].text, "_whole")] = true
			}
			if !open {
				var prefix []string
				for _, sc := range scopes {
					if sc.name != "" {
						prefix = append(prefix, sc.name)
					}
				}
				if name, global := s.kernel(src, strings.Join(prefix, "::"), decl); global >= 0 {
					within = len(s.bodies)
					s.bodies = append(s.bodies, body{name, decl[global], i, i})
				}
			}
			scopes = append(scopes, scope{name, open})
			first = i + 1
		case "}":
			if len(scopes) > 0 {
				scopes = scopes[:len(scopes)-1]
			}
			if outer() {
				first = i + 1
				if within >= 0 {
					s.bodies[within].last = i
					within = -1
				}
			}
		}
	}
	if s.told {
		s.tell(toks, what&slow != 0)
		s.loops(toks)
	}
	if what&defined != 0 {
		s.define(toks)
	}
	s.text = s.apply(src)
	return s
}

// apply makes the edits.
func (s *scanned) apply(src string) string {
	slices.SortStableFunc(s.edits, func(a, b edit) int { return a.start - b.start })
	var out strings.Builder
	at := 0
	for _, e := range s.edits {
		if e.start < at {
			continue // inside of another
		}
		out.WriteString(src[at:e.start])
		out.WriteString(e.text)
		at = e.end
	}
	out.WriteString(src[at:])
	return out.String()
}

var indices = map[string]string{"threadIdx": "gocuda_index.thread", "blockIdx": "gocuda_index.block",
	"blockDim": "gocuda_index.dim", "gridDim": "gocuda_index.grid"}

// tell lets kernels' bodies find their index in the parameter, and finds the
// plain kernels: those that cannot wait for other threads. Device functions
// that use an index, or wait, make all kernels other than plain, since they may
// be called by any.
func (s *scanned) tell(toks []token, slow bool) {
	plain := true
	at := 0
	for _, b := range append(s.bodies, body{first: len(toks)}) {
		for _, t := range toks[at:b.first] {
			if indices[t.text] != "" || waits(t.text) {
				plain = false
			}
		}
		at = b.last + 1
	}
	for _, b := range s.bodies {
		own, loops, atomics := plain, false, false
		for i, t := range toks[b.first : b.last+1] {
			if to := indices[t.text]; to != "" {
				s.edits = append(s.edits, edit{t.start, t.end, to})
			}
			own = own && !waits(t.text)
			loops = loops || t.text == "while" || t.text == "do" || t.text == "goto" ||
				t.text == "for" && b.first+i+2 < len(toks) && toks[b.first+i+2].text == ";"
			atomics = atomics || strings.HasPrefix(t.text, "atomic")
		}
		if slow && s.slow(toks[b.first:b.last+1]) {
			own = false // others come in between
			delete(s.whole, b.name)
		}
		own = own && !(loops && atomics) // such a loop may wait for another thread
		if before, overloaded := s.plain[b.name]; overloaded {
			own = own && before
		}
		if s.plain[b.name] = own; own {
			s.edits = append(s.edits, edit{b.global.start, b.global.end, "__attribute__((always_inline))"})
		}
	}
}

// waits reports whether a name stands for something that a thread of a plain
// kernel cannot do: meet other threads, wait until one writes, or fail at once.
func waits(name string) bool {
	switch name {
	case "cooperative_groups", "barrier", "volatile", "atomic", "atomic_ref", "atomicCAS", "atomicExch", "assert", "asm", "__asm__":
		return true
	}
	for _, prefix := range []string{"__sync", "__shfl", "__ballot", "__any_", "__all_", "__match_", "__reduce_", "__active", "__nanosleep", "__threadfence", "__trap", "atomicCAS_", "atomicExch_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// namespaceOf reports whether a declaration opens a namespace or a linkage
// block, and the namespace's name.
func namespaceOf(decl []token) (name string, open bool) {
	if len(decl) > 0 && decl[0].text == "inline" {
		decl = decl[1:]
	}
	if len(decl) == 0 {
		return "", false
	}
	if decl[0].text == "extern" && len(decl) == 2 && strings.HasPrefix(decl[1].text, `"`) {
		return "", true
	}
	if decl[0].text != "namespace" {
		return "", false
	}
	for _, t := range decl[1:] {
		name += t.text
	}
	return name, true
}

// head finds the parameters in the head of a kernel's declaration, and puts the
// index before them: toks[open] and toks[close] are their parentheses, global is
// the __global__, or -1.
func (s *scanned) head(decl []token) (open, close, global int) {
	global = slices.IndexFunc(decl, func(t token) bool { return t.text == "__global__" })
	if global < 0 {
		return 0, 0, -1
	}
	for i := global + 1; i < len(decl); i++ {
		if decl[i].text != "(" {
			continue
		}
		close = closing(decl, i)
		if close <= i {
			break // the parenthesis stays open: the compiler will say so
		}
		name := decl[i-1].text
		if strings.HasPrefix(name, "__") && (strings.HasSuffix(name, "__") || name == "__attribute") || name == "alignas" || name == "decltype" {
			i = close
			continue
		}
		if s.told {
			params := decl[i+1 : close]
			switch {
			case len(params) == 0:
				s.edits = append(s.edits, edit{decl[close].start, decl[close].start, indexParameter})
			case len(params) == 1 && params[0].text == "void":
				s.edits = append(s.edits, edit{params[0].start, params[0].end, indexParameter})
			default:
				s.edits = append(s.edits, edit{params[0].start, params[0].start, indexParameter + ", "})
			}
		}
		return i, close, global
	}
	return 0, 0, -1
}

const indexParameter = "const gocuda::Index &gocuda_index"

// kernel notes the kernel that a function's head declares, if it does.
func (s *scanned) kernel(src, prefix string, decl []token) (name string, global int) {
	open, close, global := s.head(decl)
	if global < 0 {
		return "", -1
	}
	name = decl[open-1].text
	if !cpp.IsName(name[0]) {
		return "", global // a specialisation of a template: a name expression reaches it
	}
	if prefix != "" {
		name = prefix + "::" + name
	}
	if decl[0].text == "template" {
		s.templates[name] = true
		s.limits[name] = limits(decl, true)
		return name, global
	}
	params := parameters(src, decl[open+1:close])
	if s.told {
		if params == "void" {
			params = ""
		}
		params = strings.TrimSuffix("const gocuda::Index &, "+params, ", ")
	}
	s.kernels = append(s.kernels, scannedKernel{name, params, limits(decl, prefix != "")})
	return name, global
}

// limits is C++ for what a kernel's head says of its launches. Names may mean
// something else, or nothing, where that stands: with numbers alone it is always right.
func limits(head []token, numbers bool) string {
	text := ""
	for i, t := range head {
		if t.text != "__launch_bounds__" && t.text != "__cluster_dims__" || i+1 >= len(head) || head[i+1].text != "(" {
			continue
		}
		args := splitArguments(head[i+2 : closing(head, i+1)])
		if slices.ContainsFunc(slices.Concat(args...), func(t token) bool { return numbers && isNameToken(t) }) {
			continue
		}
		if t.text == "__launch_bounds__" {
			text += fmt.Sprintf("gocuda_k->threads = (%s); ", join(args[0]))
			continue
		}
		for k := range 3 {
			n := "1"
			if k < len(args) {
				n = join(args[k])
			}
			text += fmt.Sprintf("gocuda_k->cluster[%d] = (%s); ", k, n)
		}
	}
	return text
}

// splitArguments are the tokens between the commas of a list.
func splitArguments(toks []token) (list [][]token) {
	first, depth := 0, 0
	for i, t := range toks {
		switch t.text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		case ",":
			if depth == 0 {
				list = append(list, toks[first:i])
				first = i + 1
			}
		}
	}
	return append(list, toks[first:])
}

// pastQualifiers is the index of the first token from i on that does not say how
// a variable may change.
func pastQualifiers(toks []token, i int) int {
	for i < len(toks) && (toks[i].text == "volatile" || toks[i].text == "const") {
		i++
	}
	return i
}

// closing is the index of the parenthesis that closes the one at i.
func closing(toks []token, i int) int {
	depth := 0
	for ; i < len(toks); i++ {
		switch toks[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(toks) - 1
}

// parameters is the text of a parameter list without its default arguments.
func parameters(src string, toks []token) string {
	var b strings.Builder
	depth, skip := 0, false
	for _, t := range toks {
		switch t.text {
		case "(", "[", "{", "<":
			depth++
		case ")", "]", "}", ">":
			depth--
		case "=":
			skip = skip || depth == 0
		case ",":
			if depth == 0 {
				skip = false
			}
		}
		if !skip {
			b.WriteString(t.text)
			b.WriteByte(' ')
		}
	}
	return strings.TrimSpace(b.String())
}

// dynamicShared rewrites a declaration of dynamic shared memory that begins at
// toks[i]: it returns the index of its semicolon, or 0, and the new text.
func dynamicShared(src string, toks []token, i int, outer bool) (int, string) {
	shared := false
	var rest []token
	for j := i + 1; j < len(toks); j++ {
		switch t := toks[j]; t.text {
		case "__shared__":
			shared = true
		case "__align__", "__builtin_align__", "alignas", "__attribute__":
			if j+1 < len(toks) {
				j = closing(toks, j+1)
			}
		case ";":
			if !shared {
				return 0, ""
			}
			dim := 0
			for dim < len(rest) && rest[dim].text != "[" {
				dim++
			}
			if dim < 2 || dim+1 >= len(rest) || rest[dim+1].text != "]" {
				return 0, ""
			}
			name := rest[dim-1].text
			typ := join(rest[:dim-1])
			more := join(rest[dim+2:])
			// Keep the line count, so that errors keep their lines.
			lines := strings.Repeat("\n", strings.Count(src[toks[i].start:t.start], "\n"))
			switch {
			case outer && more == "":
				return j, fmt.Sprintf("static gocuda::DynamicShared<%s> %s%s", typ, name, lines)
			case outer:
				return j, fmt.Sprintf("static gocuda::DynamicShared<%s %s> %s%s", typ, more, name, lines)
			case more == "":
				return j, fmt.Sprintf("%s *%s = (%s *)gocuda::dynamic_shared()%s", typ, name, typ, lines)
			}
			return j, fmt.Sprintf("%s (*%s)%s = (%s (*)%s)gocuda::dynamic_shared()%s", typ, name, more, typ, more, lines)
		case "{", "}", "(":
			return 0, ""
		default:
			rest = append(rest, t)
		}
	}
	return 0, ""
}

func join(toks []token) string {
	var b strings.Builder
	for i, t := range toks {
		if i > 0 && cpp.IsName(t.text[0]) && cpp.IsName(toks[i-1].text[0]) {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// footer is the code that describes the kernels and names to the host.
func (s *scanned) footer(names []string) string {
	count, limits := map[string]int{}, maps.Clone(s.limits)
	for _, k := range s.kernels {
		count[k.name]++
		limits[k.name] = k.limits
	}
	var b strings.Builder
	b.WriteString("\n# 1 \"gocuda-kernels\"\n")
	b.WriteString("extern \"C\" __attribute__((visibility(\"default\"))) GOCUDA_RAW unsigned gocuda_describe(unsigned gocuda_i, gocuda::Kernel *gocuda_k) {\nswitch (gocuda_i) {\n")
	n := 0
	describe := func(name, base, f, limits string) {
		run := fmt.Sprintf("Run<%s>", f)
		if s.told {
			run = fmt.Sprintf("Told<%s, %v>", f, s.plain[base])
			if s.whole[base] {
				run = fmt.Sprintf("Told<%s, false, &%s_whole>", f, base)
			}
		}
		fmt.Fprintf(&b, "case %d: *gocuda_k = gocuda::%s::describe(%q); %sreturn 1;\n", n, run, name, limits)
		n++
	}
	for _, k := range s.kernels {
		f := "&" + k.name
		if count[k.name] > 1 {
			f = fmt.Sprintf("static_cast<void (*)(%s)>(&%s)", k.params, k.name)
		}
		describe(k.name, k.name, f, k.limits)
	}
	for _, name := range names {
		base, _, _ := strings.Cut(strings.TrimLeft(name, "& \t"), "<")
		base = strings.TrimPrefix(strings.TrimSpace(base), "::")
		switch {
		case strings.HasPrefix(name, "("): // the type of a kernel that shares its name
			describe(name, "", name, limits[name[strings.LastIndex(name, ")")+1:]])
		case count[base] > 0 && !strings.Contains(name, "<"):
			describe(name, base, "&"+base, limits[base])
		case s.templates[base] || count[base] > 0:
			describe(name, base, "&"+strings.TrimLeft(name, "& \t"), limits[base])
		default:
			fmt.Fprintf(&b, "case %d: *gocuda_k = {%q, (const void *)&%s, 0, 0, 0}; return 1;\n", n, name, strings.TrimLeft(name, "& \t"))
			n++
		}
	}
	b.WriteString("}\nreturn 0;\n}\n")
	return b.String()
}
