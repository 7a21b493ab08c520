package emulate

import (
	"fmt"
	"go/types"
	"strings"
	"unsafe"

	"gocuda/cudaapi/gokernel/ir"
)

type act func(*frame) signal

// signal says how a statement ended: next and return, or the number of a label with
// what is to be done there.
type signal int

const (
	next signal = iota
	returned
	firstLabel
)

// A label's signals: to leave it, to begin its next iteration, to go to its place.
const (
	leave = iota
	again
	jump
	ways
)

func (c *compiler) label(l *ir.Label, way signal) signal {
	if _, ok := c.labels[l]; !ok {
		c.labels[l] = firstLabel + signal(len(c.labels))*ways
	}
	return c.labels[l] + way
}

// function readies a declared function.
func (p *Program) function(f *ir.Func) *code {
	if k := p.codes[f]; k != nil {
		return k
	}
	k := &code{outer: f.Go}
	p.codes[f] = k
	if f.Foreign {
		failed := Panic{Pos: f.Pos, Func: f.Go, Text: f.Go + " is CUDA C++, which cannot be emulated"}
		for _, v := range f.Params {
			k.params = append(k.params, place{0, k.size})
			k.size += (sizes.Sizeof(v.Type) + 7) / 8 * 8
		}
		k.body = func(fr *frame) signal { return fr.t.fail(failed) }
		return k
	}
	(&compiler{p: p, code: k, places: make(map[*ir.Var]place), labels: make(map[*ir.Label]signal)}).function(f)
	return k
}

func (c *compiler) function(f *ir.Func) {
	k := c.code
	k.fun = f
	for _, v := range f.Params {
		k.params = append(k.params, place{0, c.declare(v)})
	}
	for _, t := range f.Results {
		align := sizes.Alignof(t)
		k.ret = (k.ret + align - 1) / align * align
		k.results = append(k.results, k.ret)
		k.ret += sizes.Sizeof(t)
	}
	k.body = c.list(f.Body)
}

// list readies statements that follow each other, with the places in them to which
// a goto leads.
func (c *compiler) list(list []ir.Stmt) act {
	var acts []act
	marks := make(map[signal]int)
	for _, s := range list {
		if m, ok := s.(*ir.Mark); ok {
			marks[c.label(m.Label, jump)] = len(acts)
			continue
		}
		if a := c.stmt(s); a != nil {
			acts = append(acts, a)
		}
	}
	if len(marks) > 0 {
		return func(fr *frame) signal {
			for i := 0; i < len(acts); i++ {
				if s := acts[i](fr); s != next {
					to, ok := marks[s]
					if !ok {
						return s
					}
					fr.t.step()
					i = to - 1
				}
			}
			return next
		}
	}
	return inOrder(acts)
}

// inOrder does one thing after the other.
func inOrder(acts []act) act {
	switch len(acts) {
	case 0:
		return func(*frame) signal { return next }
	case 1:
		return acts[0]
	case 2:
		a, b := acts[0], acts[1]
		return func(fr *frame) signal {
			if s := a(fr); s != next {
				return s
			}
			return b(fr)
		}
	}
	return func(fr *frame) signal {
		for _, a := range acts {
			if s := a(fr); s != next {
				return s
			}
		}
		return next
	}
}

func (c *compiler) stmt(s ir.Stmt) act {
	switch s := s.(type) {
	case *ir.Define:
		return c.define(s)
	case *ir.Closure:
		return c.closure(s)
	case *ir.Assign:
		return c.assign(s)
	case *ir.Call:
		return c.call(s)
	case *ir.Effect:
		return c.effect(s)
	case *ir.Memory:
		return c.memory(s)
	case *ir.Printf:
		return c.printf(s)
	case *ir.If:
		cond, then, other := c.number(s.Cond), c.list(s.Then), c.list(s.Else)
		return func(fr *frame) signal {
			if cond(fr) != 0 {
				return then(fr)
			}
			return other(fr)
		}
	case *ir.Loop:
		return c.loop(s)
	case *ir.Block:
		body := c.list(s.Body)
		if s.Label == nil {
			return body
		}
		end := c.label(s.Label, leave)
		return func(fr *frame) signal {
			if s := body(fr); s != end {
				return s
			}
			return next
		}
	case *ir.Leave:
		out := c.label(s.To, leave)
		return func(*frame) signal { return out }
	case *ir.Again:
		out := c.label(s.To, again)
		return func(*frame) signal { return out }
	case *ir.Jump:
		out := c.label(s.To, jump)
		return func(*frame) signal { return out }
	case *ir.Return:
		var parts []write
		for _, v := range s.Values {
			parts = append(parts, c.value(v))
		}
		at := c.code.results
		return func(fr *frame) signal {
			for i, w := range parts {
				w(fr, unsafe.Add(fr.ret, at[i]))
			}
			return returned
		}
	case *ir.Check:
		return c.check(s)
	case *ir.Panic:
		p := Panic{Pos: s.Pos, Func: c.code.outer, Text: "panic: " + s.Text}
		return func(fr *frame) signal { return fr.t.fail(p) }
	case *ir.Step:
		return func(fr *frame) signal {
			if fr.t.run.Watch != nil {
				fr.t.come(fr, c, s)
			}
			return next
		}
	}
	return nil
}

