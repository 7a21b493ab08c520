//go:build linux

package ranks

import (
	"fmt"
	"strings"
	"testing"

	"gocuda/kernel/session"
)

// All ranks have one verdict, and nothing that ends a judge fails the cell.
func TestOneVerdictForAllRanks(t *testing.T) {
	b := open(t)
	b.ok("%mpi start -n 3 --launcher local")
	b.ok("%%mpi\nother := (rank+1)%size\nfunc give() {\n\tjudge(`1`, func() { todo() })\n}")
	for _, c := range []struct{ code, want string }{
		{"judge(`1`, func() {})", "exercise 1: right\n"},
		{"if rank == 1 {\n\tjudge(`1`, func() {})\n}", "exercise 1: right\n"},
		{"judge(`1`, func() { check(rank < 2, `mine begin at %d, want %d`, rank, 5) })", "exercise 1: wrong: [2] mine begin at 2, want 5\n"},
		{"judge(`1`, func() { check(rank < 1, `mine begin at %d, want %d`, rank, 5) })\njudge(`2`, func() {})", "exercise 1: wrong: [1-2] mine begin at {1,2}, want 5\nexercise 2: right\n"},
		{"give()", "exercise 1: not solved yet\n"},
		{"judge(`1`, func() {\n\tif rank == 1 {\n\t\tpanic(`no`)\n\t}\n\tworld.Gather([]int{rank}, make([]int, size), 0)\n})", "exercise 1: wrong: [1] no\n    cell:4:3  func1\n        panic(`no`)\n"},
		{"judge(`1`, func() { world.Recv([]int{0}, other, 0) })", "exercise 1: wrong: [0-2] deadlock: rank 0 waits for 1, rank 1 waits for 2, rank 2 waits for 0: none of these calls can end\nthis rank was at cell:2, in Comm.Recv with rank {1,2,0}, tag 0\n"},
		{"judge(`1`, func() { must(world.Barrier()) })", "exercise 1: right\n"},
		{"judge(`1`, func() {\n\tif rank == 2 {\n\t\tsyscall.Kill(os.Getpid(), syscall.SIGKILL)\n\t}\n\tworld.Barrier()\n})", "exercise 1: wrong: [2] RankLost: the rank was lost: it was ended by a signal: SIGKILL (kill -9, or the system ran out of memory)\n"},
	} {
		o := b.run("%%mpi\n" + c.code)
		if o.err != nil || !strings.HasPrefix(o.stdout, c.want) {
			t.Errorf("%s\nsays %q, and fails with %s; want %q", c.code, o.stdout, o.trace(), c.want)
		}
	}
}

// A judge on ranks, or of what ranks have, does not judge what they failed to declare.
func TestJudgeAfterRanksThatFailed(t *testing.T) {
	const (
		right    = "%%mpi\nfunc next() int { return (rank + 1) % size }"
		broken   = "%%mpi\nfunc next() int { return (rank + 1) % sizes }"
		onRanks  = "%%mpi\njudge(`1`, func() { check(next() != rank, `no`) })"
		byPull   = "judge(`1`, func() { check(must(mpi.Pull(`got`))[0] == 1, `no`) })"
		notJudge = "exercise 1: wrong: the cell above, In[2], did not compile\n"
	)
	b := open(t)
	b.ok("%mpi start -n 2 --launcher local")
	for name, c := range map[string]struct {
		cells []string
		want  string
	}{
		"nothing failed":       {[]string{right, right, onRanks}, "exercise 1: right\n"},
		"a function of ranks":  {[]string{right, broken, onRanks}, notJudge},
		"then right":           {[]string{right, broken, right, onRanks}, "exercise 1: right\n"},
		"a value of ranks":     {[]string{right, broken, "%%mpi\ngot := 0\ngot = next()", byPull}, notJudge},
		"a value, then right":  {[]string{right, broken, right, "%%mpi\ngot := next()", byPull}, "exercise 1: right\n"},
		"a rank that fails":    {[]string{"%%mpi\ngot := 1", "%%mpi\ngot = 1\nif rank == 1 {\n\tpanic(`oh`)\n}", byPull}, "exercise 1: right\n"},
		"a value that fails":   {[]string{"%%mpi\ngot := 1", "%%mpi\ngot := []int{}[rank]", byPull}, "exercise 1: wrong: the cell above, In[2], failed\n"},
		"an untouched one":     {[]string{right, "%%mpi\nfunc next() int {\n\ttodo()\n\treturn 0\n}", onRanks}, "exercise 1: not solved yet\n"},
		"a kernel of the host": {[]string{right, "%%cuda\n__global__ void next(float *p) { q[0] = 1; }", "judge(`1`, func() { _ = next })"}, notJudge},
	} {
		var o outcome
		for i, code := range c.cells {
			o = b.named(fmt.Sprintf("In[%d]", i+1), code)()
		}
		if o.err != nil || !strings.HasPrefix(o.stdout, c.want) {
			t.Errorf("%s: the judge says %q, and fails with %s; want %q", name, o.stdout, o.trace(), c.want)
		}
	}
}

// A rank that is stopped ends for that reason, whether the stop was in time for its cell or not.
func TestReasonOfAStoppedRank(t *testing.T) {
	why, interrupted, other := session.NewError("Deadlock", "rank 0 waits for 1"), session.NewError("Interrupted", ""), session.NewError("Panic", "no")
	open, over := verdicts{{"1", ""}}, verdicts{{"1", "right"}}
	for name, c := range map[string]struct {
		because   *session.Error
		judges    verdicts
		err, want *session.Error
	}{
		"in time":                       {why, open, interrupted, why},
		"within a judge, but too late":  {why, open, nil, why},
		"after a judge":                 {why, over, nil, nil},
		"without a judge, but too late": {why, nil, nil, nil},
		"it failed by itself":           {why, open, other, other},
		"by the user":                   {nil, open, interrupted, interrupted},
		"not stopped":                   {nil, over, nil, nil},
	} {
		if got := (&rank{because: c.because, verdicts: c.judges}).endedBy(c.err); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
