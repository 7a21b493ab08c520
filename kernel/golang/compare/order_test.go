package main

import (
	"testing"
)

// The order in which statements evaluate what calls in them change is the compiler's.
func TestOrderIsAsCompiled(t *testing.T) {
	if err := newOrderSearch(t).statements(t.Context(), "testdata/order.txt"); err != nil {
		t.Fatal(err)
	}
}

func TestRandomOrderIsAsCompiled(t *testing.T) {
	s := newOrderSearch(t)
	if err := s.orders(t.Context(), seed(t), 1, 100); err != nil {
		t.Fatal(err)
	}
	if s.functions < 50 {
		t.Errorf("only %d statements", s.functions)
	}
}

func newOrderSearch(t *testing.T) *search {
	s := newSearch(t)
	s.report = func(d difference) { t.Errorf("%s\n%s", d, d.program.decls) }
	return s
}
