package cpp

import (
	"fmt"
	"slices"
	"strings"

	"gocuda/cudaapi/ptx"
	"gocuda/cudaapi/ptx/flow"
)

// part has the lanes go on one by one, where a condition holds.
func (l *lanes) part(i *ptx.Instruction, k, at int, condition string) {
	l.emit("if (__builtin_expect(%s, 0)) { go_apart = %d; goto go_part%d; }", condition, 1+slices.Index(l.leaving, place{k, at}), l.n)
}

// write writes the region for lanes. The loop for single threads follows.
func (l *lanes) write(changed map[string]bool) {
	g, n, x := l.g, l.n, l.x
	labels := map[string]string{}
	for _, k := range x.blocks {
		if name := g.Blocks[k].Label; name != "" {
			labels[name] = fmt.Sprintf("V%d_%s", n, id(name))
		}
	}
	l.scopes = []map[string]string{labels}
	for _, reg := range g.Registers() {
		if l.evens[reg].mixed {
			l.emit("gocuda::Lanes<%s> v%s = {};", held(g.Types[reg]), id(reg))
		}
	}
	live, _ := l.lives(n, x)
	for _, reg := range live {
		if l.one(reg) {
			l.emit("%s = k%[1]s;", id(reg))
		} else {
			l.emit("gocuda::together(v%s, k%[1]s + go_t);", id(reg))
		}
	}
	for _, i := range l.again {
		l.step(i, -1, 0)
	}
	for at, k := range x.blocks {
		b := g.Blocks[k]
		l.emit("W%d_%d:;", n, k)
		if b.Label != "" {
			l.emit("%s:;", labels[b.Label])
		}
		for at, i := range b.List {
			if p := g.Place(i); p != nil {
				l.body.at(p)
			}
			if ends := i.Op == "ret" || i.Op == "exit"; ends || waits(i) {
				l.meet(i, k, at, ends, changed)
			} else {
				l.step(i, k, at)
			}
		}
		switch i := l.wait(b); {
		case !b.Falls || i != nil && i.Guard == "":
		case k+1 == len(g.Blocks):
			l.leave(len(l.list))
		case at+1 == len(x.blocks) || x.blocks[at+1] != k+1:
			l.emit("goto W%d_%d;", n, k+1)
		}
	}
	if len(l.leaving) == 0 {
		return
	}
	// The lanes' registers, for each to go on by itself.
	l.emit("go_part%d:;", n)
	for _, reg := range l.saved {
		if l.evens[reg].same() {
			l.emit("a%s = %[1]s;", id(reg))
		} else {
			l.emit("gocuda::apart(a%s, %s);", id(reg), l.vector(reg))
		}
	}
	l.emit("go_wide = gocuda::parted(go_parted, go_t);")
}

// restore writes how a single thread begins where the lanes parted.
func (l *lanes) restore() {
	if len(l.leaving) == 0 {
		return
	}
	l.emit("if (go_apart) { const gocuda_u32 go_to = go_apart, go_l = (gocuda_u32)go_x %% %d; if (go_l == %d) go_apart = 0;", strip, strip-1)
	for _, reg := range l.saved {
		if l.evens[reg].same() {
			l.emit("%s = a%[1]s;", id(reg))
		} else {
			l.emit("%s = gocuda::kept(a%[1]s + go_l);", id(reg))
		}
	}
	l.emit("switch (go_to) {")
	for k := range l.leaving {
		l.emit("case %d: goto E%d_%d;", k+1, l.n, k+1)
	}
	l.emit("} }")
}

// meet ends the lanes' part in the region.
func (l *lanes) meet(i *ptx.Instruction, k, at int, ends bool, changed map[string]bool) {
	if i.Guard != "" {
		if l.evens[i.Guard].mixed {
			l.branch(i, k, at, func() { l.meets(i, k, ends, changed) })
			return
		}
		l.emit("if (%s%s) {", map[bool]string{true: "!"}[i.Not], id(i.Guard))
		defer l.emit("}")
	}
	l.meets(i, k, ends, changed)
}

func (l *lanes) meets(i *ptx.Instruction, k int, ends bool, changed map[string]bool) {
	if ends {
		l.leave(len(l.list))
		return
	}
	for _, reg := range l.g.LiveIn(l.g.Blocks[k+1]) {
		switch {
		case !l.kept[reg] || !changed[reg]:
		case l.one(reg):
			l.emit("n%s = %[1]s;", id(reg))
		default:
			l.emit("gocuda::apart(k%s + go_t, %s);", id(reg), l.vector(reg))
		}
	}
	l.leave(l.number[[2]int{k + 1, 1}])
}

