package instrument

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// noted is PTX whose accesses to global memory are noted.
type noted struct {
	text string
	// globals are the module's variables that the code reaches through pointers, which
	// are called pointerTo(i): so the variables can be those of the module that the
	// program has loaded. Until somebody changes them they lead to the module's own.
	globals []string
	// outlines are the kernels of which there are only the outlines, with the numbers of
	// the parameters on which what they touch depends.
	outlines map[string][]int
	// waits are the kernels, other than these, that may wait for what is written while
	// they run.
	waits map[string]bool
}

func pointerTo(i int) string { return fmt.Sprintf("gocuda_at_%d", i) }

// rewriter goes through the statements of a PTX module.
type rewriter struct {
	out       strings.Builder
	variables map[string]bool // of the module, in global memory
	globals   []string
	labels    int
	bodies    int // where the first of a function begins in out
	err       error

	functions map[string][]item // bodies, by name
	touching  map[string]bool   // of those that were asked for
	outlines  map[string][]int
	waiting   map[string]bool
}

// item is a part of a module's text.
type item struct {
	kind itemKind
	text string
}

type itemKind uint8

const (
	statement   itemKind = iota // of the module
	head                        // of a function, whose body follows
	instruction                 // of a function, or a declaration in it
	labelled                    // a label
	opened                      // {
	closed                      // }
)

const declared = ".reg .b64 %gocuda_t, %gocuda_a, %gocuda_v;\n.reg .b32 %gocuda_w;\n.reg .pred %gocuda_p;\n"

var (
	comments  = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
	variable  = regexp.MustCompile(`^(?:\.(?:visible|weak|common)\s+)*\.(global|const)\b.*?([\w$%]+)\s*(?:(?:\[[^\]]*\]\s*)+)?(?:=|$)`)
	label     = regexp.MustCompile(`^[A-Za-z_$%][\w$]*$`)
	guarded   = regexp.MustCompile(`^@(!?)\s*([%\w$]+)\s+`)
	operand   = regexp.MustCompile(`\[([^\]]*)\]`)
	address   = regexp.MustCompile(`^\s*([%A-Za-z_$][\w$.]*)\s*(?:\+\s*(-?\w+)\s*)?$`)
	name      = regexp.MustCompile(`[A-Za-z_$%][\w$]*`)
	constants = regexp.MustCompile(`\.const\b`)
	header    = regexp.MustCompile(`(?m)^\s*\.(version|target|address_size)\b.*$`)
	ownTarget = regexp.MustCompile(`(?m)^\s*\.target\s+sm_\d+[a-z]`)
	note      = "gocuda_note"
)

// lineEnded are directives that end with their line.
var lineEnded = []string{".version", ".target", ".address_size", ".loc", ".file"}

// unknown are instructions that touch global memory in ways that are not noted.
var unknown = []string{"tex.", "tld4.", "suld.", "sust.", "sured.", "cp.async.bulk.", "cp.reduce.", "multimem.", "wmma.load.", "wmma.store.", "isspacep.const", "tensormap."}

// rewrite has the code of a PTX module note what it touches, by a function of the
// module runtime, with a trace whose address a kernel's last argument is. If outlined,
// there are only the outlines of those kernels that have one.
func rewrite(text, runtime string, outlined bool) (noted, error) {
	text, runtime = strings.TrimRight(text, "\x00"), strings.TrimRight(runtime, "\x00")
	if !strings.Contains(text, ".version") {
		return noted{}, fmt.Errorf("this is no PTX")
	}
	r := &rewriter{variables: map[string]bool{}, functions: map[string][]item{}, touching: map[string]bool{}, outlines: map[string][]int{}, waiting: map[string]bool{}}
	heads := header.FindAllString(runtime, -1)
	if own := ownTarget.FindString(text); own != "" { // code for one GPU only
		for i, h := range heads {
			if strings.Contains(h, ".target") {
				heads[i] = own
			}
		}
	}
	body := header.ReplaceAllString(comments.ReplaceAllString(runtime, ""), "")
	r.module(parse(header.ReplaceAllString(comments.ReplaceAllString(text, ""), "")), outlined)
	if r.err != nil {
		return noted{}, r.err
	}
	whole := r.out.String()
	var b strings.Builder
	b.WriteString(strings.Join(heads, "\n") + "\n.shared .align 8 .u64 gocuda_trace;\n")
	b.WriteString(strings.Replace(body, ".visible .func", ".func", 1))
	b.WriteString(whole[:r.bodies])
	for i, g := range r.globals {
		fmt.Fprintf(&b, ".visible .global .align 8 .u64 %s = generic(%s);\n", pointerTo(i), g)
	}
	b.WriteString(whole[r.bodies:])
	return noted{b.String(), r.globals, r.outlines, r.waiting}, nil
}

