package ir

import (
	"go/token"
	"strings"
	"testing"
)

// everything is a program with each statement and each expression.
const everything = `type T_Float16 "gocuda/cudaapi/gpu" "Float16" float32
type T_pair "main" "pair[int32]" struct{a int32; _ [2]bool; next *T_pair}
global sum [4]int64 = [4]int64{int64(-1), int64(2), int64(3), int64(9223372036854775807)}
constant half T_Float16 = T_Float16(0.5)
func foreign draw "draw" (seed uint64, x []float32) (float32) {
}
func outside print "Print" (text string) () {
}
func called twice "twice" (x int) (int, bool) at 1:6 {
	if x < 0 {
		return -(3), !(x == 1)
	}
	return x + x, true
}
func called takes apply "apply" (f func(int)(int), x int) (int) {
	var y int
	call y = lit f(x)
	return y
}
func kernel k "k[int]" (n int, x []float32, p there *T_pair, m map[string]int) () at 8:1 {
	shared tile [256]float32
	var i int = @threadIdx.x + 1
	var at int = len(x)
	for short l i < at at 9:2 {
		check index(i, len(x)) at 9:10
		x[i] = float32(1.5) * x[i]
		if x[i] > float32(100) {
			continue l
		}
	} post {
		i = i + 1
	}
	lit f "k.f" (z int) (int) at 10:3 {
		return (z << uint64(3)) &^ n
	}
	var r int
	call r = apply(lit f, -7) at 10:9
	call _, _ = twice(int(uint8(3)))
	do sync_threads() at 11:2
	var old int32
	do old = add.acq_rel.block(&p.a, int32(1)) at 12:2
	do fence.seq_cst.system()
	do store.relaxed.device(&p.a, old)
	block out {
		check nonzero(r) holds high max cap
		if (n / r) >= cap(x) {
			break out
		}
		check slice(0, n, r, cap(x)) fails
	}
	block {
		var q *T_pair = zero(*T_pair)
		check nonnil(q)
		*q = T_pair{int32(0), [2]bool{true, false}, p}
		var w *uint32 = convert(*uint32, &(*q).a)
		do old = clear[T_pair](*q)
		q._1[1] = bool(*w == uint32(1))
	}
	printf "%g %d\n"(float64(@math_floor[float64](float64(x[0]))), i)
	goto again at 20:2
	label again
	step at 21:1
	for l {
		panic "out of \"range\"" runtime at 22:1
	}
}
`

func read(t *testing.T, text string) (*Program, *token.FileSet) {
	t.Helper()
	p, fset, err := Parse("test", text)
	if err != nil {
		t.Fatal(err)
	}
	return p, fset
}

