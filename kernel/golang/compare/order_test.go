package main

import (
	"os/exec"
	"testing"

	"gocuda/kernel/golang"
)

// The order in which statements evaluate what calls in them change is the compiler's.
func TestOrderIsAsCompiled(t *testing.T) {
	if err := newOrderSearch(t).statements(t.Context(), "testdata/order.txt"); err != nil {
		t.Fatal(err)
	}
}

// Telling what is touched changes no order.
func TestOrderIsAsCompiledWhileChecked(t *testing.T) {
	t.Setenv(golang.CompileVariable, "0")
	s := newOrderSearch(t)
	command := s.pool.command
	s.pool.command = func() *exec.Cmd {
		cmd := command()
		cmd.Env = append(cmd.Env, workerVariable+"=checked")
		return cmd
	}
	if err := s.statements(t.Context(), "testdata/checked.txt"); err != nil {
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
