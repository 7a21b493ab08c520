package golang

import "testing"

// What earlier cells declared follows what later ones declare.
var following = []scenario{
	{"functions that call each other", []string{
		"func even(n int) bool {\n\tif n == 0 {\n\t\treturn true\n\t}\n\treturn odd(n - 1)\n}", "even calls odd, which no cell has declared yet",
		"even(2)", "CompileError: In[2]:1:1: undefined: even (it calls odd, which no cell has declared yet)",
		"func both(n int) []bool { return []bool{even(n), odd(n)} }", "both calls even, odd, which no cell has declared yet",
		"func odd(n int) bool { return n > 0 && even(n-1) }\neven(7), odd(7), both(2)", "=> false, true, []bool{true, false}",
		"func odd(n int) bool { return true }\neven(7), both(2)", "=> true, []bool{true, true}",
		"even(", "CompileError: In[6]:1:6: syntax error: the ( of line 1, column 5 is not closed",
	}},
	{"only functions wait", []string{
		"x := nope()", "CompileError: In[1]:1:6: undefined: nope",
		"func f() int { return nope + 1 }", "CompileError: In[2]:1:23: undefined: nope",
		"func f() { nope(1) }\nvar s string = 1", "CompileError: In[3]:1:12: undefined: nope (and 1 more)",
		"func f() { prinln(1) }", "CompileError: In[4]:1:12: undefined: prinln (did you mean println?)",
		"func f() { nope() }\nf()", "CompileError: In[5]:1:12: undefined: nope",
		"func main() { nope() }", "CompileError: In[6]:1:15: undefined: nope",
	}},
	{"a function waits for another that has a package's name", []string{
		"func f() int { return path(2) }", "f calls path, which no cell has declared yet",
		"func path(n int) int { return n + 1 }\nf()", "=> 3",
	}},
	{"what waits and does not fit", []string{
		"func f() int { return g(1) }", "f calls g, which no cell has declared yet",
		"func g() int { return 1 }\ng()", "f does not fit: In[1]:1:25: too many arguments in call to g\n=> 1",
		"f()", "CompileError: In[3]:1:1: undefined: f",
	}},
	{"functions and types follow a type", []string{
		"type T struct{ A int }\nfunc (t T) Twice() int { return 2 * t.A }", "",
		"func make1() T { return T{A: 1} }\nfunc use(t T) int { return t.A }\nfunc all() int { return use(make1()) + make1().Twice() }", "",
		"type List []T\nfunc (l List) Sum() (n int) { for _, t := range l { n += t.A }; return n }", "",
		"func (t T) Add(n int) T { t.A += n; return t }\nfunc sum() int { return List{make1().Add(2)}.Sum() }\nsum(), all()", "=> 3, 3",
		"type T struct{ A int; B string }\nfunc (t T) Twice() int { return 4 * t.A }\nt := make1()\nt.B = \"b\"\nsum(), all(), use(t), t", `=> 3, 5, 1, T{A: 1, B: "b"}`,
		"func use(t T) int { return len(t.B) }\nall(), use(t), List{t}.Sum()", "=> 4, 1, 1",
		"type T struct{ B string }", "List.Sum still uses the old List: In[3]:2:60: t.A undefined (type T has no field or method A)\nT.Add still uses the old T: In[4]:1:29: t.A undefined (type T has no field or method A)\nall still uses the old use\nmake1 still uses the old T: In[2]:1:27: unknown field A in struct literal of type T\nsum still uses the old List\nt still has the old T: run its cell again",
		"use(T{\"four\"}), len(List{})", "=> 4, 0",
		"func make1() T { return T{\"1\"} }\nall()", "all still uses the old make1: In[2]:3:48: make1().Twice undefined (type T has no field or method Twice)\nsum still uses the old make1: In[4]:2:38: make1().Add undefined (type T has no field or method Add)\n=> 4",
	}},
	{"functions follow variables, constants and signatures", []string{
		"x := 2\nconst n = 3\nfunc f() int { return 1 }\nfunc use() any { return fmt.Sprint(x, \" \", n, \" \", f()) }\nuse()", `=> "2 3 1"`,
		"x := \"text\"", "",
		"use()", `=> "text 3 1"`,
		"const n = 4\nfunc f(more ...int) string { return \"f\" }\nuse()", `=> "text 4 f"`,
		"x := 1.5\nuse()", `=> "1.5 4 f"`,
		"x = 2.5\nuse()", `=> "2.5 4 f"`,
	}},
	{"a cell that fails changes nothing", []string{
		"type T struct{ A int }\nfunc get(t T) int { return t.A }", "",
		"type T struct{ B, A int }\nnope", "CompileError: In[2]:2:1: undefined: nope",
		"get(T{1})", "=> 1",
	}},
}

func TestFollowing(t *testing.T) {
	for _, sc := range following {
		t.Run(sc.name, sc.test)
	}
}
