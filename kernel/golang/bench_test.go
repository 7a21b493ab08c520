package golang

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/traefik/yaegi/interp"
	"github.com/traefik/yaegi/stdlib"
)

// cellOf is a cell of about n lines.
func cellOf(n int) string {
	var b strings.Builder
	for i := range n / 10 {
		fmt.Fprintf(&b, `func work%d(xs []int) (sum int) {
	for i, x := range xs {
		if x > i {
			sum += x * %d
		} else {
			sum -= i
		}
	}
	return sum
}
`, i, i)
	}
	b.WriteString("work0([]int{1, 2, 3})")
	return b.String()
}

func benchCells(b *testing.B, code string) {
	b.Run("front", func(b *testing.B) {
		ev, _ := New(Options{Stdout: io.Discard, Stderr: io.Discard})
		for b.Loop() {
			ev.front("In[1]", code)
		}
	})
	b.Run("cell", func(b *testing.B) {
		ev, _ := New(Options{Stdout: io.Discard, Stderr: io.Discard})
		for b.Loop() {
			if res := ev.Eval("In[1]", code, false); res.Err != nil {
				b.Fatal(res.Err)
			}
		}
	})
	b.Run("yaegi", func(b *testing.B) {
		in := interp.New(interp.Options{})
		in.Use(stdlib.Symbols)
		decls, expr := "", code
		if i := strings.LastIndexByte(code, '\n'); i > 0 {
			decls, expr = code[:i], code[i+1:]
		}
		for b.Loop() {
			if decls != "" {
				if _, err := in.Eval(decls); err != nil {
					b.Fatal(err)
				}
			}
			if _, err := in.Eval(expr); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkTrivial(b *testing.B)  { benchCells(b, "1+1") }
func BenchmarkPrint(b *testing.B)    { benchCells(b, `fmt.Println("hi")`) }
func BenchmarkLines100(b *testing.B) { benchCells(b, cellOf(100)) }
func BenchmarkLines1000(b *testing.B) {
	benchCells(b, cellOf(1000))
}
