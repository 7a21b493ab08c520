package cpp

import (
	"fmt"
	"slices"
	"strings"

	"gocuda/cudaapi/ptx"
)

// numbered reports whether a module has barriers with a number or a count of threads. Else all are
// the block's barrier 0.
func numbered(m *ptx.Module) bool {
	found := false
	for _, d := range m.Decls {
		if f, ok := d.(*ptx.Function); ok {
			eachStatement(f.Body, func(s ptx.Statement) {
				i, ok := s.(*ptx.Instruction)
				if !ok || i.Op != "bar" && i.Op != "barrier" || slices.Contains(i.Mods, "warp") || slices.Contains(i.Mods, "cluster") {
					return
				}
				at, plain := 0, 1
				if slices.Contains(i.Mods, "red") {
					at, plain = 1, 3
				}
				found = found || len(i.Operands) != plain || i.Operands[at].Kind != ptx.Literal || i.Operands[at].Text != "0"
			})
		}
	}
	return found
}

// barrier does barriers of a warp, a block or a cluster, alone or with a vote.
func (b *body) barrier(i *ptx.Instruction, p parts) {
	o := i.Operands
	words := slices.DeleteFunc(slices.Clone(p.words), func(w string) bool { return w == "cta" || slices.Contains(orders, w) })
	word := "sync"
	if len(words) > 0 {
		word = words[0]
	}
	threads := "0"
	if b.observed && word != "warp" && word != "cluster" {
		line := 0 // of the block's own barrier, which all are to come to at one place
		if len(o) > 0 {
			if n := o[min(len(words)/2, len(o)-1)]; !b.numbered || n.Kind == ptx.Literal && n.Text == "0" && word != "arrive" {
				line = b.place
			}
		}
		b.emit("gocuda::order_at(%d, %d);", line, b.barrierNumber(i))
	}
	switch {
	case word == "warp" && len(o) == 1:
		b.tellLanes(b.read(o[0], "u32"))
		b.emit("__syncwarp(%s);", b.read(o[0], "u32"))
	case word == "cluster" && len(words) == 2 && words[1] == "arrive": // the wait does it all
	case word == "cluster" && len(words) == 2 && words[1] == "wait":
		b.emit("gocuda::arrive_cluster();")
	case (word == "sync" || word == "arrive") && len(words) <= 1 && (len(o) == 1 && word == "sync" || len(o) == 2):
		if len(o) == 2 {
			threads = b.read(o[1], "u32")
		}
		if !b.numbered {
			b.emit("__syncthreads();")
		} else {
			b.emit("gocuda::come_to(%s, %s, 0, %d);", b.read(o[0], "u32"), threads, map[string]int{"sync": 1}[word])
		}
	case word == "red" && len(words) == 2 && (len(o) == 3 || len(o) == 4) && slices.Contains([]string{"popc", "and", "or"}, words[1]):
		if len(o) == 4 {
			threads = b.read(o[2], "u32")
		}
		vote, y := b.read(o[len(o)-1], "pred"), p.types[len(p.types)-1]
		text := fmt.Sprintf("gocuda::%s_at(%s, %s, %s)", words[1], b.read(o[1], "u32"), threads, vote)
		if !b.numbered {
			text = fmt.Sprintf("__syncthreads_%s(%s)", map[string]string{"popc": "count", "and": "and", "or": "or"}[words[1]], vote)
		}
		if y == "pred" {
			text += " != 0"
		}
		b.write(o[0], y, text)
	default:
		b.unknown(i)
	}
}

