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

const head = "func kernel k \"k\" (i int, n int, x []int, p *int) () {\n"

// unproved are the checks of a function that were not proved.
func unproved(f *ir.Func) (n int) {
	ir.WalkAll(f.Body, func(s ir.Stmt) {
		if c, ok := s.(*ir.Check); ok && !c.Holds {
			n++
		}
	})
	return n
}

// How many checks of some statements stay.
func TestProve(t *testing.T) {
	for body, want := range map[string]int{
		"check index(i, len(x))":                                                     1,
		"check index(i, len(x))\ncheck index(i, len(x))":                             1,
		"check index(i, len(x))\ni = i + 1\ncheck index(i, len(x))":                  2,
		"check index(i + 1, len(x))\ncheck index(i, len(x))":                         2,
		"if (i >= 0) && (i < len(x)) {\ncheck index(i, len(x))\n}":                   0,
		"if i < len(x) {\ncheck index(i, len(x))\n}":                                 1,
		"if i < 0 {\nreturn\n}\nif i >= len(x) {\nreturn\n}\ncheck index(i, len(x))": 0,
		"var j int = i & 7\ncheck index(j, 8)\ncheck index(j, 7)":                    1,
		"check nonzero(n)\ncheck nonzero(n)":                                         1,
		"if n > 0 {\ncheck nonzero(n)\ncheck index((i * i) % n, n)\n}":               1,
		"check nonnil(p)\n*p = 3\ncheck nonnil(p)":                                   1,
		"check nonnil(&i)":                                                                             0,
		"check nonminus(n)\ncheck nonminus(n)":                                                         1,
		"check index(i, len(x))\ncheck nonzero(len(x))":                                                1,
		"check slice(0, n, n, cap(x))\ncheck nonminus(n)":                                              1,
		"for l i < n {\ncheck index(i, n)\n} post {\ni = i + 1\n}":                                     1,
		"var j int = 0\nfor l j < len(x) {\ncheck index(j, len(x))\n} post {\nj = j + 1\n}":            0,
		"var j int = 0\nfor l j < len(x) {\ncheck index(j, len(x))\nj = j - 2\n} post {\nj = j + 1\n}": 1,
		"var j int = len(x) - 1\nfor l j >= 0 {\ncheck index(j, len(x))\n} post {\nj = j - 1\n}":       1, // at a loop's head numbers have bounds, and no relation
		"check index(@threadIdx.x, 1024)\ncheck index(@threadIdx.x, 1023)":                             1,
		"goto l\nlabel l\ncheck index(1, 2)":                                                           1, // of functions with a goto nothing is known
		"lit f \"f\" () () {\nn = 0\n}\ncheck nonzero(n)\ncall lit f()\ncheck nonzero(n)":              2,
		"var q **int = &p\ncheck nonnil(p)\ncheck nonnil(q)\n*q = zero(*int)\ncheck nonnil(p)":         2,
	} {
		p := parse(t, head+body+"\n}\n")
		Prove(p.Funcs[0])
		verified(t, p)
		if got := unproved(p.Funcs[0]); got != want {
			t.Errorf("%d checks stay, want %d, of\n%s", got, want, text(p))
		}
	}
}

