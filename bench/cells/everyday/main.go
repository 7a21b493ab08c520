// Command everyday times programs as people write them: a bytecode machine, a Lisp, a JSON
// parser, a physics loop. It runs in cells, too:
//
//	go run ./bench/cells/everyday
//	gocuda-kernel exec bench/cells/everyday/main.go
package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A bytecode machine with one strings.Builder in its struct.
type Op byte

const (
	Push Op = iota
	OpAdd
	Sub
	Mul
	Dup
	Swap
	Jnz
	Load
	Store
	Print
	Less
	Halt
)

type Instr struct {
	Op  Op
	Arg int
}

type VM struct {
	code  []Instr
	stack []int
	vars  [16]int
	pc    int
	steps int
	out   strings.Builder
}

func (vm *VM) push(x int) { vm.stack = append(vm.stack, x) }

func (vm *VM) pop() int {
	x := vm.stack[len(vm.stack)-1]
	vm.stack = vm.stack[:len(vm.stack)-1]
	return x
}

func (vm *VM) Run() {
	for {
		in := vm.code[vm.pc]
		vm.pc++
		vm.steps++
		switch in.Op {
		case Push:
			vm.push(in.Arg)
		case OpAdd:
			b, a := vm.pop(), vm.pop()
			vm.push(a + b)
		case Sub:
			b, a := vm.pop(), vm.pop()
			vm.push(a - b)
		case Mul:
			b, a := vm.pop(), vm.pop()
			vm.push(a * b % 1000003)
		case Less:
			b, a := vm.pop(), vm.pop()
			if a < b {
				vm.push(1)
			} else {
				vm.push(0)
			}
		case Dup:
			vm.push(vm.stack[len(vm.stack)-1])
		case Load:
			vm.push(vm.vars[in.Arg])
		case Store:
			vm.vars[in.Arg] = vm.pop()
		case Jnz:
			if vm.pop() != 0 {
				vm.pc = in.Arg
			}
		case Print:
			fmt.Fprintf(&vm.out, "%d\n", vm.pop())
		case Halt:
			return
		}
	}
}

// Machine sums up and multiplies for n rounds.
func Machine(n int) string {
	vm := &VM{code: []Instr{
		{Push, 0}, {Store, 0}, {Push, 1}, {Store, 1},
		{Load, 0}, {Load, 1}, {OpAdd, 0}, {Push, 7}, {Mul, 0}, {Store, 1},
		{Load, 0}, {Push, 1}, {OpAdd, 0}, {Dup, 0}, {Store, 0},
		{Push, n}, {Less, 0}, {Jnz, 4},
		{Load, 1}, {Print, 0}, {Halt, 0},
	}}
	vm.Run()
	return fmt.Sprint(vm.out.String(), vm.steps)
}

// A Lisp over an interface.
type Expr interface{ Eval(env *Env) int }

type Env struct {
	names  []string
	values []int
	funcs  map[string]*Func
}

type Func struct {
	params []string
	body   Expr
}

type Num int
type Sym struct{ name string }
type If struct{ cond, then, other Expr }
type Bin struct {
	op   byte
	x, y Expr
}
type CallExpr struct {
	name string
	args []Expr
}

func (n Num) Eval(*Env) int { return int(n) }

func (s Sym) Eval(env *Env) int {
	for i := len(env.names) - 1; i >= 0; i-- {
		if env.names[i] == s.name {
			return env.values[i]
		}
	}
	return 0
}

func (e *If) Eval(env *Env) int {
	if e.cond.Eval(env) != 0 {
		return e.then.Eval(env)
	}
	return e.other.Eval(env)
}

func (e *Bin) Eval(env *Env) int {
	x, y := e.x.Eval(env), e.y.Eval(env)
	switch e.op {
	case '+':
		return x + y
	case '-':
		return x - y
	case '<':
		if x < y {
			return 1
		}
		return 0
	}
	return x * y
}