// leave ends the lanes' part in a region.
func (l *lanes) leave(to int) {
	switch end := len(l.list); {
	case l.x.several && to == end:
		l.emit("for (gocuda_u32 go_l = 0; go_l < %d; go_l++, go_t++) { GOCUDA_GOES; }", strip)
		l.emit("go_x += %d; continue;", strip)
		return
	case l.x.several:
		l.emit("go_which = %d;", to)
	}
	l.emit("go_x += %d, go_t += %[1]d; continue;", strip)
}

// branch does what all lanes do where they have a guard alike.
func (l *lanes) branch(i *ptx.Instruction, k, at int, do func()) {
	l.emit("{ const int go_m = gocuda::which(v%s)%s;", id(i.Guard), map[bool]string{true: " ^ 255"}[i.Not])
	l.emit("if (go_m == 255) {")
	do()
	l.emit("}")
	l.part(i, k, at, "go_m != 0")
	l.emit("}")
}

// vector is a register as lanes.
func (l *lanes) vector(reg string) string {
	h := held(l.g.Types[reg])
	switch e := l.evens[reg]; {
	case e.mixed:
		return "v" + id(reg)
	case e.same():
		return fmt.Sprintf("gocuda::all<%s>(%s)", h, id(reg))
	default:
		return fmt.Sprintf("gocuda::steps<%s>(%s, %d)", h, id(reg), e.by)
	}
}

// lane is an operand as lanes of an instruction's type; "" if that needs more than its bits.
func (l *lanes) lane(o ptx.Operand, y ptx.Type) string {
	e, _ := l.of(o)
	h := held(unsigned(y))
	if y == "f32" || y == "f64" || y == "pred" {
		h = held(y)
	}
	switch {
	case o.Kind == ptx.Inverted && e.mixed:
		return "~v" + id(o.Text)
	case !e.mixed && e.same():
		return fmt.Sprintf("gocuda::all<%s>((%[1]s)(%s))", h, l.read(o, y))
	case !e.mixed && (y.Float() || y == "pred"):
		return ""
	case !e.mixed:
		return fmt.Sprintf("gocuda::steps<%s>((%[1]s)(%s), %d)", h, l.read(o, y), e.by)
	}
	r := l.g.Types[o.Text]
	if o.Kind != ptx.Name || r.Bits() != y.Bits() || (r == "pred") != (y == "pred") {
		return ""
	}
	text := "v" + id(o.Text)
	if l.looks && l.nans.results[o.Text] {
		text = "gocuda::canonical(" + text + ")"
	}
	if held(r) != h {
		text = fmt.Sprintf("((gocuda::Lanes<%s>)%s)", h, text)
	}
	return text
}

// step writes an instruction for all lanes.
func (l *lanes) step(i *ptx.Instruction, k, at int) {
	if i.Op == "bra" && l.evens[i.Guard].mixed {
		l.branch(i, k, at, func() { l.emit("goto %s;", l.label(i.Operands[0].Text)) })
		return
	}
	if l.evens[i.Guard].mixed {
		l.each(i)
		return
	}
	if i.Guard != "" && !flow.Leaves(i) {
		l.emit("if (%s%s) {", map[bool]string{true: "!"}[i.Not], id(i.Guard))
		bare := *i
		bare.Guard = ""
		i = &bare
		defer l.emit("}")
	}
	l.looks = l.nans.looks(i)
	switch i.Op {
	case "ld":
		if !l.loads(i) {
			l.each(i)
		}
		return
	case "st":
		if !l.stores(i) {
			l.each(i)
		}
		return
	case "atom", "red":
		l.each(i)
		return
	}
	d := even{}
	if w := flow.Written(i); len(w) > 0 {
		for _, name := range w {
			if e := l.evens[name]; !e.same() {
				d = e
			}
		}
	}
	if !d.mixed {
		if by, signed, ok := l.widens(i); ok && k >= 0 {
			how := map[bool]string{true: "int", false: "gocuda_u32"}[signed]
			l.part(i, k, at, fmt.Sprintf("gocuda::wraps((%s)(%s), %d)", how, l.read(i.Operands[1], ptx.Type(map[bool]string{true: "s32", false: "u32"}[signed])), (strip-1)*by))
		}
		l.guarded(i)
		return
	}
	if text, y, ok := l.expression(i); ok {
		r := l.g.Types[i.Operands[0].Text]
		if held(r) != held(y) && !(held(r) == held(unsigned(y)) && !y.Float()) {
			text = fmt.Sprintf("(gocuda::Lanes<%s>)(%s)", held(r), text)
		}
		l.emit("v%s = %s;", id(i.Operands[0].Text), text)
		return
	}
	l.each(i)
}