// parse takes a module apart.
func parse(text string) (items []item) {
	depth, from := 0, 0
	add := func(k itemKind, text string) { items = append(items, item{k, text}) }
	for i := 0; i < len(text); i++ {
		c := text[i]
		begins := strings.TrimSpace(text[from:i]) == ""
		if begins && c == '.' {
			if j := slices.IndexFunc(lineEnded, func(d string) bool { return strings.HasPrefix(text[i:], d) && !isWord(text, i+len(d)) }); j >= 0 {
				end := strings.IndexByte(text[i:], '\n')
				if end < 0 {
					end = len(text) - i
				}
				i += end
				from = min(i+1, len(text))
				continue // lines and files are of no use here
			}
		}
		switch {
		case c == '"':
			if end := strings.IndexByte(text[i+1:], '"'); end >= 0 {
				i += end + 1
			}
		case c == '{' && begins:
			add(opened, "")
			depth++
			from = i + 1
		case c == '}' && begins:
			add(closed, "")
			depth--
			from = i + 1
		case c == '{':
			before := strings.TrimSpace(text[from:i])
			if depth == 0 && isFunction(before) {
				add(head, before)
				depth, from = 1, i+1
				continue
			}
			end := closing(text, i)
			if strings.HasPrefix(before, ".section") {
				from = end + 1
			}
			i = end
		case c == ';':
			s := strings.TrimSpace(text[from:i])
			from = i + 1
			if depth == 0 {
				add(statement, s)
			} else {
				add(instruction, s)
			}
		case c == ':' && depth > 0 && label.MatchString(strings.TrimSpace(text[from:i])) && !strings.HasPrefix(text[i:], "::"):
			add(labelled, strings.TrimSpace(text[from:i]))
			from = i + 1
		}
	}
	return items
}

// bodyOf is the part of a module's items that follow a function's head, with its end.
func bodyOf(items []item) []item {
	depth := 1
	for i, it := range items {
		switch it.kind {
		case opened:
			depth++
		case closed:
			if depth--; depth == 0 {
				return items[:i+1]
			}
		}
	}
	return items
}

// module goes through all of a module.
func (r *rewriter) module(items []item, outlined bool) {
	for i, it := range items {
		switch it.kind {
		case statement:
			r.declare(it.text)
		case head:
			n, _, _ := signature(it.text)
			r.functions[n] = bodyOf(items[i+1:])
		}
	}
	r.out.Reset()
	for i := 0; i < len(items) && r.err == nil; i++ {
		switch it := items[i]; it.kind {
		case statement:
			r.declare(it.text)
		case head:
			body := bodyOf(items[i+1:])
			r.function(it.text, body, outlined)
			i += len(body)
		}
	}
}

// signature is a function's name, with the names of its parameters, and whether it is a
// kernel.
func signature(head string) (name string, parameters []string, kernel bool) {
	kernel = slices.Contains(strings.Fields(head), ".entry")
	list := ""
	if open := strings.LastIndexByte(head, '('); open >= 0 {
		end := strings.IndexByte(head[open:], ')')
		head, list = head[:open], head[open+1:open+max(end, 1)]
	}
	fields := strings.FieldsFunc(head, func(c rune) bool { return c == ')' || c <= ' ' })
	name = fields[len(fields)-1]
	if kernel {
		name = fields[slices.Index(fields, ".entry")+1]
	}
	for _, p := range strings.Split(list, ",") {
		if f := strings.Fields(p); len(f) > 0 {
			n, _, _ := strings.Cut(f[len(f)-1], "[")
			parameters = append(parameters, n)
		}
	}
	return name, parameters, kernel
}

func isWord(text string, i int) bool {
	return i < len(text) && (text[i] == '_' || text[i] >= '0' && text[i] <= '9' || text[i]|32 >= 'a' && text[i]|32 <= 'z')
}

// closing is where the brace at i is closed.
func closing(text string, i int) int {
	depth := 0
	for ; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text) - 1
}