func written(t *testing.T, p *Program, fset *token.FileSet) string {
	t.Helper()
	var b strings.Builder
	if err := Fprint(&b, p, fset); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What is read is written the same.
func TestText(t *testing.T) {
	want := strings.ReplaceAll(everything, "q._1", "(*q)._1")
	want = strings.ReplaceAll(want, "&p.a", "&(*p).a")
	p, fset := read(t, want)
	if got := written(t, p, fset); got != want {
		a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
		for i := range a {
			if i >= len(b) || a[i] != b[i] {
				t.Fatalf("line %d is\n%s\nnot\n%s", i+1, a[i], b[i])
			}
		}
		t.Fatal(got)
	}
}

func TestTextErrors(t *testing.T) {
	for text, want := range map[string]string{
		"func f \"f\" () () {\n\tx = 1\n}\n":                          "test:2:4: x is not declared",
		"func f \"f\" () () {\n\tvar x text\n}\n":                     "test:2:12: there is no type text",
		"func f \"f\" () () {\n\tcheck size(1)\n}\n":                  "there is no check of \"size\"",
		"func f \"f\" (p *int) () {\n\tdo add.loose.block(p, 1)\n}\n": "there is no operation add.loose.block",
		"func f \"f\" () () {\n\tfoo x\n}\n":                          "\"foo\" begins no statement",
		"func f \"f\" () () {\n\tvar x int = *3\n}\n":                 "this is no pointer",
		"func f \"f\" () () {\n\tvar x int = (3).a\n}\n":              "this is no struct",
		"other\n":                        "\"other\" begins no declaration",
		"func fast f \"f\" () () {\n}\n": "a function is not \"fast\"",
		"func f \"f\" () () {\n":         "test:2:1: \"\\n\" begins no expression",
	} {
		if _, _, err := Parse("test", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s%v; want %s", text, err, want)
		}
	}
}

// Each rule is broken once; the statements stand in a function with these parameters.
func TestVerify(t *testing.T) {
	const head = "type T_s \"main\" \"s\" struct{a int; b float32}\nconstant c int = 1\nfunc called g \"g\" (x int) (int) {\n\treturn x\n}\n" +
		"func f \"f\" (n int, u uint32, x []int, p *int, s T_s, h [4]int) () {\n"
	for body, want := range map[string]string{
		"var y int\nn = y":                                              "y has no value",
		"var y int\nif n > 0 {\ny = 1\n}\nn = y":                        "y has no value",
		"var y int\nif n > 0 {\ny = 1\n} else {\ny = 2\n}\nn = y":       "",
		"var y int\nif n > 0 {\ny = 1\n} else {\nreturn\n}\nn = y":      "",
		"block b {\nvar y int\nif n > 0 {\nbreak b\n}\ny = 1\nn = y\n}": "",
		"c = 2":                                 "c is constant",
		"3 = n":                                 "this is no place",
		"n = u":                                 "the value is of type uint32, not int",
		"var y uint32 = n":                      "the value is of type int, not uint32",
		"n = n + int(u + u)":                    "",
		"u = u + uint32(2)":                     "",
		"n = n + u":                             "the operands is of type int, not uint32",
		"n = n << n":                            "the count of a shift has no sign",
		"n = n << uint64(n)":                    "no check stands before it: nonminus(n)",
		"check nonminus(n)\nn = n << uint64(n)": "",
		"n = n << uint64(u)":                    "",
		"if n {\n}":                             "the condition is no bool",
		"for l n {\n}":                          "the condition is no bool",
		"if n && (n == 1) {\n}":                 "these are no bools",
		"n = x[n]":                              "no check stands before it: index(n, len(x))",
		"check index(n, len(x))\nn = x[n]":      "",
		"check index(n, len(x))\nn = 1\nn = x[n]":                                     "no check stands before it: index(n, len(x))",
		"check index(n, len(x))\nx[n] = 1\nn = x[n]":                                  "",
		"check index(*p, len(x))":                                                     "no check stands before it: nonnil(p)",
		"check index(n, len(x))\nfor l n < 5 {\nn = x[n]\n} post {\nn = n + 1\n}":     "no check stands before it: index(n, len(x))",
		"var m int = len(x)\nfor l n < m {\nvar y int = x[n]\n} post {\nn = n + 1\n}": "",
		"n = h[3]": "", "n = h[4]": "no check stands before it: index(4, 4)", "n = h[n]": "no check stands before it: index(n, 4)",
		"n = x[true]":                     "the index is no integer",
		"n = n / n":                       "no check stands before it: nonzero(n)",
		"n = n % 2":                       "",
		"check nonzero(n)\nn = 5 / n":     "",
		"n = *p":                          "no check stands before it: nonnil(p)",
		"check nonnil(p)\n*p = 3\nn = *p": "",
		"check nonnil(p)\nvar q **int = &p\n*p = 3":                   "",
		"var q **int = &p\ncheck nonnil(p)\n*&p = zero(*int)\n*p = 3": "no check stands before it: nonnil(p)",
		"x = x[0:n:n]": "no check stands before it: slice(0, n, n, cap(x))",
		"check slice(0, n, n, cap(x))\nx = x[0:n:n]": "",
		"x = (&h)[0:4:4]":                  "",
		"x = (&h)[0:5:5]":                  "no check stands before it: slice(0, 5, 5, 4)",
		"x = @array_of[*[2]int](x)[0:2:2]": "no check stands before it: fits(len(x), 2)",
		"check fits(len(x), 2)\nx = @array_of[*[2]int](x)[0:2:2]": "",
		"check index(n)":           "a check of this kind has 2 arguments",
		"n = len(n)":               "this has no length",
		"n = cap(h)":               "this has no capacity",
		"s = T_s{1}":               "there are 2 fields",
		"s = T_s{1, 2}":            "the field is of type int, not float32",
		"h = [4]int{1, 2}":         "there are 4 elements",
		"s.b = s.a":                "the value is of type int, not float32",
		"call g()":                 "there are 1 parameters",
		"call n = g(u)":            "the argument is of type uint32, not int",
		"call u = g(n)":            "the result is of type int, not uint32",
		"call n, n = g(n)":         "there are 1 results",
		"return n":                 "there are 0 results, not 1",
		"break l":                  "this is not in l",
		"block b {\ncontinue b\n}": "this is not in a loop b",
		"for l {\nlit z \"z\" () () {\nbreak l\n}\n}": "this is not in l",
		"goto l":                                            "there is no label l",
		"label l\nlabel l":                                  "the label stands at 2 places",
		"lit z \"z\" () (int) {\n}":                         "it ends without a return",
		"lit z \"z\" () (int) {\nfor l {\n}\n}":             "",
		"do fence.relaxed.block()":                          "a fence that is relaxed does nothing",
		"do add.relaxed.block(p)":                           "it has not the arguments of add",
		"do add.relaxed.block(n, 1)":                        "the address is no pointer",
		"do add.relaxed.block(p, 1)":                        "no check stands before it: nonnil(p)",
		"check nonnil(p)\ndo add.relaxed.block(p, u)":       "the argument is of type uint32, not int",
		"check nonnil(p)\ndo u = load.relaxed.block(p)":     "the result is of type int, not uint32",
		"check nonnil(p)\ndo n = store.relaxed.block(p, 1)": "it has no result",
		"var y int = 1\nlit z \"z\" () () {\ny = 0\n}\ncheck nonzero(y)\ncall lit z()\nn = n / y":  "no check stands before it: nonzero(y)",
		"var y int = 1\nlit z \"z\" () () {\ny = 0\n}\ncheck nonzero(y)\ncall n = g(n)\nn = n / y": "",
	} {
		p, _ := read(t, head+"\t"+body+"\n}\n")
		err := Verify(p)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s\n%v", body, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s\n%v; want %s", body, err, want)
		}
	}
}

