package golang

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"gocuda/kernel/golang/host"
)

// Tally and Step stand for a compiled package whose functions cells call often.
type Tally struct{ Sum int }

type Step struct{ By, Times int }

func (t *Tally) Add(s Step, other *Tally, n int, more ...any) error {
	if s.By < 0 {
		return errors.New("negative")
	}
	t.Sum += s.By*s.Times + n
	if other != nil {
		other.Sum++
	}
	for _, m := range more {
		switch m := m.(type) {
		case int:
			t.Sum += m
		case *Tally:
			t.Sum += m.Sum
		default:
			return fmt.Errorf("%T", m)
		}
	}
	return nil
}

func (t *Tally) Half() (int, error) {
	if t.Sum%2 != 0 {
		return t.Sum / 2, errors.New("odd")
	}
	return t.Sum / 2, nil
}

func (t *Tally) Split(into *Tally, n int) (*Tally, bool) {
	into.Sum, t.Sum = into.Sum+n, t.Sum-n
	return into, t.Sum > 0
}

// Await has code of a cell run before it comes back.
func (t *Tally) Await() error {
	if awaited != nil {
		awaited()
	}
	return nil
}

func (t *Tally) OnAwait(f func()) { awaited = f }

var awaited func()

func (t *Tally) Self() *Tally { return t }

func (t *Tally) Plus(n int) (int, error) { return t.Sum + n, nil }

func (s Step) Twice() Step { return Step{2 * s.By, s.Times} }

func NewStep(by int, times ...int) Step {
	s := Step{by, 1}
	for _, n := range times {
		s.Times *= n
	}
	return s
}