// expression is what an instruction computes, where the CPU's vectors do it as simply.
func (l *lanes) expression(i *ptx.Instruction) (text string, y ptx.Type, ok bool) {
	p := partsOf(i)
	if len(p.types) == 0 || i.Operands[0].Kind != ptx.Name || p.cc {
		return "", "", false
	}
	y = p.types[0]
	if _, pair := halves(y); pair || y.Bits() != 32 && y.Bits() != 64 && y != "pred" {
		return "", "", false
	}
	var args []string
	arg := func(k int, y ptx.Type) string {
		a := l.lane(i.Operands[k], y)
		args = append(args, a)
		return a
	}
	o := i.Operands
	word := ""
	if len(p.words) > 0 {
		word = p.words[0]
	}
	signed := func(a string, y ptx.Type) string {
		if y.Signed() {
			return fmt.Sprintf("((gocuda::Lanes<%s>)%s)", map[int]string{32: "int", 64: "long"}[y.Bits()], a)
		}
		return a
	}
	switch {
	case i.Op == "mov" && len(p.types) == 1 && (o[1].Kind == ptx.Name || o[1].Kind == ptx.Literal):
		text = arg(1, y)
	case i.Op == "selp":
		text = fmt.Sprintf("%s ? %s : %s", arg(3, "pred"), arg(1, y), arg(2, y))
		if y.Bits() != 32 {
			return "", "", false
		}
		if e, _ := l.of(o[3]); !e.mixed {
			text = fmt.Sprintf("%s ? %s : %s", l.read(o[3], "pred"), arg(1, y), arg(2, y))
		}
	case i.Op == "setp" && len(p.words) == 1:
		y = p.types[len(p.types)-1]
		plain := map[string]string{"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}[word]
		if plain == "" || y.Bits() != 32 || y != "f32" && y.Float() || y == "f32" && word == "ne" {
			return "", "", false
		}
		a, b := arg(1, y), arg(2, y)
		if p.ftz {
			a, b = "gocuda::flushed("+a+")", "gocuda::flushed("+b+")"
		}
		text, y = fmt.Sprintf("%s %s %s", signed(a, y), plain, signed(b, y)), "pred"
	case y == "f32":
		plain := map[string]string{"add": "%s + %s", "sub": "%s - %s", "mul": "%s * %s", "fma": "gocuda::fuse(%s, %s, %s)", "mad": "gocuda::fuse(%s, %s, %s)", "div": "%s / %s",
			"sqrt": "gocuda::root(%s)", "rcp": "1.0f / %s", "neg": "-%s", "abs": "gocuda::fabs(%s)", "ex2": "gocuda::approx_ex2(%s)"}[i.Op]
		to := ""
		if i.Op == "fma" && p.round == "rm" {
			plain = "gocuda::fused_down(%s, %s, %s)"
		} else if to = directed[p.round]; to != "" {
			plain = ""
		}
		if i.Op == "cvt" && len(p.types) == 2 && p.types[1] == "f32" && p.round == "" && p.sat && word == "" {
			plain = "%s"
		}
		if plain == "" || len(p.words) > 0 {
			return "", "", false
		}
		var list []any
		for k := range o[1:] {
			a := arg(k+1, y)
			if p.ftz {
				a = "gocuda::flushed(" + a + ")"
			}
			list = append(list, a)
		}
		text = fmt.Sprintf(plain, list...)
		if p.ftz {
			text = "gocuda::flushed(" + text + ")"
		}
		if p.sat {
			text = "gocuda::saturated(" + text + ")"
		}
		if d := o[0].Text; l.nans.seen[d] && !l.nans.results[d] || l.g.Types[d] != "f32" || i.Op == "cvt" {
			text = "gocuda::canonical(" + text + ")"
		}
	case y == "pred":
		switch i.Op {
		case "and", "or", "xor":
			text = fmt.Sprintf("%s %s %s", arg(1, y), map[string]string{"and": "&", "or": "|", "xor": "^"}[i.Op], arg(2, y))
		case "not":
			text = "~" + arg(1, y)
		}
	case y.Float() || p.sat || len(p.words) > 0 && word != "lo":
	case i.Op == "mul" && y.Bits() == 32:
		text = fmt.Sprintf("%s * %s", arg(1, y), arg(2, y))
	case i.Op == "mad" && y.Bits() == 32:
		text = fmt.Sprintf("%s * %s + %s", arg(1, y), arg(2, y), arg(3, y))
	case slices.Contains([]string{"add", "sub", "and", "or", "xor"}, i.Op):
		text = fmt.Sprintf("%s %s %s", arg(1, y), map[string]string{"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}[i.Op], arg(2, y))
	case i.Op == "not":
		text = "~" + arg(1, y)
	case i.Op == "shl" || i.Op == "shr":
		n, ok := literal(o[2])
		if !ok || n < 0 || n >= int64(y.Bits()) {
			return "", "", false
		}
		text = fmt.Sprintf("%s << %d", arg(1, y), n)
		if i.Op == "shr" {
			text = fmt.Sprintf("%s >> %d", signed(arg(1, y), y), n)
			if y.Signed() {
				text = fmt.Sprintf("(gocuda::Lanes<%s>)(%s)", held(unsigned(y)), text)
			}
		}
	case i.Op == "cvt" && len(p.types) == 2 && p.types[1].Bits() == 32 && y.Bits() == 32 && !p.types[1].Float() && p.round == "":
		text = arg(1, y)
	}
	if text == "" || slices.Contains(args, "") {
		return "", "", false
	}
	if y != "pred" && !y.Float() {
		y = unsigned(y)
	}
	return text, y, true
}

// loads writes a load whose address is the same for all lanes, or grows evenly.
func (l *lanes) loads(i *ptx.Instruction) bool {
	o := i.Operands[1]
	if v := l.variable(o.Text); v != nil && v.Space == "param" || slices.Contains(i.Mods, "param") {
		l.instruction(i)
		return true
	}
	a := l.accessOf(i)
	e := l.address(i)
	y := a.types[0]
	list := elements(i.Operands[0])
	wide := y.Bits() / 8
	if e.mixed || a.order != "" || y.Bits() < 32 || y.Bits() > 64 {
		return false
	}
	for _, d := range list {
		if r := l.g.Types[d.Text]; d.Kind != ptx.Name || r != "" && r.Bits() != y.Bits() {
			return false
		}
	}
	l.emit("{ const gocuda_u64 gocuda_a = %s;", l.pointer(o, a.space))
	l.near("load", len(list)*wide, e.by)
	h := held(y)
	for k, d := range list {
		at := fmt.Sprintf("gocuda_a + %d", k*wide)
		r := l.g.Types[d.Text]
		switch {
		case r == "":
		case l.evens[d.Text].mixed && e.same():
			l.emit("const gocuda::Lanes<%s> gocuda_v%d = gocuda::all<%[1]s>(gocuda::raw_load<%[1]s>(%[3]s));", h, k, at)
		case l.evens[d.Text].mixed:
			l.emit("const gocuda::Lanes<%s> gocuda_v%d = gocuda::load_lanes<%[1]s, %[3]d>(%[4]s);", h, k, e.by, at)
		default:
			l.emit("const %s gocuda_v%d = gocuda::raw_load<%[1]s>(%[3]s);", h, k, at)
		}
	}
	for k, d := range list {
		r := l.g.Types[d.Text]
		switch {
		case r == "":
		case !l.evens[d.Text].mixed:
			l.regions.body.write(d, y, fmt.Sprintf("gocuda_v%d", k))
		case held(r) != h:
			l.emit("v%s = (gocuda::Lanes<%s>)gocuda_v%d;", id(d.Text), held(r), k)
		default:
			l.emit("v%s = gocuda_v%d;", id(d.Text), k)
		}
	}
	l.emit("}")
	return true
}

// stores writes a store to such an address.
func (l *lanes) stores(i *ptx.Instruction) bool {
	a := l.accessOf(i)
	e := l.address(i)
	y := a.types[0]
	list := elements(i.Operands[1])
	wide := y.Bits() / 8
	if e.mixed || a.order != "" || a.tells || a.space == "param" || y.Bits() < 32 || y.Bits() > 64 {
		return false
	}
	var values []string
	for _, v := range list {
		text := l.lane(v, y)
		if text == "" {
			return false
		}
		values = append(values, text)
	}
	h := held(y)
	if !y.Float() {
		h = held(unsigned(y))
	}
	l.emit("{ const gocuda_u64 gocuda_a = %s;", l.pointer(i.Operands[0], a.space))
	l.near("store", len(list)*wide, e.by)
	for k, v := range values {
		if e.same() { // the last lane's stays
			l.emit("gocuda::raw_store<%s>(gocuda_a + %d, (%s)[%d]);", h, k*wide, v, strip-1)
		} else {
			l.emit("gocuda::store_lanes<%s, %d>(gocuda_a + %d, %s);", h, e.by, k*wide, v)
		}
	}
	l.emit("}")
	return true
}

// near checks an access of so many bytes at gocuda_a, and those of the other lanes.
func (l *lanes) near(kind string, bytes int, by int64) {
	for at := 0; at < bytes; at += 16 {
		l.emit("GOCUDA_NEAR(%s, %d, %d, gocuda_a + %d);", kind, min(16, bytes-at), by, at)
	}
}

// each writes an instruction in a loop over the lanes.
func (l *lanes) each(i *ptx.Instruction) {
	told := false
	switch i.Op {
	case "ld", "st", "atom", "red", "div", "rem":
		told = true
	}
	l.emit("{")
	var own, results []string
	for _, m := range append(flow.Read(i), flow.Written(i)...) {
		if l.g.Types[m] != "" && !l.evens[m].same() && !slices.Contains(own, m) {
			own = append(own, m)
		}
	}
	for _, m := range flow.Written(i) {
		if l.evens[m].mixed && !slices.Contains(results, m) {
			results = append(results, m)
		}
	}
	for _, m := range own {
		h := held(l.g.Types[m])
		if l.evens[m].mixed {
			l.emit("%s t%s[%d]; gocuda::apart(t%[2]s, v%[2]s);", h, id(m), strip)
		} else {
			l.emit("const %s t%s = %[2]s;", h, id(m))
		}
	}
	l.emit("for (gocuda_u32 go_l = 0; go_l < %d; go_l++) {", strip)
	if told {
		l.emit("GOCUDA_LANE(go_t + go_l);")
	}
	for _, m := range own {
		h := held(l.g.Types[m])
		if l.evens[m].mixed {
			l.emit("%s %s = gocuda::kept(t%[2]s + go_l);", h, id(m))
		} else {
			l.emit("const %s %s = (%[1]s)(t%[2]s + (%[1]s)(%[3]dl * go_l));", h, id(m), l.evens[m].by)
		}
	}
	l.guarded(i)
	for _, m := range results {
		l.emit("gocuda::keep(t%s + go_l, %[1]s);", id(m))
	}
	l.emit("}")
	if told {
		l.emit("GOCUDA_LANE(go_t);")
	}
	for _, m := range results {
		l.emit("gocuda::together(v%s, t%[1]s);", id(m))
	}
	l.emit("}")
}

// begin writes the loop's head.
func (l *lanes) begin() {
	wide := []string{"true"}
	if l.parts {
		wide = append(wide, "go_live == go_n")
	}
	if l.tells("%laneid") {
		wide = append(wide, fmt.Sprintf("go_dim_x %% %d == 0", strip))
	}
	l.emit("bool go_wide = %s; gocuda_u32 go_parted = 0, go_apart = 0; (void)go_parted;", strings.Join(wide, " && "))
	for _, reg := range l.saved {
		if h := held(l.g.Types[reg]); l.evens[reg].same() {
			l.emit("%s a%s = 0;", h, id(reg))
		} else {
			l.emit("%s a%s[%d];", h, id(reg), strip)
		}
	}
	l.emit("GOCUDA_STRIPS {")
}

// enter writes the label of a place where single threads may begin.
func (l *lanes) enter(k, at int) {
	if n := slices.Index(l.leaving, place{k, at}); n >= 0 {
		l.emit("E%d_%d:;", l.n, n+1)
	}
}