// What text cannot say.
func TestVerifyNames(t *testing.T) {
	p, _ := read(t, "func f \"f\" (n int) () {\n\tblock {\n\t\tvar y int = 1\n\t}\n\tn = 2\n}\n")
	f := p.Funcs[0]
	y := f.Body[0].(*Block).Body[0].(*Define).Var
	f.Body[1].(*Assign).Value = &Ref{Var: y}
	if err := Verify(p); err == nil || !strings.Contains(err.Error(), "y is not declared") {
		t.Error(err)
	}
	f.Body[1].(*Assign).Value = &Const{T: y.Type, Value: p.Funcs[0].Body[0].(*Block).Body[0].(*Define).Init.(*Const).Value}
	f.Body[1].(*Assign).To = &Ref{Var: y}
	if err := Verify(p); err == nil || !strings.Contains(err.Error(), "y is not declared") {
		t.Error(err)
	}
}

func TestSizes(t *testing.T) {
	p, _ := read(t, "type T_f \"gocuda/cudaapi/gpu\" \"Float16\" float32\ntype T_s \"main\" \"s\" struct{a bool; b T_f; c int64; d struct{}}\nglobal x T_s\nglobal y [3]T_f\n")
	var s Sizes
	for i, want := range [][2]int64{{24, 8}, {6, 2}} {
		if typ := p.Globals[i].Type; s.Sizeof(typ) != want[0] || s.Alignof(typ) != want[1] {
			t.Errorf("%s has %d bytes, aligned to %d", typ, s.Sizeof(typ), s.Alignof(typ))
		}
	}
}

// A copy has variables and labels of its own.
func TestCopy(t *testing.T) {
	p, _ := read(t, "func f \"f\" (n int, x []int) () {\n\tblock b {\n\t\tvar y int = n + 1\n\t\tcheck index(y, len(x))\n\t\tif x[y] > 0 {\n\t\t\tbreak b\n\t\t}\n\t\tx[y] = y\n\t}\n}\n")
	f := p.Funcs[0]
	f.Body = append(f.Body, Copy(f.Body, make(map[*Var]*Var), make(map[*Label]*Label), func(name string) string { return "new_" + name })...)
	if err := Verify(p); err != nil {
		t.Error(err)
	}
	text := written(t, p, nil)
	_, second, _ := strings.Cut(text, "block new_b {")
	if want := strings.NewReplacer("y", "new_y", "break b", "break new_b").Replace("\n\t\tvar y int = n + 1\n\t\tcheck index(y, len(x))\n\t\tif x[y] > 0 {\n\t\t\tbreak b\n\t\t}\n\t\tx[y] = y\n\t}\n}\n"); second != want {
		t.Errorf("%s\nwant%s", text, want)
	}
}