// mbarrier does barriers in memory.
func (b *body) mbarrier(i *ptx.Instruction, p parts) {
	o, op := i.Operands, i.Mods[0]
	number := func(k int, otherwise string) string {
		if len(o) > k {
			return b.read(o[k], "u32")
		}
		return otherwise
	}
	if op == "pending_count" && len(o) == 2 {
		b.write(o[0], "u32", fmt.Sprintf("(gocuda_u32)(%s >> 20) & 0xfffff", b.read(o[1], "u64")))
		return
	}
	result := unused
	if len(o) > 0 && o[0].Kind != ptx.Address {
		result, o = o[0], o[1:]
	}
	if len(o) == 0 {
		b.unknown(i)
	}
	at := b.pointer(o[0], space(i))
	change := func(format string, args ...any) {
		b.tellBarrier(i, at, toldWrite|toldAtomic)
		b.write(result, "b64", fmt.Sprintf("gocuda::mbarrier_change("+at+", "+format+")", args...))
	}
	expects := slices.Contains(i.Mods[1:], "expect_tx")
	switch op {
	case "init":
		if b.observed {
			b.emit("gocuda::order_access(%s, %du, 0);", at, b.place|toldWrite|3<<toldSize)
		}
		b.emit("gocuda::mbarrier_init(%s, %s);", at, number(1, "0"))
	case "inval":
	case "expect_tx":
		change("0, 0, %s", number(1, "0"))
	case "complete_tx":
		change("0, 0, -(gocuda_u64)%s", number(1, "0"))
	case "arrive", "arrive_drop":
		n, bytes := number(1, "1"), "0"
		if expects {
			n, bytes = "1", n
		}
		dropped := "0"
		if op == "arrive_drop" {
			dropped = n
		}
		change("%s, %s, %s", n, dropped, bytes)
	case "test_wait", "try_wait":
		if len(o) < 2 {
			b.unknown(i)
		}
		phase := fmt.Sprintf("%s >> 63", b.read(o[1], "u64"))
		if slices.Contains(i.Mods, "parity") {
			phase = fmt.Sprintf("%s & 1", b.read(o[1], "u32"))
		}
		b.write(result, "pred", fmt.Sprintf("gocuda::mbarrier_over(%s, (%s) != 0, %v)", at, phase, op == "try_wait"))
		b.tellBarrier(i, at, toldPolled)
	default:
		b.unknown(i)
	}
}

// space is the one that an instruction names for its address.
func space(i *ptx.Instruction) string {
	if slices.ContainsFunc(i.Mods, func(m string) bool { return strings.HasPrefix(m, "shared") }) {
		return "shared"
	}
	return ""
}

// copy does copies that need not wait.
func (b *body) copy(i *ptx.Instruction) {
	o, mods := i.Operands, i.Mods
	if len(mods) > 4 && mods[0] == "reduce" && mods[1] == "async" && mods[2] == "bulk" && mods[3] != "tensor" {
		b.reduce(i)
		return
	}
	if len(mods) < 2 || mods[0] != "async" {
		b.unknown(i)
	}
	bulk := mods[1] == "bulk"
	kind := mods[1]
	if bulk && len(mods) > 2 {
		kind = mods[2]
	}
	many := slices.ContainsFunc(mods, func(m string) bool { return strings.HasPrefix(m, "multicast") })
	plain := !slices.ContainsFunc(mods, func(m string) bool { return m == "tensor" || m == "cp_mask" })
	switch {
	case slices.Contains([]string{"commit_group", "wait_group", "wait_all", "prefetch"}, kind):
	case kind == "mbarrier" && len(o) == 1:
		b.tellBarrier(i, b.pointer(o[0], space(i)), toldWrite|toldAtomic)
		if slices.Contains(mods, "noinc") { // else it adds one that is pending, which arrives
			b.emit("gocuda::mbarrier_change(%s, 1, 0, 0);", b.pointer(o[0], space(i)))
		}
	case bulk && plain && len(o) >= 3 && len(mods) > 3:
		to, from := b.pointer(o[0], strings.SplitN(kind, "::", 2)[0]), b.pointer(o[1], strings.SplitN(mods[3], "::", 2)[0])
		if many {
			if len(o) < 5 {
				b.unknown(i)
			}
			b.emit("gocuda::copy_to_many(%s, %s, %s, %s, %s);", to, from, b.read(o[2], "u32"), b.pointer(o[3], "shared"), b.read(o[4], "u16"))
			return
		}
		b.tellCopy(to, from, b.read(o[2], "u32"))
		b.emit("gocuda::copy_bulk(%s, %s, %s);", to, from, b.read(o[2], "u32"))
		if len(o) > 3 && o[3].Kind == ptx.Address {
			b.tellBarrier(i, b.pointer(o[3], "shared"), toldWrite|toldAtomic)
		}
		if len(o) > 3 && o[3].Kind == ptx.Address {
			b.emit("gocuda::mbarrier_change(%s, 0, 0, -(gocuda_u64)%s);", b.pointer(o[3], "shared"), b.read(o[2], "u32"))
		}
	case (kind == "ca" || kind == "cg") && len(o) >= 3 && o[2].Kind == ptx.Literal && slices.Contains([]string{"4", "8", "16"}, o[2].Text):
		to, from, n := b.pointer(o[0], "shared"), b.pointer(o[1], "global"), o[2].Text
		hint := slices.Contains(mods, "L2::cache_hint")
		b.countAt(i, from)
		b.countStored(i, to)
		if len(o) == 3 || len(o) == 4 && hint {
			v := fmt.Sprintf("gocuda::Bytes<%s, %[1]s>", n)
			b.tellCopy(to, from, n)
			b.emit("*(%s *)(%s) = *(%[1]s *)(%s);", v, to, from)
			return
		}
		part := b.read(o[3], "u32")
		if b.typeOf(o[3].Text) == "pred" || o[3].Kind == ptx.Inverted {
			part = fmt.Sprintf("(%s ? 0 : %s)", b.read(o[3], "pred"), n)
		}
		b.tellCopy(to, from, part)
		b.emit("gocuda::copy_part<%s>(%s, %s, %s);", n, to, from, part)
	default:
		b.unknown(i)
	}
}