func isFunction(head string) bool {
	return slices.ContainsFunc(strings.Fields(head), func(w string) bool { return w == ".entry" || w == ".func" })
}

// declare takes a statement of the module's. Constants are variables of global
// memory, for so they can be another module's.
func (r *rewriter) declare(s string) {
	if v := variable.FindStringSubmatch(s); v != nil && !isFunction(s) {
		r.variables[v[2]] = true
		if v[1] == "const" {
			s = strings.Replace(s, ".const", ".global", 1)
		}
	}
	r.out.WriteString(s + ";\n")
}

// function writes one: a kernel gets one more parameter.
func (r *rewriter) function(head string, body []item, outlined bool) {
	if r.bodies == 0 {
		r.bodies = r.out.Len()
	}
	name, parameters, kernel := signature(head)
	r.begin(head, kernel)
	if kernel {
		o := analyse(body, parameters, r.variables)
		if outlined && o != nil && r.outline(name, o) {
			return
		}
		r.waiting[name] = o == nil || o.waits()
	}
	for _, it := range body {
		switch it.kind {
		case opened:
			r.out.WriteString("{\n")
		case closed:
			r.out.WriteString("}\n")
		case labelled:
			r.out.WriteString(it.text + ":\n")
		case instruction:
			r.instruction(it.text)
		}
	}
}

// begin writes a function's head.
func (r *rewriter) begin(head string, kernel bool) {
	if !kernel {
		r.out.WriteString(head + "\n{\n" + declared + "ld.shared.u64 %gocuda_t, [gocuda_trace];\n")
		return
	}
	const parameter = ".param .u64 gocuda_trace_param"
	open := strings.IndexByte(head, '(')
	end := strings.IndexByte(head, ')')
	switch {
	case open < 0:
		fields := strings.Fields(head) // .visible .entry NAME and directives
		at := slices.Index(fields, ".entry") + 2
		head = strings.Join(fields[:at], " ") + " (" + parameter + ") " + strings.Join(fields[at:], " ")
	case strings.TrimSpace(head[open+1:end]) == "":
		head = head[:open+1] + parameter + head[end:]
	default:
		head = head[:end] + ", " + parameter + head[end:]
	}
	r.out.WriteString(head + "\n{\n" + declared + "ld.param.u64 %gocuda_t, [gocuda_trace_param];\nst.shared.u64 [gocuda_trace], %gocuda_t;\n")
}

// instruction takes a statement of a function's.
func (r *rewriter) instruction(s string) {
	if strings.HasPrefix(s, ".") { // a declaration
		r.out.WriteString(s + ";\n")
		return
	}
	guard := guarded.FindStringSubmatch(s)
	rest := s
	if guard != nil {
		rest = s[len(guard[0]):]
	}
	code, operands, _ := strings.Cut(strings.Map(space, rest), " ")
	if isUnknown(code) {
		r.err = fmt.Errorf("%s touches memory in a way that is not followed", code)
		return
	}
	code = inGlobal(code)
	operands = r.reach(code, operands)
	if size, mode, generic, at := access(code, operands); size > 0 {
		r.note(guard, at, size, mode, generic)
	}
	r.write(guard, code, operands)
}

// isUnknown reports whether an instruction touches memory in a way that is not noted.
func isUnknown(code string) bool {
	return slices.ContainsFunc(unknown, func(p string) bool { return strings.HasPrefix(code, p) }) && !strings.Contains(code, ".shared")
}

// inGlobal has an instruction reach constants as variables in global memory.
func inGlobal(code string) string {
	if strings.HasPrefix(code, "ld.const") || strings.HasPrefix(code, "cvta.const") || strings.HasPrefix(code, "cvta.to.const") {
		return constants.ReplaceAllString(code, ".global")
	}
	return code
}

