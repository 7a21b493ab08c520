package golang

import "testing"

// A check fails the cell from wherever it stands, and what judge runs never does.
func TestJudge(t *testing.T) {
	scenario{"judge", []string{
		`check(1+1 == 2, "no")`, ``,
		`func twice(x int) int { check(x < 10, "%d is too much", x); return 2 * x }`, ``,
		"defer func() { fmt.Println(recover()) }()\nfor i := range 20 {\n\ttwice(i)\n}\nfmt.Println(`never`)", "<nil>\nError: 10 is too much",
		"func solve(n int) int {\n\ttodo()\n\treturn 0\n}\njudge(`1`, func() { check(solve(3) == 9, `solve(3) is %d, want 9`, solve(3)) })", `exercise 1: not solved yet`,
		"func solve(n int) int { return n + n }", ``,
		"judge(`1`, func() { check(solve(3) == 9, `solve(3) is %d, want 9`, solve(3)) })", `exercise 1: wrong: solve(3) is 6, want 9`,
		"judge(`2`, func() { must(errors.New(`no device`)) })\njudge(`3`, func() {})", "exercise 2: wrong: no device\nexercise 3: right",
		"judge(`1`, func() {\n\tlist := []int{}\n\tfmt.Println(list[solve(1)])\n})", "exercise 1: wrong: runtime error: index out of range [2] with length 0\n    In[8]:3:2  func1\n        fmt.Println(list[solve(1)])",
		`check := 3; check`, `=> 3`, // a name like others
	}}.test(t)
}