// Which loops get a version without checks, and which are short where loops are asked whether
// they are interrupted.
func TestVersion(t *testing.T) {
	const body = "var s int = 0\nfor l i < n {\ncheck index(i, len(x))\ns = s + x[i]\n} post {\ni = i + 1\n}"
	for _, c := range []struct {
		body               string
		times              int64
		loops, slow, short int
	}{
		{body, 0, 2, 1, 0},
		{body, 1000, 2, 1, 1},
		{strings.Replace(body, "check index(i, len(x))\ns = s + x[i]", "s = s + i", 1), 0, 1, 0, 0},
		{strings.Replace(body, "check index(i, len(x))\ns = s + x[i]", "s = s + i", 1), 1000, 2, 1, 1},
		{strings.Replace(body, "s = s +", "n = n - 1\ns = s +", 1), 0, 1, 0, 0},
		{strings.Replace(body, "s = s +", "do sync_threads()\ns = s +", 1), 0, 1, 0, 0},
		{strings.Replace(body, "s = s +", "do fence.seq_cst.device()\ns = s +", 1), 0, 1, 0, 0},
		{strings.Replace(body, "s = s +", "do add.relaxed.device(&x[i], 1)\ns = s +", 1), 0, 2, 1, 0},
		{strings.Replace(body, "i < n", "i != n", 1), 0, 1, 0, 0},
		{strings.Replace(body, "i + 1", "i * 2", 1), 0, 1, 0, 0},
	} {
		p := parse(t, head+c.body+"\n}\n")
		Version(p.Funcs[0], c.times)
		verified(t, p)
		loops, slow, short := 0, 0, 0
		ir.Walk(p.Funcs[0].Body, func(s ir.Stmt) {
			if l, ok := s.(*ir.Loop); ok {
				loops++
				if l.Slow {
					slow++
				}
				if l.Short {
					short++
				}
			}
		})
		if loops != c.loops || slow != c.slow || short != c.short {
			t.Errorf("%d loops, %d slow, %d short; want %d, %d, %d of\n%s", loops, slow, short, c.loops, c.slow, c.short, text(p))
		}
	}
}

// How many conditions there are of checks in a row, and how many comparisons in them.
func TestCoalesce(t *testing.T) {
	for body, want := range map[string][2]int{
		"check index(i, len(x))":                                                         {0, 0},
		"check index(i, len(x))\ncheck index(n, len(x))":                                 {1, 2},
		"check index(i - 1, len(x))\ncheck index(i + 1, len(x))\ncheck index(i, len(x))": {1, 2},
		"check nonnil(p)\ncheck index(i, len(x))":                                        {1, 2},
		"check index(i, len(x))\ndo sync_threads()\ncheck index(n, len(x))":              {0, 0},
		"check index(i, len(x))\ni = n\ncheck index(i, len(x))":                          {0, 0},
	} {
		p := parse(t, head+body+"\n}\n")
		Coalesce(p.Funcs[0])
		verified(t, p)
		conditions, comparisons := 0, 0
		ir.Walk(p.Funcs[0].Body, func(s ir.Stmt) {
			if c, ok := s.(*ir.If); ok {
				conditions++
				ir.Parts(c.Cond, func(e ir.Expr) {
					if b, ok := e.(*ir.Binary); ok && ir.IsBool(b.T) && !ir.IsBool(b.X.Type()) {
						comparisons++
					}
				})
			}
		})
		if got := [2]int{conditions, comparisons}; got != want {
			t.Errorf("%d conditions and comparisons, want %d, of\n%s", got, want, text(p))
		}
	}
}

// Bounds stay at the ends of int64 where a number is passed.
func TestBounds(t *testing.T) {
	const most, least = 1<<63 - 1, -1 << 63
	for _, c := range []struct{ got, want bounds }{
		{bounds{1, 2}.add(bounds{3, 4}), bounds{4, 6}},
		{bounds{1, most - 1}.add(bounds{3, 4}), bounds{4, most}},
		{bounds{-2, 3}.mul(bounds{-5, 7}), bounds{-15, 21}},
		{bounds{1 << 40, 1 << 41}.mul(bounds{-1 << 40, 1 << 40}), bounds{least, most}},
		{bounds{-7, 9}.neg(), bounds{-9, 7}},
		{bounds{least, 3}.neg(), bounds{-3, most}},
		{bounds{-7, 9}.quo(bounds{2, 4}), bounds{-3, 4}},
		{bounds{0, 9}.rem(bounds{1, 4}), bounds{0, 3}},
		{bounds{-1, 9}.rem(bounds{1, 4}), bounds{-3, 3}},
		{bounds{1, 5}.and(bounds{3, 9}), bounds{3, 5}},
		{bounds{1, 5}.or(bounds{3, 9}), bounds{1, 9}},
	} {
		if c.got != c.want {
			t.Errorf("%d, want %d", c.got, c.want)
		}
	}
	if ones(5) != 7 || ones(8) != 15 || ones(0) != 0 {
		t.Error(ones(5), ones(8), ones(0))
	}
}