// lanes does what the threads of a warp do together.
func (b *body) lanes(i *ptx.Instruction, p parts) {
	o := i.Operands
	word := ""
	if len(p.words) > 0 {
		word = p.words[0]
	}
	b.tellLanes(b.read(o[len(o)-1], "b32"))
	switch i.Op {
	case "shfl":
		d, ok := results(o[0])
		b.emit("{ bool gocuda_p; gocuda_u32 gocuda_v = gocuda::shfl_%s(%s, %s, %s, %s, gocuda_p);", word,
			b.read(o[1], "b32"), b.read(o[2], "b32"), b.read(o[3], "b32"), b.read(o[4], "b32"))
		b.write(d, "b32", "gocuda_v")
		if ok.Text != "_" {
			b.write(ok, "pred", "gocuda_p")
		}
		b.emit("}")
	case "vote":
		pred, mask := b.read(o[1], "pred"), b.read(o[2], "b32")
		switch word {
		case "ballot":
			b.write(o[0], "b32", fmt.Sprintf("__ballot_sync(%s, %s)", mask, pred))
		case "any", "all":
			b.write(o[0], "pred", fmt.Sprintf("__%s_sync(%s, %s) != 0", word, mask, pred))
		case "uni":
			b.write(o[0], "pred", fmt.Sprintf("gocuda::vote_uni(%s, %s)", mask, pred))
		default:
			b.unknown(i)
		}
	case "match":
		y := p.types[0]
		if word == "any" {
			b.write(o[0], "b32", fmt.Sprintf("__match_any_sync(%s, %s)", b.read(o[2], "b32"), b.read(o[1], unsigned(y))))
			return
		}
		d, ok := results(o[0])
		b.emit("{ int gocuda_p; gocuda_u32 gocuda_v = __match_all_sync(%s, %s, &gocuda_p);", b.read(o[2], "b32"), b.read(o[1], unsigned(y)))
		b.write(d, "b32", "gocuda_v")
		if ok.Text != "_" {
			b.write(ok, "pred", "gocuda_p != 0")
		}
		b.emit("}")
	case "redux":
		y := p.types[0]
		if y.Float() || y.Bits() != 32 {
			b.unknown(i)
		}
		if y == "b32" {
			y = "u32"
		}
		b.write(o[0], y, fmt.Sprintf("__reduce_%s_sync(%s, (%s)%s)", word, b.read(o[2], "b32"), value(y), b.read(o[1], y)))
	}
}