// TestDirectCalls compares calls without reflection with those by it.
func TestDirectCalls(t *testing.T) {
	const path = "gocuda/kernel/golang" // where reflect finds the types
	direct := 0
	pkg := func(with bool) host.Package {
		p := host.Package{Path: path, Name: "golang", Preloaded: true, Symbols: map[string]reflect.Value{
			"Tally": reflect.ValueOf((*Tally)(nil)), "Step": reflect.ValueOf((*Step)(nil)), "NewStep": reflect.ValueOf(NewStep),
		}}
		if with {
			p.Direct = []host.Direct{
				host.Direct5("Tally.Add", func(t *Tally, s Step, other *Tally, n int, more []any) error {
					direct++
					return t.Add(s, other, n, more...)
				}),
				host.Direct1R2("Tally.Half", func(t *Tally) (int, error) { direct++; return t.Half() }),
				host.Direct3R2("Tally.Split", func(t, into *Tally, n int) (*Tally, bool) { direct++; return t.Split(into, n) }),
				host.Direct1("Tally.Await", func(t *Tally) error { direct++; return t.Await() }).Waits(),
				host.Direct1("Tally.Self", func(t *Tally) *Tally { direct++; return t.Self() }),
				host.Direct1("Step.Twice", func(s Step) Step { direct++; return s.Twice() }),
				host.Direct2("NewStep", func(by int, times []int) Step { direct++; return NewStep(by, times...) }).Pure(),
			}
		}
		return p
	}
	session := func(p host.Package) *session {
		out := new(bytes.Buffer)
		ev, err := New(Options{Stdout: out, Stderr: out, Packages: []host.Package{p}})
		if err != nil {
			t.Fatal(err)
		}
		return &session{t: t, ev: ev, out: out}
	}
	with, without := session(pkg(true)), session(pkg(false))
	for _, c := range []struct {
		code   string
		direct int
	}{
		{"a, b := &golang.Tally{}, &golang.Tally{}", 0},
		{"a.Add(golang.Step{2, 3}, b, 0)\na.Sum, b.Sum", 1},
		{"s := golang.NewStep(5)\ns, golang.NewStep(-1, 2, 3), golang.NewStep(1, []int{4, 5}...), s.Twice().Twice()", 5},
		{"a.Add(s, nil, 0, 1, b, -3)\na.Sum", 1},
		{"list := []any{1, 2, b}\na.Add(s, nil, 0, list...)\na.Sum", 1},
		{"a.Add(golang.NewStep(-1), b, 0)", 2},
		{"err := a.Add(golang.NewStep(-1), b, 0, 7)\nerr", 2},
		{"a.Add(s, b, 0, \"text\")", 1},
		{"type mine struct{ N int }\na.Add(s, b, 0, mine{3})", 1},
		{"func add(t *golang.Tally, n int) error { return t.Add(golang.NewStep(n, n), nil, 0, n) }\nadd(a, 3), add(a, -3), a.Sum", 4},
		{"for i := range 5 { if err := a.Add(golang.Step{i, i}, b, 0); err != nil { panic(err) } }\na.Sum, b.Sum", 5},
		{"var kept []error\nfor i := range 3 { err := a.Add(golang.Step{i - 1, 1}, nil, 0); kept = append(kept, err) }\nfmt.Println(kept)", 3},
		{"func both(n int) (e1, e2 error) { e1 = a.Add(golang.Step{n, 1}, nil, 0); e2 = a.Add(golang.Step{-n, 1}, nil, 0); return }\nboth(1)", 2},
		{"fs := []func() error{}\nfor i := range 3 { fs = append(fs, func() error { return a.Add(golang.Step{-i, 1}, nil, 0) }) }\nfor _, f := range fs { fmt.Println(f()) }", 3},
		{"var none *golang.Tally\nfunc() (e error) { defer func() { e = fmt.Errorf(\"%v\", recover()) }(); return none.Add(s, nil, 0) }()", 1},
		{"none.Add(s, nil, 0)", 1},
		{"done := make(chan error)\ngo func() { done <- a.Add(s, nil, 0, 2) }()\ne := <-done\ne, a.Sum", 1},
		{"func later() { defer a.Add(s, nil, 0, 100); a.Sum = 0 }\nlater()\na.Sum", 0}, // nor is a deferred one,
		{"f := a.Add\nf(s, nil, 1)\na.Sum", 0},                                         // a value of it is not
		{"type holder struct{ *golang.Tally }\nholder{a}.Add(s, nil, 0, 1)\na.Sum", 1},
		{"var t golang.Tally\nt.Add(s, &t, 0)\nt.Sum", 1},
		{"m := map[string]error{}\nm[\"x\"] = a.Add(golang.NewStep(-2), nil, 0)\nm", 2},
		{"n, err := b.Half()\nn, err", 1},
		{"b.Add(golang.NewStep(1), nil, 0)\nb.Half()", 3},
		{"n, err = b.Half()\n_, err2 := b.Half()\nn, err, err2", 2},
		{"func half(t *golang.Tally) (int, error) { return t.Half() }\nhalf(a)", 1},
		{"fmt.Println(a.Half())\nmust((&golang.Tally{4}).Half())", 2},
		{"if n, err := a.Half(); err == nil { fmt.Println(n) } else { fmt.Println(err) }", 1},
		{"for i := range 3 { if c, ok := a.Split(b, i); ok { fmt.Println(c.Sum, a.Sum) } }", 3},
		{"var got []int\nvar fs2 []func() int\nfor i := range 3 { n, err := a.Half(); fs2 = append(fs2, func() int { return n }); got = append(got, n); a.Sum += i; _ = err }\ngot, fs2[0]() - fs2[2]()", 3},
		{"func loop() { for range 3 { a.Half() } }\nloop()", 3},
		{"c, ok := a.Split(&golang.Tally{}, 1)\nd, ok2 := c.Split(c, 2)\nc.Sum, ok, d == c, ok2", 2},
		{"var some map[string]int = map[string]int{}\nsome[\"x\"], err = a.Half()\nsome, err", 1},
		{"must(a.Self().Plus(1)) - a.Self().Sum, fmt.Sprint(a.Self().Plus(a.Self().Sum))", 4},
		{"func plus(t *golang.Tally) int { n, err := t.Self().Plus(7); _ = err; return n }\nplus(a) - a.Sum", 1},
		{"if a.Add(s, nil, 0) == nil && a.Add(golang.NewStep(-1), nil, 0) != nil { fmt.Println(\"one\") }", 3},
		{"func fib(n int) int { if n < 2 { a.Add(golang.NewStep(1), nil, 0); return n }; return fib(n-1) + fib(n-2) }\nfib(6), a.Sum", 26},
		// In loops: arguments that stay the same, and that change in every way.
		{"p, q := a, b\nfor i := range 4 { p.Add(s, q, i); p, q = q, p }\na.Sum, b.Sum", 4},
		{"func flip() { p, q = q, p }\nfor i := range 4 { p.Add(s, nil, i); flip() }\na.Sum, b.Sum", 4},
		{"for i := range flips() { p.Add(s, nil, i) }\nfunc flips() int { flip(); return 3 }\na.Sum, b.Sum", 3},
		{"for range 2 { for range two { q.Add(s, nil, 1) }; p.Add(s, nil, 2) }\nfunc two(yield func() bool) { flip(); _ = yield() && yield() }\na.Sum, b.Sum", 6},
		{"for p = range seq { p.Add(s, nil, 1) }\nfunc seq(yield func(*golang.Tally) bool) { _ = yield(b) && yield(a) }\na.Sum, b.Sum", 2},
		{"for i := range seq { p.Add(s, i, 1); s.By++ }\na.Sum, b.Sum, s", 2},
		{"turn := make(chan int)\ngo func() { <-turn; p, q = b, a; <-turn }()\nfor i := range 4 { p.Add(s, nil, i); if i == 1 { turn <- 1; turn <- 2 } }\na.Sum, b.Sum", 4},
		{"go func() { turn <- 1; p, q = a, b; turn <- 2 }()\nfor i := range 4 { p.Add(s, nil, i); if i == 1 { <-turn; <-turn } }\na.Sum, b.Sum", 4},
		{"a.OnAwait(func() { p, q = q, p })\nfor i := range 4 { p.Add(s, nil, i); if err := a.Await(); err != nil { panic(err) } }\na.Sum, b.Sum", 8},
		{"pp := &p\nfor i := range 4 { p.Add(s, nil, i); if i == 1 { *pp = b } }\na.Sum, b.Sum", 4},
		{"func inner() (int, int) { x, y := &golang.Tally{}, &golang.Tally{}; swap := func() { x, y = y, x }; for i := range 4 { x.Add(s, y, i); if i == 2 { swap() } }; return x.Sum, y.Sum }\ninner()", 4},
		{"func captured() func() int { x := &golang.Tally{}; n := 5; return func() int { for i := range 3 { x.Add(s, nil, n, 1, n, i); n += 2 }; for range 2 { x.Add(s, x, 7) }; return x.Sum } }\ncaptured()()", 5},
		{"func rec(n int) { for i := range 2 { a.Add(golang.NewStep(n), nil, i, n, 3); if n > 0 { rec(n - 1) } } }\nrec(2)\na.Sum", 21},
		{"for i := range 2 { for j := range 3 { a.Add(s, b, j, i, 100); var k int = i + j; a.Add(s, b, 1, k); b.Add(s, nil, k) } }\na.Sum, b.Sum", 18},
		{"for i := 0; a.Add(s, nil, i, 2) == nil && i < 3; i++ { s.Times = i }\na.Sum, s", 4},
		{"for i := range 3 { if i > 0 && a.Add(s, b, 4) == nil && a.Add(golang.Step{-1, 1}, nil, 0) != nil { fmt.Println(i, a.Sum) } }", 4},
		{"args := []any{1, b}\nfor i := range 3 { a.Add(s, nil, 0, args...); args[0] = i; if i == 1 { args = args[:1] } }\na.Sum", 3},
		{"h := holder{a}\nfor i := range 3 { h.Add(s, nil, 1); if i == 0 { h.Tally = b } }\na.Sum, b.Sum", 3},
		{"u := golang.Tally{}\nfor range 3 { u.Add(s, &u, 1, 2) }\nu.Sum", 3},
		{"func() (e error) { defer func() { e = fmt.Errorf(\"%v\", recover()) }(); for range 3 { none.Add(s, nil, -1) }; return nil }()", 1},
		{"n, total := 0, 0\nagain: for range 2 { c, ok := p.Split(q, n); if ok { total += c.Sum } }\nn++\nif n < 3 { p = b; goto again }\ntotal", 6},
		{"var done []func() int\nfor i := range 3 { c, ok := a.Split(b, 1); if ok { done = append(done, func() int { return c.Sum + i }) } }\ndone[0]() - done[2]()", 3},
		{"for range 2 { a.Add(golang.NewStep(1), nil, -3, b) }\na.Sum", 3}, // NewStep once
		{"for i := range 3 { a.Add(golang.NewStep(i, 2), b, 0); a.Add(golang.NewStep(s.By, s.Times), nil, 0); s.By++ }\na.Sum, b.Sum, s", 12},
		{"for i := range 3 { for range 2 { a.Add(golang.NewStep(i, 2, 3), nil, i) }; a.Self().Add(golang.NewStep(4), nil, 1) }\na.Sum", 19},
		{"var errs []error\nfunc tries() error { for i := range 4 { if err := a.Add(golang.Step{1 - i, 1}, nil, 0, \"text\"); err != nil { errs = append(errs, err); if i == 2 { return err } } }; return nil }\ntries(), errs", 3},
		{"for i := range 3 { if err := a.Add(golang.Step{1 - i, 1}, nil, 0); err != nil { func() { err = fmt.Errorf(\"%d: %w\", i, err); errs = append(errs, err) }(); fmt.Println(err) } else { fmt.Println(i, err) } }\nerrs[3:]", 3},
		{"for i := range 3 { if err := a.Add(golang.Step{1 - i, 1}, nil, 0); err != nil { func() { err = fmt.Errorf(\"%d: %w\", i, err); errs = append(errs, err) }(); fmt.Println(err) } }\nerrs[3:]", 3},
		{"for i := range 3 { if err := a.Add(golang.Step{1 - i, 1}, nil, 0); err != nil || i == 0 { fmt.Println(i, err) } }", 3},
		{"for i := range 3 { if err := a.Add(golang.Step{1 - i, 1}, nil, 0); i != 1 { fmt.Println(i, err) } }", 3},
		{"var kept []*golang.Tally\nfor i := range 3 { c, ok := a.Split(&golang.Tally{}, i); d, ok2 := b.Split(a, i); kept = append(kept, c, d); fmt.Println(ok, ok2) }\n*kept[0], *kept[2], *kept[5]", 6},
		{"for i := range 3 { if err := a.Add(golang.Step{1 - i, 1}, nil, 0); err == nil { fmt.Println(i, err) } }", 3},
		{"for range 2 { must(a.Self().Plus(1)); fmt.Println(a.Self().Sum) }", 4},
	} {
		got, want := with.run(c.code), without.run(c.code)
		if got != want {
			t.Errorf("%s\ngave\n%s\nand with reflection\n%s", c.code, got, want)
		}
		if direct != c.direct {
			t.Errorf("%s: %d calls were direct, not %d", c.code, direct, c.direct)
		}
		direct = 0
	}
	for _, code := range []string{ // whose traces tell the line that panics
		"for i := range 3 {\n\na.Add(s, nil, 1)\nif i == 2 {\nnone.Add(s, nil, 1) }\n}",
		"for i := range 3 {\n\nif i == 1 {\nnone.Add(s, nil, i) }\na.Add(s, nil, i)\n}",
		"for i := range 3 {\n\nnone.Add(s, nil, i)\n}",
		"for range 3 {\n\na.Add(golang.NewStep(-1), nil, 1)\n}",
		"func again(n int) int {\nif n < 0 {\nreturn 0\n}\nt, by := a, s\nfor i := range 2 {\nt.Add(by, nil, 1/(1-i*n)+again(n - 1))\n}\n\nreturn a.Self().Sum\n}\nagain(1)",
	} {
		got, want := with.ev.Eval("In[0]", code, false), without.ev.Eval("In[0]", code, false)
		if got.Err == nil || want.Err == nil || !slices.Equal(got.Err.Traceback, want.Err.Traceback) {
			t.Errorf("%s\ngave %v\nand with reflection %v", code, got.Err, want.Err)
		}
	}
}