func (e *CallExpr) Eval(env *Env) int {
	f := env.funcs[e.name]
	values := make([]int, len(e.args))
	for i, a := range e.args {
		values[i] = a.Eval(env)
	}
	return f.body.Eval(&Env{f.params, values, env.funcs})
}

// size counts what an expression has in it, by its types.
func size(e Expr) int {
	switch e := e.(type) {
	case Num, Sym:
		return 1
	case *If:
		return 1 + size(e.cond) + size(e.then) + size(e.other)
	case *Bin:
		return 1 + size(e.x) + size(e.y)
	case *CallExpr:
		n := 1
		for _, a := range e.args {
			n += size(a)
		}
		return n
	}
	return 0
}

// Lisp evaluates fib(n), and counts the expression again and again.
func Lisp(n int) string {
	call := func(k int) Expr { return &CallExpr{"fib", []Expr{&Bin{'-', Sym{"n"}, Num(k)}}} }
	fib := &Func{[]string{"n"}, &If{&Bin{'<', Sym{"n"}, Num(2)}, Sym{"n"}, &Bin{'+', call(1), call(2)}}}
	env := &Env{funcs: map[string]*Func{"fib": fib}}
	main := Expr(&CallExpr{"fib", []Expr{Num(n)}})
	total := 0
	for i := 0; i < 10; i++ {
		total += main.Eval(env)
	}
	for i := 0; i < 20000; i++ {
		total += size(fib.body)
	}
	return fmt.Sprint(total)
}

// A JSON parser.
type Kind int

const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

type JSONNode struct {
	kind   Kind
	num    float64
	str    string
	list   []*JSONNode
	fields map[string]*JSONNode
}

type Parser struct {
	src string
	pos int
	err error
}

func (p *Parser) fail(what string) *JSONNode {
	if p.err == nil {
		p.err = fmt.Errorf("%s at %d", what, p.pos)
	}
	return &JSONNode{}
}

func (p *Parser) space() {
	for p.pos < len(p.src) && (p.src[p.pos] == ' ' || p.src[p.pos] == '\n' || p.src[p.pos] == '\t') {
		p.pos++
	}
}

func (p *Parser) text() string {
	p.pos++
	var b strings.Builder
	for p.pos < len(p.src) && p.src[p.pos] != '"' {
		if p.src[p.pos] == '\\' {
			p.pos++
			switch p.src[p.pos] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			default:
				b.WriteByte(p.src[p.pos])
			}
		} else {
			b.WriteByte(p.src[p.pos])
		}
		p.pos++
	}
	p.pos++
	return b.String()
}

func (p *Parser) number() *JSONNode {
	start := p.pos
	for p.pos < len(p.src) && strings.IndexByte("+-.eE0123456789", p.src[p.pos]) >= 0 {
		p.pos++
	}
	x, err := strconv.ParseFloat(p.src[start:p.pos], 64)
	if err != nil {
		return p.fail("bad number")
	}
	return &JSONNode{kind: Number, num: x}
}

func (p *Parser) value() *JSONNode {
	p.space()
	if p.pos >= len(p.src) {
		return p.fail("end")
	}
	switch c := p.src[p.pos]; {
	case c == '{':
		v := &JSONNode{kind: Object, fields: map[string]*JSONNode{}}
		p.pos++
		for p.space(); p.src[p.pos] != '}'; p.space() {
			key := p.text()
			p.space()
			p.pos++ // :
			v.fields[key] = p.value()
			p.space()
			if p.src[p.pos] == ',' {
				p.pos++
			}
		}
		p.pos++
		return v
	case c == '[':
		v := &JSONNode{kind: Array}
		p.pos++
		for p.space(); p.src[p.pos] != ']'; p.space() {
			v.list = append(v.list, p.value())
			p.space()
			if p.src[p.pos] == ',' {
				p.pos++
			}
		}
		p.pos++
		return v
	case c == '"':
		return &JSONNode{kind: String, str: p.text()}
	case c == 't' && strings.HasPrefix(p.src[p.pos:], "true"):
		p.pos += 4
		return &JSONNode{kind: Bool, num: 1}
	case c == 'f' && strings.HasPrefix(p.src[p.pos:], "false"):
		p.pos += 5
		return &JSONNode{kind: Bool}
	case c == 'n' && strings.HasPrefix(p.src[p.pos:], "null"):
		p.pos += 4
		return &JSONNode{}
	}
	return p.number()
}