// outline writes a kernel's outline, if it has one: if nothing that is in memory decides
// which memory it touches.
func (r *rewriter) outline(name string, o *outline) bool {
	var from origin
	for _, i := range o.code {
		switch touches, by := r.touches(o, i); {
		case isUnknown(i.code), i.parts[0] == "call" && r.calls(i):
			return false
		case touches:
			from |= by
		}
	}
	if from&unsteady != 0 {
		return false
	}
	passed := map[int]bool{} // blocks to which the way leads past others that are left out
	for _, b := range o.blocks {
		if b.last != nil && o.decides(b.last)&unsteady != 0 {
			if b.meets < 0 {
				return false
			}
			passed[b.meets] = true
		}
	}
	numbers := []int{}
	for k := range params {
		if from>>k&1 != 0 {
			numbers = append(numbers, k)
		}
	}
	r.outlines[name] = numbers
	r.labels++
	meeting := func(k int) string { return fmt.Sprintf("$gocuda_block_%d_%d", r.labels, k) }
	next := 0
	for k, it := range o.body {
		for ; next < len(o.blocks) && o.blocks[next].first <= k; next++ {
			if passed[next] {
				r.out.WriteString(meeting(next) + ":\n")
			}
		}
		switch it.kind {
		case opened:
			r.out.WriteString("{\n")
		case closed:
			r.out.WriteString("}\n")
		case labelled:
			r.out.WriteString(it.text + ":\n")
		case instruction:
			i := o.code[k]
			if i == nil {
				r.out.WriteString(it.text + ";\n")
				continue
			}
			guard := guarded.FindStringSubmatch(it.text)
			ends, _ := i.ends()
			switch {
			case ends && i.guard != "" && o.decides(i)&unsteady != 0:
				if to := o.blocks[i.block].meets; to < len(o.blocks) {
					r.out.WriteString("bra " + meeting(to) + ";\n")
				} else {
					r.out.WriteString("ret;\n")
				}
			case i.parts[0] == "trap":
				r.out.WriteString(strings.Replace(it.text, "trap", "ret", 1) + ";\n")
			case ends || len(i.def) > 0 && slices.ContainsFunc(i.def, func(d string) bool { return o.of[d]&unsteady == 0 }):
				r.write(guard, inGlobal(i.code), r.reach(inGlobal(i.code), i.operands))
			default:
				if touches, _ := r.touches(o, i); touches {
					code := inGlobal(i.code)
					size, mode, generic, at := access(code, r.reach(code, i.operands))
					r.note(guard, at, size, mode, generic)
				}
			}
		}
	}
	return true
}

// write writes an instruction.
func (r *rewriter) write(guard []string, code, operands string) {
	if guard != nil {
		code = guard[0] + code
	}
	r.out.WriteString(strings.TrimSpace(code+" "+operands) + ";\n")
}

// touches reports whether an instruction touches global memory, other than the compiler's
// own tables, and what decides where and whether.
func (r *rewriter) touches(o *outline, i *instr) (bool, origin) {
	size, _, _, at := access(inGlobal(i.code), i.operands)
	if size == 0 || o.address(i, at)&table != 0 {
		return false, 0
	}
	if a := address.FindStringSubmatch(at); a == nil || !strings.HasPrefix(a[1], "%") && !r.variables[a[1]] {
		return false, 0
	}
	return true, o.address(i, at) | o.decides(i)
}

// calls reports whether a function that is called may touch global memory.
func (r *rewriter) calls(i *instr) bool {
	list := i.operands
	if strings.HasPrefix(list, "(") {
		list = strings.TrimLeft(list[len(firstOperand(list)):], ", ")
	}
	return r.reaches(firstOperand(list))
}

func (r *rewriter) reaches(name string) bool {
	name = strings.TrimSpace(name)
	body, ok := r.functions[name]
	if strings.HasPrefix(name, "%") {
		return true
	}
	if !ok {
		return false // the compiler's, such as vprintf
	}
	if known, ok := r.touching[name]; ok {
		return known
	}
	r.touching[name] = false // if it calls itself
	o := analyse(body, nil, r.variables)
	found := o == nil
	if o != nil {
		for _, i := range o.code {
			touches, _ := r.touches(o, i)
			found = found || touches || isUnknown(i.code) || i.parts[0] == "call" && r.calls(i)
		}
	}
	r.touching[name] = found
	return found
}

func space(c rune) rune {
	if c == '\t' || c == '\n' || c == '\r' {
		return ' '
	}
	return c
}