// mapped does mapa, the address of the same variable in another block of the cluster, and
// getctarank, the block of an address.
func (b *body) mapped(i *ptx.Instruction, p parts) {
	o := i.Operands
	within := space(i) == "shared"
	y := p.types[0]
	at := b.read(o[1], y)
	if within {
		at = fmt.Sprintf("((gocuda_u64)gocuda_shared + (long)(int)%s)", b.read(o[1], "u32"))
	}
	if i.Op == "getctarank" {
		b.write(o[0], "u32", fmt.Sprintf("gocuda::rank_at(%s)", at))
		return
	}
	text := fmt.Sprintf("(gocuda_u64)gocuda::cluster_shared((void *)%s, %s)", at, b.read(o[2], "u32"))
	if within {
		text = fmt.Sprintf("(%s)(%s - (gocuda_u64)gocuda_shared)", held(unsigned(y)), text)
	}
	b.write(o[0], unsigned(y), text)
}

// elect chooses the first of the lanes.
func (b *body) elect(i *ptx.Instruction) {
	d, p := results(i.Operands[0])
	b.tellLanes(b.read(i.Operands[1], "u32"))
	b.emit("{ gocuda_u32 gocuda_v = (gocuda_u32)__builtin_ctz(__ballot_sync(%s, 1));", b.read(i.Operands[1], "u32"))
	b.write(d, "b32", "gocuda_v")
	b.write(p, "pred", "gocuda_v == gocuda::lane()")
	b.emit("}")
}

// table does a branch by an index.
func (b *body) table(i *ptx.Instruction) {
	for k := len(b.targets) - 1; k >= 0; k-- {
		if list := b.targets[k][i.Operands[1].Text]; list != nil {
			b.emit("switch (%s) {", b.read(i.Operands[0], "u32"))
			for n, l := range list {
				b.emit("case %d: goto %s;", n, b.label(l))
			}
			b.emit("default: __builtin_unreachable(); }")
			return
		}
	}
	b.unknown(i)
}

// generic makes generic addresses of others, and back. They differ for shared memory alone.
func (b *body) generic(i *ptx.Instruction, p parts) {
	y := ptx.Type("u64")
	words := p.words
	back := len(words) > 0 && words[0] == "to"
	if back {
		words = words[1:]
	}
	if len(p.types) != 1 || p.types[0] != y || len(words) != 1 {
		b.unknown(i)
	}
	v := b.read(i.Operands[1], y)
	switch words[0] {
	case "global", "local", "const", "param":
	case "shared", "shared::cta", "shared::cluster":
		if back {
			v = fmt.Sprintf("%s - (gocuda_u64)gocuda_shared", v)
		} else {
			v = fmt.Sprintf("(gocuda_u64)gocuda_shared + (gocuda_u32)%s", v)
		}
	default:
		b.unknown(i)
	}
	b.write(i.Operands[0], y, v)
}

// isspacep says whether an address is of a state space.
func (b *body) isspacep(i *ptx.Instruction, p parts) {
	if len(p.words) != 1 {
		b.unknown(i)
	}
	at := b.read(i.Operands[1], "u64")
	shared := fmt.Sprintf("gocuda::in_shared(%s)", at)
	local := fmt.Sprintf("gocuda::in_local(%s)", at)
	switch p.words[0] {
	case "shared", "shared::cta":
		b.write(i.Operands[0], "pred", shared)
	case "shared::cluster":
		b.write(i.Operands[0], "pred", fmt.Sprintf("gocuda::in_cluster(%s)", at))
	case "local":
		b.write(i.Operands[0], "pred", local)
	case "global":
		b.write(i.Operands[0], "pred", "!"+shared+" && !"+local)
	default:
		b.unknown(i)
	}
}