func (c *compiler) define(s *ir.Define) act {
	if s.Var.Space == ir.Shared {
		return nil
	}
	if s.Init == nil {
		c.declare(s.Var)
		return nil
	}
	if k := kindOf(s.Var.Type); k != memory && k.bits() == 64 {
		n := c.number(s.Init)
		at := uintptr(c.declare(s.Var))
		return func(fr *frame) signal {
			*(*uint64)(unsafe.Add(fr.mem, at)) = n(fr)
			return next
		}
	}
	init := c.value(s.Init)
	at := uintptr(c.declare(s.Var))
	return func(fr *frame) signal {
		init(fr, unsafe.Add(fr.mem, at))
		return next
	}
}

func (c *compiler) assign(s *ir.Assign) act {
	to := c.touched(s.To, true)
	k := kindOf(s.To.Type())
	if k != memory {
		n := c.number(s.Value)
		switch k.bits() {
		case 64:
			return func(fr *frame) signal {
				v := n(fr)
				*(*uint64)(to(fr)) = v
				return next
			}
		case 32:
			return func(fr *frame) signal {
				v := n(fr)
				*(*uint32)(to(fr)) = uint32(v)
				return next
			}
		}
		return func(fr *frame) signal {
			v := n(fr)
			k.store(to(fr), v)
			return next
		}
	}
	v, size := c.value(s.Value), sizes.Sizeof(s.To.Type())
	if inMemory(s.Value) {
		return func(fr *frame) signal {
			v(fr, to(fr))
			return next
		}
	}
	at := uintptr(c.room(s.To.Type()))
	return func(fr *frame) signal { // the value may be made of what it replaces
		p := unsafe.Add(fr.mem, at)
		v(fr, p)
		move(to(fr), p, size)
		return next
	}
}

func (c *compiler) loop(s *ir.Loop) act {
	var cond number
	if s.Cond != nil {
		cond = c.number(s.Cond)
	}
	body, post := c.list(s.Body), c.list(s.Post)
	end, more := c.label(s.Label, leave), c.label(s.Label, again)
	return func(fr *frame) signal {
		for cond == nil || cond(fr) != 0 {
			switch s := body(fr); s {
			case next, more:
			case end:
				return next
			default:
				return s
			}
			post(fr)
			fr.t.step()
		}
		return next
	}
}

// closure readies a function literal, whose frames refer to that of the function
// around it.
func (c *compiler) closure(s *ir.Closure) act {
	k := &code{outer: c.code.outer}
	in := &compiler{p: c.p, code: k, up: c, places: make(map[*ir.Var]place), labels: c.labels, depth: c.depth + 1}
	in.function(s.Lit)
	at := c.declare(s.Var)
	return func(fr *frame) signal {
		fr.fun(at, function{k, fr})
		return next
	}
}

// fun stores a function value.
func (f *frame) fun(at int64, v function) {
	for int64(len(f.funcs)) <= at {
		f.funcs = append(f.funcs, function{})
	}
	f.funcs[at] = v
}

// funcValue is a function that a variable holds, or a declared one.
func (c *compiler) funcValue(v *ir.Var, f *ir.Func) func(*frame) function {
	if f != nil {
		k := c.p.function(f)
		return func(*frame) function { return function{code: k} }
	}
	p := c.find(v)
	return func(fr *frame) function {
		for range p.depth {
			fr = fr.up
		}
		return fr.funcs[p.at]
	}
}

func (c *compiler) call(s *ir.Call) act {
	fun := c.funcValue(s.Lit, s.Func)
	type argument struct {
		value write
		fun   func(*frame) function
	}
	args := make([]argument, len(s.Args))
	for i, a := range s.Args {
		if ref, ok := a.(*ir.FuncRef); ok {
			args[i].fun = c.funcValue(ref.Lit, ref.Func)
		} else {
			args[i].value = c.value(a)
		}
	}
	var results []types.Type
	for _, v := range s.Dst {
		if v != nil {
			results = append(results, v.Type)
		} else {
			results = append(results, types.Typ[types.Int]) // nobody looks at it
		}
	}
	if s.Func != nil {
		results = s.Func.Results
	}
	var size int64
	var from []int64
	for _, t := range results {
		align := sizes.Alignof(t)
		size = (size + align - 1) / align * align
		from = append(from, size)
		size += sizes.Sizeof(t)
	}
	ret := uintptr(c.roomOf(max(size, 8), 8))
	type copied struct {
		to   locate
		from int64
		size int64
	}
	var copies []copied
	for i, v := range s.Dst {
		if v != nil {
			copies = append(copies, copied{c.variable(v), from[i], sizes.Sizeof(v.Type)})
		}
	}
	return func(fr *frame) signal {
		f := fun(fr)
		in := fr.t.push(f)
		for i, a := range args {
			if a.fun != nil {
				in.fun(f.code.params[i].at, a.fun(fr))
			} else {
				a.value(fr, unsafe.Add(in.mem, f.code.params[i].at))
			}
		}
		in.ret = unsafe.Add(fr.mem, ret)
		f.code.body(in)
		fr.t.depth--
		for _, r := range copies {
			move(r.to(fr), unsafe.Add(fr.mem, ret+uintptr(r.from)), r.size)
		}
		return next
	}
}

