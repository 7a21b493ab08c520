package golang

import "testing"

// What a cell is told that does not compile.
func TestMessages(t *testing.T) {
	for _, c := range [][2]string{
		{"1<<64", "In[1]:1:1: cannot use 1 << 64 (untyped int constant 18446744073709551616) as int value (overflows)"},
		{"1e400", "In[1]:1:1: cannot use 1e400 (untyped float constant) as float64 value (overflows)"},
		{"x := 1 /* not closed", "In[1]:1:8: syntax error: comment not terminated"},
		{"/* not closed", "In[1]:1:1: syntax error: comment not terminated"},
		{"func f() {\n\tx := 1\n", "In[1]:3:2: syntax error: the { of line 1, column 10 is not closed"},
		{"if true {\n\tfmt.Println(1)", "In[1]:2:16: syntax error: the { of line 1, column 9 is not closed"},
		{"package main\nfunc main() {", "In[1]:2:14: syntax error: the { of line 2, column 13 is not closed"},
		{"var f int = func(a int) string { return \"\" }", "In[1]:1:13: cannot use func(a int) string {…} (value of type func(a int) string) as int value in variable declaration"},
		{`x := strconv.Atoi("3")`, "In[1]:1:6: assignment mismatch: 1 variable but strconv.Atoi returns 2 values (must(...) around the call takes its error, and fails the cell on one)"},
		{"x := 1 $ 2", "In[1]:1:8: syntax error: invalid character U+0024 '$'"},
		{`import "C"`, "In[1]:1:8: could not import C (cells have no cgo: they are interpreted; C++ for the GPU goes into a cell of its own, %%cuda)"},
		{"int x = 1", "In[1]:1:5: syntax error: unexpected name x at end of statement"},
		{"print \"a\"", "In[1]:1:7: syntax error: unexpected literal \"a\" at end of statement"},
		{"_ = i++", "In[1]:1:6: syntax error: unexpected ++ at end of statement"},
		{"else { }", "In[1]:1:1: syntax error: unexpected keyword else"},
		{"x := ;", "In[1]:1:7: syntax error: unexpected end of the cell, expected expression"},
		{"switch { case: }", "In[1]:1:14: syntax error: unexpected :, expected expression"},
		{"var = 1", "In[1]:1:5: syntax error: unexpected =, expected name"},
		{"var x", "In[1]:1:6: syntax error: unexpected newline, expected type"},
		{"for i in range(3) { }", "In[1]:1:7: syntax error: unexpected name in, expected {"},
		{"for i := 0; i < 3; i++\n{\n}", "In[1]:1:23: syntax error: unexpected newline, expected {"},
		{"x := (1 + 2", "In[1]:1:12: syntax error: unexpected newline, expected )"},
		{"}", "In[1]:1:1: syntax error: unexpected }"},
		{"x := 1\n)", "In[1]:2:1: syntax error: unexpected )"},
		{"_ = []int{1, 2\n}", "In[1]:1:15: syntax error: unexpected newline in composite literal; possibly missing comma or }"},
		{"fmt.Println(1,\n2\n)", "In[1]:2:2: syntax error: unexpected newline in argument list; possibly missing comma or )"},
		{"s := 'hello'", "In[1]:1:6: syntax error: more than one character in rune literal"},
		{"s := ''", "In[1]:1:6: syntax error: empty rune literal or unescaped '"},
		{"if x := 1; x = 1 { }", "In[1]:1:12: syntax error: cannot use assignment as value (did you mean ==?)"},
		{"type T struct { a int b int }", "In[1]:1:23: syntax error: unexpected name b at end of statement"},
		{"break", "In[1]:1:1: break is not in a loop, switch, or select"},
		{"continue", "In[1]:1:1: continue is not in a loop"},
		{"goto L", "In[1]:1:6: label L not defined"},
		{"fmt", "In[1]:1:1: undefined: fmt"},
		{"import \"fmt\"\nfmt", "In[1]:2:1: use of package fmt without selector"},
		{"var u user", "In[1]:1:7: undefined: user"},
		{"x := path + 1", "In[1]:1:6: undefined: path"},
		{"x := nil", "In[1]:1:6: use of untyped nil in assignment"},
		{"x, y := 1, 2, 3", "In[1]:1:15: assignment mismatch: 2 variables but 3 values"},
		{"var a [1 << 50]int", "In[1]:1:5: type [1125899906842624]int larger than address space"},
		{"func f() { var a [1 << 20][1 << 30]int }", "In[1]:1:16: type [1048576][1073741824]int larger than address space"},
		{"var m map[[]int]string", "In[1]:1:11: invalid map key type []int"},
		{"var s string = 1", "In[1]:1:16: cannot use 1 (untyped int constant) as string value in variable declaration"},
		{"type T struct{ A, B int }\n_ = T{1}", "In[1]:2:8: too few values in struct literal of type T"},
		{"f := func(a int) int { return a }\nf(\"x\")", "In[1]:2:3: cannot use \"x\" (untyped string constant) as int value in argument to f"},
		{"type I interface{ M() }\ntype T struct{}\nvar i I = T{}", "In[1]:3:11: cannot use T{} (value of struct type T) as I value in variable declaration: T does not implement I (missing method M)"},
		{"var a [2]int\n_ = a[5]", "In[1]:2:7: invalid argument: index 5 out of bounds [0:2]"},
		{"_ = 1 / 0", "In[1]:1:9: invalid operation: division by zero"},
		{"var c chan<- int\n<-c", "In[1]:2:3: invalid operation: cannot receive from send-only channel chan<- int c (variable of type chan<- int)"},
		{"x := must(strconv.Atoi(missing))", "In[1]:1:24: undefined: missing"},
		{"must(missing())", "In[1]:1:6: undefined: missing"},
		{"var c missing\nm := must(c.Open())\nn := must(m.Close())\nmust(n)", "In[1]:1:7: undefined: missing"},
	} {
		res := newSession(t).ev.Eval("In[1]", c[0], false)
		if res.Err == nil || res.Err.Name != "CompileError" || res.Err.Message != c[1] {
			t.Errorf("%s\ngave\n%v\nwant\n%s", c[0], res.Err, c[1])
		}
	}
}
