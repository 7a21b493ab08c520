package main

import "fmt"

// What stands left of && and || is read once, before what stands right of it.

type box struct {
	ok    bool
	inner struct{ ok bool }
}

var global bool

func flip(p *bool) bool { *p = !*p; return false }

func flipGlobal() bool { global = !global; return false }

func (b *box) flip() bool { b.ok, b.inner.ok = !b.ok, !b.inner.ok; return false }

type flag bool

func parameters(ok bool, list [2]bool) {
	f := func() bool { ok, list[1] = !ok, !list[1]; return false }
	a, b := ok || f(), list[1] && !f()
	fmt.Println(a, b, ok, list)
	if ok && !f() || list[0] || f() {
		fmt.Println("parameters", ok, list)
	}
}

func named() (ok bool) {
	defer func() { fmt.Println("deferred", ok || flip(&ok), ok && !flip(&ok), ok) }()
	return ok || !flip(&ok) && ok
}

func try(f func()) {
	global = false
	defer func() { fmt.Println("", recover()) }()
	f()
	fmt.Print("after")
}

func set(n int) int { global = true; return n }

// The right side has an index, whose check needs a statement before it.
func indexed(i int) {
	list, on := []int{1, 2}, &global
	try(func() { fmt.Print(global || list[i] > 1) })
	try(func() { fmt.Print(!global && list[i] > 1) })
	try(func() { fmt.Print(!!global || list[i] > 1, *on || list[i] > 1) })
	try(func() { fmt.Print(global || len(list[i:]) > 1) })
	try(func() {
		if global || []bool{false, false}[i] {
			fmt.Print("if ")
		}
	})
	try(func() {
		for k := i; global || list[k] == 1; k++ {
			fmt.Print("for ")
		}
	})
	try(func() {
		switch {
		case global, flipGlobal() || []bool{false, global}[i]:
			fmt.Print("case ")
		}
	})
	// Calls change what stands left, before the index is checked.
	try(func() { fmt.Print(global || set(1) == list[i]) })
	try(func() { fmt.Print(global || set(1) == set(list[i])) })
	try(func() {
		switch {
		case global, set(1) == list[i]:
			fmt.Print("case ")
		}
	})
}

func main() {
	for i := range 3 {
		indexed(i)
	}

	ok := false
	f := func() bool { ok = !ok; return false }
	fmt.Println(ok || f(), ok)
	fmt.Println(ok && !f(), ok)
	fmt.Println(!ok && !f(), !ok || f(), ok)
	fmt.Println((ok) || f(), (ok) && (!f()), ok)

	b := &box{}
	fmt.Println(b.ok || b.flip(), b.ok && !b.flip(), b.inner.ok || b.flip(), b.ok)
	c := box{}
	fmt.Println(c.ok || c.flip(), c.ok && !c.flip(), c.inner.ok || c.flip(), c.ok)

	list := []bool{false, true}
	fmt.Println(list[0] || flip(&list[0]), list[0] && !flip(&list[0]), list)
	array := [2]bool{false, true}
	fmt.Println(array[0] || flip(&array[0]), array[0] && !flip(&array[0]), array)
	m := map[string]bool{}
	g := func() bool { m["a"] = !m["a"]; return false }
	fmt.Println(m["a"] || g(), m["a"] && !g(), m["a"])

	p := new(bool)
	fmt.Println(*p || flip(p), *p && !flip(p), *p)
	fmt.Println(global || flipGlobal(), global && !flipGlobal(), global)

	own := flag(false)
	h := func() flag { own = !own; return false }
	fmt.Println(own || h(), own && !h(), own)

	if ok || f() {
		fmt.Println("if", ok)
	}
	for i := 0; i < 3 && (ok || !f()); i++ {
		fmt.Println("for", i, ok)
	}
	switch {
	case ok && f():
		fmt.Println("first")
	case list[0] || flip(&list[0]):
		fmt.Println("second")
	default:
		fmt.Println("third", ok, list)
	}
	values := []bool{ok || f(), ok && !f(), b.ok || b.flip()}
	fmt.Println(values, ok, b.ok)

	channel := make(chan bool, 2)
	channel <- true
	channel <- false
	received := func() bool { ok = <-channel; return !ok }
	fmt.Println(ok || received(), ok && received(), ok)

	parameters(false, [2]bool{})
	parameters(true, [2]bool{true, true})
	fmt.Println(named())
}
