package kerneltest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gocuda/cudaapi/gokernel"
)

// What cannot be on a device is refused at its place, with words that help.
func TestRefused(t *testing.T) {
	const named = "type T struct{ n int }\nfunc (t T) m() int { return t.n }\n"
	for _, c := range []struct{ body, at, message, more string }{
		{"m := map[int]int{}\n_ = m", "2:6", "a value of type map[int]int cannot be in a kernel: there are no maps", ""},
		{"var m map[string]int\n_ = m", "2:5", "there are no maps", ""},
		{"m := make(map[int]bool)\nm[1] = true", "2:6", "make cannot be used in a kernel", ""},
		{"c := make(chan int)\nc <- 1", "2:6", "make cannot be used", ""},
		{"var c chan int\n_ = c", "2:5", "there are no channels", ""},
		{"go f2()", "2:1", "there are no goroutines", ""},
		{"defer f2()", "2:1", "defer cannot be used", ""},
		{"x = append(x, 1)", "2:5", "append cannot be used", ""},
		{"y := make([]int, 3)\n_ = y", "2:6", "make cannot be used", ""},
		{"var e any\n_ = e", "2:5", "there are no interfaces", ""},
		{"var e any = x\n_ = e", "2:5", "there are no interfaces", ""},
		{"var e error\n_ = e", "2:5", "there are no interfaces", ""},
		{"s := \"a\"\n_ = s", "2:6", "strings are", ""},
		{"var s string\n_ = s", "2:5", "strings are constants there", ""},
		{"switch any(x).(type) {\n}", "2:1", "a type cannot be asked for", ""},
		{"select {\n}", "2:1", "there are no channels", ""},
		{"x[0] = rec(3)", "10:6", "rec calls itself", "func rec(n int) int { return rec(n - 1) }"},
		{"panic(x[0])", "2:7", "a panic in a kernel takes a constant", ""},
		{"recover()", "2:1", "recover cannot be used", ""},
		{"fs := []func(){f2}\nfs[0]()", "2:7", "functions can be called", ""},
		{"g := f2\ng()", "2:1", "call the function by its name", ""},
		{"g := func() {}\ng = func() {}\ng()", "2:1", "g holds a function and is assigned later", ""},
		{"fmt.Printf(\"%s\", x)", "2:18", "a value of type []int cannot be printed", ""},
		{"fmt.Printf(\"%d %d\\n\", 1)", "2:1", "more verbs than there are values", ""},
		{"fmt.Printf(\"%d\\n\", 1, 2)", "2:1", "more values than the format has verbs", ""},
		{"fmt.Printf(\"%q\", x[0])", "2:18", "%q of a value of type int cannot be printed", ""},
		{"_ = leak()", "10:28", "the address of v is returned", "func leak() *int { v := 3; return &v }"},
		{"gpu.ThreadIdx.X = 3", "2:1", "a kernel cannot assign this", ""},
		{"T{}.m()\ng := T{}.m\ng()", "3:6", "a method can be called", ""},
		{"g := T.m\ng(T{})", "2:6", "a method can be called", ""},
		{"for range f3 {\n}", "2:1", "a kernel cannot range over a function", ""},
		{"w := weights\n_ = w\nweights[0] = 3", "4:1", "constant memory", ""},
		{"x[0] = undefined", "2:8", "undefined: undefined", ""},
		{"x[0] = 1.5", "2:8", "cannot use 1.5", ""},
		{"x[0] = \"a\"", "2:8", "cannot use \"a\"", ""},
		{"var y int32 = x[0]\n_ = y", "2:15", "cannot use x[0]", ""},
		{"x[0] = notThere", "2:8", "undefined: notThere", ""},
		{"if x {\n}", "2:4", "non-boolean condition", ""},
		{"return 1", "2:8", "too many return values", ""},
		{"break", "2:1", "break not in for, switch, or select statement", ""},
		{"x[-1] = 1", "2:3", "must not be negative", ""},
		{"x[0] = 1 / 0", "2:12", "division by zero", ""},
		{"x[0] = len(\"abc\"", "2:17", "syntax error", ""},
		{"var u uintptr\n_ = u", "2:5", "use a slice or a typed pointer", ""},
		{"y := struct{ m map[int]int }{}\n_ = y", "2:6", "which holds map[int]int", ""},
	} {
		text := "func k(x []int) {\n" + c.body + "\n}\nfunc f2() {}\nfunc f3(yield func() bool) {}\n//gpu:constant\nvar weights [3]int\n" + named + c.more
		_, err := gokernel.Compile(text, gokernel.Options{Name: "In[5]"})
		var list gokernel.Errors
		if !errors.As(err, &list) {
			t.Errorf("%s\nis not refused: %v", c.body, err)
			continue
		}
		found := false
		for _, e := range list {
			at := fmt.Sprintf("%d:%d", e.Pos.Line, e.Pos.Column)
			found = found || strings.Contains(e.Message, c.message) && at == c.at
		}
		if !found {
			t.Errorf("%s\nis refused with\n%v, want %s: %s", c.body, err, c.at, c.message)
		}
	}
}