// push makes the frame of a call.
func (t *thread) push(f function) *frame {
	if t.depth == len(t.frames) {
		t.frames = append(t.frames, &frame{t: t})
	}
	in := t.frames[t.depth]
	t.depth++
	in.t, in.up, in.call = t, f.up, nil
	in.room(int(f.code.size))
	return in
}

// fail ends the thread.
func (t *thread) fail(p Panic) signal {
	p.Block, p.Thread = t.block.index, t.index
	t.panics(p.Text)
	panic(&p)
}

// check readies a check, after which the thread is known to be at its place.
func (c *compiler) check(s *ir.Check) act {
	test := c.test(s)
	return func(fr *frame) signal {
		fr.t.at = s.Pos
		if r := test(fr); r != next || !s.Fails {
			return r
		}
		return fr.t.fail(Panic{Pos: s.Pos, Func: c.code.outer, Text: "a check holds, although it was proved that it does not"})
	}
}

func (c *compiler) test(s *ir.Check) act {
	var args []number
	for _, a := range s.Args {
		args = append(args, c.number(a))
	}
	p := Panic{Pos: s.Pos, Func: c.code.outer}
	say := func(fr *frame, format string, list ...any) signal {
		q := p
		if q.Text = fmt.Sprintf(format, list...); s.Holds {
			q.Text += ", although it was proved that it is not"
		}
		return fr.t.fail(q)
	}
	switch s.Kind {
	case ir.InRange:
		i, n := args[0], args[1]
		signed := kindOf(s.Args[0].Type()).signed()
		return func(fr *frame) signal {
			if x, most := i(fr), n(fr); x >= most {
				if signed {
					return say(fr, "index out of range [%d] with length %d", int64(x), most)
				}
				return say(fr, "index out of range [%d] with length %d", x, most)
			}
			return next
		}
	case ir.SliceOK:
		return func(fr *frame) signal {
			lo, hi, limit, most := args[0](fr), args[1](fr), args[2](fr), args[3](fr)
			if limit > most || hi > limit || lo > hi {
				return say(fr, "slice bounds out of range [%d:%d:%d] with capacity %d", int64(lo), int64(hi), int64(limit), most)
			}
			return next
		}
	case ir.NonZero:
		return func(fr *frame) signal {
			if args[0](fr) == 0 {
				return say(fr, "integer divide by zero")
			}
			return next
		}
	case ir.NonNil:
		return func(fr *frame) signal {
			if args[0](fr) == 0 {
				return say(fr, "nil pointer dereference")
			}
			return next
		}
	case ir.NonMinus:
		return func(fr *frame) signal {
			if n := int64(args[0](fr)); n < 0 {
				return say(fr, "negative shift amount %d", n)
			}
			return next
		}
	}
	return func(fr *frame) signal { // ir.Fits
		if have, want := args[0](fr), args[1](fr); have < want {
			return say(fr, "cannot convert slice with length %d to array or pointer to array with length %d", have, want)
		}
		return next
	}
}

func (c *compiler) printf(s *ir.Printf) act {
	var args []func(*frame) any
	for _, a := range s.Args {
		if p, ok := a.(*ir.Pure); ok && p.Name == "bool_text" {
			n := c.number(p.Args[0])
			args = append(args, func(fr *frame) any { return fmt.Sprint(n(fr) != 0) })
			continue
		}
		k, n := kindOf(a.Type()), c.number(a)
		switch {
		case k.float():
			args = append(args, func(fr *frame) any { return k.real(n(fr)) })
		case k.signed():
			args = append(args, func(fr *frame) any { return int64(n(fr)) })
		default:
			args = append(args, func(fr *frame) any { return n(fr) })
		}
	}
	format := goFormat(s.Format)
	return func(fr *frame) signal {
		list := make([]any, len(args))
		for i, a := range args {
			list[i] = a(fr)
		}
		fmt.Fprintf(fr.t.run.Out, format, list...)
		return next
	}
}

// goFormat is C's format of numbers as package fmt has it.
func goFormat(format string) string {
	var out strings.Builder
	for i := 0; i < len(format); i++ {
		out.WriteByte(format[i])
		if format[i] != '%' {
			continue
		}
		start := i + 1
		for i++; strings.IndexByte("+-# 0123456789.", format[i]) >= 0; i++ {
		}
		flags, verb := format[start:i], strings.TrimPrefix(format[i:], "ll")
		i += len(format[i:]) - len(verb)
		out.WriteString(flags)
		switch verb[0] {
		case 'u':
			out.WriteByte('d')
			continue
		case 'g', 'G':
			if !strings.Contains(flags, ".") {
				out.WriteString(".6")
			}
		}
		out.WriteByte(verb[0])
	}
	return out.String()
}
