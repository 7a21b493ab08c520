//go:build unix

package evaluator

import (
	"fmt"
	"strings"
	"testing"

	"gocuda/kernel/session"
	"gocuda/kernel/session/sessiontest"
)

// A judge does not judge the old definition of what a cell failed to declare again.
func TestJudgeAfterACellThatFailed(t *testing.T) {
	const (
		right  = "exercise 1: right\n"
		square = "func square(x int) int { return x * x }"
		broken = "func square(x int) int { return x * y }"
		judge  = "judge(`1`, func() { check(square(3) == 9, `%d`, square(3)) })"
		kernel = "%%cuda\n__global__ void one(float *p) { p[0] = 1; }"
		inGo   = "%%kernel\nfunc one(p []float32) {\n\tp[0] = 1\n}"
		launch = "judge(`1`, func() {\n\tb := must(must(cuda.CurrentDevice()).Upload([]float32{0}))\n\tmust(one.Launch(cuda.Grid(1), cuda.Block(1), nil, b))\n\tcheck(must(b.Float32s())[0] == 1, `no`)\n})"
	)
	says := func(n int, what string) string {
		return fmt.Sprintf("exercise 1: wrong: the cell above, In[%d], %s\n", n, what)
	}
	const notCompiled = "did not compile"
	for name, c := range map[string]struct {
		cells []string // the last is the judge
		want  string
	}{
		"nothing failed":          {[]string{square, judge}, right},
		"the first try":           {[]string{broken, judge}, says(1, notCompiled)},
		"a second try":            {[]string{square, broken, judge}, says(2, notCompiled)},
		"syntax":                  {[]string{square, "func square(x int) int { return x * }", judge}, says(2, notCompiled)},
		"a brace is missing":      {[]string{square, "func square(x int) int {\n\treturn x * x\n", judge}, says(2, notCompiled)},
		"a third try":             {[]string{square, broken, square, judge}, right},
		"below a magic":           {[]string{square, broken, "%%time\n" + judge}, says(2, notCompiled)},
		"another name":            {[]string{square, "func cube(x int) int { return x * y }", judge}, right},
		"a local name":            {[]string{"func square(x int) int { y := x; return y * x }", "y := nothing", judge}, right},
		"a helper":                {[]string{square, "func four() int { return square(2) }", broken, "judge(`1`, func() { check(four() == 4, ``) })"}, says(3, notCompiled)},
		"a method":                {[]string{"type T int", "func (t *T) four() int { return 4 }", "func (t *T) four() int { return nothing }", "judge(`1`, func() { check(new(T).four() == 4, ``) })"}, says(3, notCompiled)},
		"a method of a helper":    {[]string{square, "type T struct{}\n\nfunc newT() T { return T{} }", "func (T) nine() int { return square(3) }", broken, "judge(`1`, func() { check(newT().nine() == 9, ``) })"}, says(4, notCompiled)},
		"through a variable":      {[]string{square, "nine := 0", broken, "nine = square(3)", "judge(`1`, func() { check(nine == 9, ``) })"}, says(3, notCompiled)},
		"what follows fails, too": {[]string{"nine := 0", broken, "nine = square(3)", "judge(`1`, func() { check(nine == 9, ``) })"}, says(2, notCompiled)},
		"by its name as a text":   {[]string{square, broken, "judge(`1`, func() { fmt.Sprint(`square`) })"}, says(2, notCompiled)},
		"a group":                 {[]string{"var (\n\tnine = 9\n)", "var (\n\tnine = nothing\n)", "judge(`1`, func() { check(nine == 9, ``) })"}, says(2, notCompiled)},
		"a value fails":           {[]string{"list := []int{9}", "nine := list[0]", "nine := list[3]", "judge(`1`, func() { check(nine == 9, ``) })"}, says(3, "failed")},
		"statements fail":         {[]string{square, square + "\npanic(`oh`)", judge}, right},
		"an assignment fails":     {[]string{"nine := 9", "nine = 8\nnine = 9\npanic(`oh`)", "judge(`1`, func() { check(nine == 9, ``) })"}, right},
		"an unknown magic":        {[]string{square, "%%chek\n" + square, judge}, says(2, "failed")},
		"several exercises":       {[]string{square, broken, judge + "\njudge(`2`, func() {})"}, says(2, notCompiled) + strings.Replace(says(2, notCompiled), "exercise 1", "exercise 2", 1)},
		"a blank name":            {[]string{square, "_ = nothing", "judge(`1`, func() { _ = square(3) })"}, right},
		"a function that waits":   {[]string{square, "func square(x int) int { return times(x, x) }", judge}, says(2, "calls times, which no cell has declared")},
		"not at the outer level":  {[]string{square, broken, "func f() { " + judge + " }\nf()"}, right},
		"a reset":                 {[]string{broken, "%reset -f\n" + square, judge}, right},
		"CUDA C++":                {[]string{kernel, launch}, right},
		"CUDA C++ that is wrong":  {[]string{kernel, "%%cuda\n__global__ void one(float *p) { q[0] = 1; }", launch}, says(2, notCompiled)},
		"CUDA C++ of an earlier":  {[]string{"%%cuda\n__device__ float first() { return 1; }", "%%cuda\n__device__ float first() { return q; }", "%%cuda\n__global__ void one(float *p) { p[0] = first(); }", launch}, says(2, notCompiled)},
		"a kernel in Go":          {[]string{inGo, launch}, right},
		"a kernel that is wrong":  {[]string{inGo, "%%kernel\nfunc one(p []float32) {\n\tp[0] = q\n}", launch}, says(2, notCompiled)},
		"a kernel's third try":    {[]string{inGo, "%%kernel\nfunc one(p []float32) {\n\tp[0] = q\n}", inGo, launch}, right},
		"a skeleton":              {[]string{"func square(x int) int {\n\ttodo()\n\treturn 0\n}", judge}, "exercise 1: not solved yet\n"},
	} {
		t.Run(name, func(t *testing.T) {
			h := startReal(t, nil)
			for i, code := range c.cells {
				h.Shown()
				r := sessiontest.Within(t, code, func() session.Result {
					return h.Execute(session.Cell{Name: fmt.Sprintf("In[%d]", i+1), Code: code})
				})
				if r.Err != nil && i == len(c.cells)-1 {
					t.Errorf("the judge fails: %v", r.Err)
				}
			}
			if got := h.Shown(); !strings.HasPrefix(got, c.want) {
				t.Errorf("the judge says %q, want %q", got, c.want)
			}
		})
	}
}