func (v *JSONNode) sum() float64 {
	total := v.num + float64(len(v.str))
	for _, x := range v.list {
		total += x.sum()
	}
	for _, x := range v.fields {
		total += x.sum()
	}
	return total
}

// JSON parses a text of n records again and again.
func JSON(n int) string {
	var b strings.Builder
	b.WriteString("[")
	for i := range 200 {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`{"id": ` + strconv.Itoa(i) + `, "name": "item ` + strconv.Itoa(i*i) + `", "tags": ["a", "b\n", "c"], "price": ` + strconv.Itoa(i) + `.25, "ok": true, "none": null}`)
	}
	b.WriteString("]")
	src := b.String()
	total := 0.0
	for range n {
		p := &Parser{src: src}
		total += p.value().sum()
		if p.err != nil {
			return p.err.Error()
		}
	}
	return fmt.Sprint(total)
}

// A physics loop: balls in a box, with a force and a hook in fields.
type Vec struct{ X, Y float64 }

func (a Vec) Plus(b Vec) Vec      { return Vec{a.X + b.X, a.Y + b.Y} }
func (a Vec) Times(k float64) Vec { return Vec{a.X * k, a.Y * k} }
func (a Vec) Length() float64     { return math.Sqrt(a.X*a.X + a.Y*a.Y) }

type Ball struct {
	Pos, Vel Vec
	Mass, R  float64
}

type World struct {
	Balls     []Ball
	Force     func(b *Ball) Vec
	OnBounce  func(i int)
	Integrate func(b *Ball, a Vec, dt float64)
	Bounces   int
	log       []string
	note      any
}

func (w *World) Step(dt float64) {
	for i := range w.Balls {
		b := &w.Balls[i]
		a := w.Force(b).Times(1 / b.Mass)
		w.Integrate(b, a, dt)
		if b.Pos.X < b.R || b.Pos.X > 100-b.R {
			b.Vel.X = -b.Vel.X
			w.Bounces++
		}
		if b.Pos.Y < b.R {
			b.Pos.Y = b.R
			b.Vel.Y = math.Abs(b.Vel.Y) * 0.9
			w.Bounces++
			if w.OnBounce != nil {
				w.OnBounce(i)
			}
		}
	}
}

// Physics moves 50 balls n times.
func Physics(n int) string {
	w := &World{
		log: []string{"made"}, note: "50 balls",
		Force:     func(b *Ball) Vec { return Vec{-0.01 * b.Vel.X, -9.81 * b.Mass} },
		Integrate: func(b *Ball, a Vec, dt float64) { b.Vel = b.Vel.Plus(a.Times(dt)); b.Pos = b.Pos.Plus(b.Vel.Times(dt)) },
	}
	for i := range 50 {
		w.Balls = append(w.Balls, Ball{Vec{float64(i)*2 + 1, 50}, Vec{float64(i % 7), 0}, 1 + float64(i%3), 0.5})
	}
	for range n {
		w.Step(0.01)
	}
	total := 0.0
	for _, b := range w.Balls {
		total += b.Pos.Length()
	}
	return fmt.Sprintf("%.6f %d", total, w.Bounces)
}

func main() {
	for _, p := range []struct {
		name string
		f    func() string
	}{
		{"machine", func() string { return Machine(300000) }}, {"lisp", func() string { return Lisp(18) }}, {"json", func() string { return JSON(20) }}, {"physics", func() string { return Physics(10000) }},
	} {
		for range 3 {
			t := time.Now()
			s := p.f()
			fmt.Printf("%-10s %10.3f ms %q\n", p.name, float64(time.Since(t).Microseconds())/1000, s)
		}
	}
}
