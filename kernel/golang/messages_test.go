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
		{`x := strconv.Atoi("3")`, "In[1]:1:6: assignment mismatch: 1 variable but strconv.Atoi returns 2 values"},
		{"x := 1 $ 2", "In[1]:1:8: syntax error: invalid character U+0024 '$'"},
		{`import "C"`, "In[1]:1:8: could not import C (cells have no cgo: they are interpreted; C++ for the GPU goes into a cell of its own, %%cuda)"},
		{"x := must(strconv.Atoi(missing))", "In[1]:1:24: undefined: missing"},
		{"must(missing())", "In[1]:1:6: undefined: missing"},
	} {
		res := newSession(t).ev.Eval("In[1]", c[0], false)
		if res.Err == nil || res.Err.Name != "CompileError" || res.Err.Message != c[1] {
			t.Errorf("%s\ngave\n%v\nwant\n%s", c[0], res.Err, c[1])
		}
	}
}