// reach has an instruction reach the module's variables through pointers.
func (r *rewriter) reach(code, operands string) string {
	if len(r.variables) == 0 || strings.HasPrefix(code, "call") {
		return operands
	}
	found := ""
	operands = name.ReplaceAllStringFunc(operands, func(n string) string {
		if !r.variables[n] {
			return n
		}
		if found != "" && found != n {
			r.err = fmt.Errorf("%s has two variables", code)
		}
		found = n
		return "%gocuda_v"
	})
	if found == "" {
		return operands
	}
	i := slices.Index(r.globals, found)
	if i < 0 {
		i = len(r.globals)
		r.globals = append(r.globals, found)
	}
	fmt.Fprintf(&r.out, "ld.global.u64 %%gocuda_v, [%s];\n", pointerTo(i))
	if before, offset, ok := strings.Cut(operands, "%gocuda_v+"); ok && !strings.Contains(operands, "[") {
		fmt.Fprintf(&r.out, "add.s64 %%gocuda_v, %%gocuda_v, %s;\n", strings.TrimSpace(offset))
		operands = before + "%gocuda_v"
	}
	return operands
}

// access is what an instruction does to global memory: its size in bytes, 0 if it
// does nothing; the mode; whether it may be other memory; the address.
func access(code, operands string) (size, mode int, generic bool, at string) {
	parts := strings.Split(code, ".")
	which := 0 // of the operands in brackets
	switch parts[0] {
	case "ld", "ldu":
	case "st":
		mode = 1
	case "atom", "red":
		mode = 2
	case "cp":
		if len(parts) < 4 || parts[1] != "async" || parts[2] != "ca" && parts[2] != "cg" {
			return
		}
		which = 1
	default:
		return
	}
	generic = true
	count := 1
	for _, p := range parts[1:] {
		switch p, _, _ := strings.Cut(p, "::"); p {
		case "global":
			generic = false
		case "shared", "local", "param":
			if parts[0] != "cp" {
				return 0, 0, false, ""
			}
		case "relaxed", "acquire", "release", "mmio":
			mode = 2
		case "v2", "v4", "v8":
			count, _ = strconv.Atoi(p[1:])
		}
	}
	if parts[0] == "red" && slices.Contains(parts, "async") {
		return 0, 0, false, ""
	}
	in := operand.FindAllStringSubmatch(operands, -1)
	if which >= len(in) {
		return 0, 0, false, ""
	}
	at = in[which][1]
	if parts[0] == "cp" {
		rest := strings.Split(operands[strings.LastIndexByte(operands, ']')+1:], ",")
		if len(rest) < 2 {
			return 0, 0, false, ""
		}
		size, _ = strconv.Atoi(strings.TrimSpace(rest[1]))
		return size, 0, false, at
	}
	return count * width(parts[len(parts)-1]), mode, generic, at
}

// width is a type's, in bytes.
func width(t string) int {
	switch t {
	case "f16x2", "bf16x2":
		return 4
	case "bf16":
		return 2
	}
	n, err := strconv.Atoi(strings.TrimLeft(t, "usbf"))
	if err != nil || n%8 != 0 {
		return 0
	}
	return n / 8
}

// note writes the call that notes an access.
func (r *rewriter) note(guard []string, at string, size, mode int, generic bool) {
	a := address.FindStringSubmatch(at)
	if a == nil || !strings.HasPrefix(a[1], "%") {
		return // a number, or memory of the function's own
	}
	r.labels++
	skip := fmt.Sprintf("$gocuda_%d", r.labels)
	if guard != nil {
		not := "!"
		if guard[1] != "" {
			not = ""
		}
		fmt.Fprintf(&r.out, "@%s%s bra %s;\n", not, guard[2], skip)
	}
	if a[2] == "" {
		fmt.Fprintf(&r.out, "mov.b64 %%gocuda_a, %s;\n", a[1])
	} else {
		fmt.Fprintf(&r.out, "add.s64 %%gocuda_a, %s, %s;\n", a[1], a[2])
	}
	if generic {
		fmt.Fprintf(&r.out, "isspacep.global %%gocuda_p, %%gocuda_a;\n@!%%gocuda_p bra %s;\n", skip)
	}
	fmt.Fprintf(&r.out, "mov.u32 %%gocuda_w, %d;\n{\n.param .b64 gocuda_0;\n.param .b32 gocuda_1;\n.param .b64 gocuda_2;\n"+
		"st.param.b64 [gocuda_0], %%gocuda_a;\nst.param.b32 [gocuda_1], %%gocuda_w;\nst.param.b64 [gocuda_2], %%gocuda_t;\n"+
		"call %s, (gocuda_0, gocuda_1, gocuda_2);\n}\n", size<<2|mode, note)
	if guard != nil || generic {
		fmt.Fprintf(&r.out, "%s:\n", skip)
	}
}
