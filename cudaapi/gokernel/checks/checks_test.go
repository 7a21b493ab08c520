package checks

import (
	"strings"
	"testing"

	"gocuda/cudaapi/gokernel/ir"
)

// parse reads a function, and text is what became of it.
func parse(t *testing.T, text string) *ir.Program {
	t.Helper()
	p, _, err := ir.Parse("test", text)
	if err != nil {
		t.Fatal(err)
	}
	verified(t, p)
	return p
}

func verified(t *testing.T, p *ir.Program) {
	t.Helper()
	if err := ir.Verify(p); err != nil {
		t.Errorf("%v\n%s", err, text(p))
	}
}

func text(p *ir.Program) string {
	var b strings.Builder
	if err := ir.Fprint(&b, p, nil); err != nil {
		return err.Error()
	}
	return b.String()
}

// What a check says of a divisor holds after it alone: a division is not moved before it.
func TestDivisionStaysBehindItsCheck(t *testing.T) {
	p := parse(t, `func kernel k "k" (i int, x []int) () {
	check index(i, len(x))
	check nonzero(len(x))
	var t int = (i + 1) % len(x)
	check index(t, len(x))
	x[i] = x[t]
}
`)
	Prove(p.Funcs[0])
	if !strings.Contains(text(p), "check nonzero(len(x)) holds") {
		t.Errorf("that is to be proved:\n%s", text(p))
	}
	Coalesce(p.Funcs[0])
	verified(t, p)
}
