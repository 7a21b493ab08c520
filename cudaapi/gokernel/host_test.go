package gokernel

import (
	"slices"
	"testing"
)

// What is refused of a program is left out with those that call it, and the others are
// compiled, whether it shows while they are lowered or in a pass.
func TestRefusedAlone(t *testing.T) {
	p, _ := compiledForHost("x.go", `package main

type node struct{ next *node }

var last *node

func half(n int) int { return n / 2 }
func bad(n int) int { c := make(chan int); return half(n) + len(c) }
func callsBad(n int) int { return half(n) + bad(n) }
func good(n int) int { return half(n) + even(n) }
func even(n int) int { if n == 0 { return 1 }; return odd(n - 1) }
func odd(n int) int { if n == 0 { return 0 }; return even(n - 1) }
func callsItself(n int) int { if n == 0 { return bad(n) }; return other(n) }
func other(n int) int { return callsItself(n - 1) }
func large(n int) int { var x [1 << 20]int; return x[n] }
func callsLarge(n int) int { return large(n) }
func stores(n *node) { last = n }
`)
	var compiled []string
	for _, e := range p.Entries {
		if e.Refused == nil {
			compiled = append(compiled, e.Func.Name())
		}
	}
	if want := []string{"half", "good", "even", "odd", "stores"}; !slices.Equal(compiled, want) {
		t.Errorf("%v is compiled, not %v: %v", compiled, want, p.Refused())
	}
	for _, f := range p.Funcs {
		if !slices.Contains(compiled, f.Name()) {
			t.Errorf("%s is part of the code", f.Name())
		}
	}
}
