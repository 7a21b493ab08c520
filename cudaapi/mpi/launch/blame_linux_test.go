package launch

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestBlame tells a runner of ranks' ends in an order in which a busy machine
// may: what happened first is told last.
func TestBlame(t *testing.T) {
	exits := func(code int) error { return exec.Command("sh", "-c", fmt.Sprint("exit ", code)).Run() }
	for name, c := range map[string]struct {
		tell   func(r *runner)
		status int
		says   string
	}{
		"an abort that is read after its rank's end": {func(r *runner) {
			r.happened(Event{Kind: Joined, Rank: 0})
			r.ends <- end{0, exits(77)}
			time.Sleep(50 * time.Millisecond)
			r.happened(Event{Kind: Aborted, Rank: 0, Code: 77})
			r.happened(Event{Kind: Lost, Rank: 0})
			r.ends <- end{1, exits(77)}
			r.ends <- end{2, exits(77)}
		}, 77, "rank 0 aborts with exit code 77"},
		"a rank that fails because another was lost": {func(r *runner) {
			r.happened(Event{Kind: Lost, Rank: 1})
			r.ends <- end{0, exits(6)}
			time.Sleep(50 * time.Millisecond)
			r.ends <- end{1, exits(5)}
			r.ends <- end{2, nil}
		}, 5, "rank 1 failed: exit status 5"},
		"two ranks that fail because a third was lost": {func(r *runner) {
			r.happened(Event{Kind: Lost, Rank: 2})
			r.ends <- end{1, exits(6)}
			r.ends <- end{0, exits(6)}
			time.Sleep(50 * time.Millisecond)
			r.ends <- end{2, exits(5)}
		}, 5, "rank 2 failed: exit status 5"},
		"a rank that fails because another ended too early, without an error": {func(r *runner) {
			r.happened(Event{Kind: Lost, Rank: 1})
			r.ends <- end{0, exits(6)}
			r.ends <- end{1, nil}
			r.ends <- end{2, nil}
		}, 6, "rank 0 failed: exit status 6"},
	} {
		t.Run(name, func(t *testing.T) {
			job, err := New(3)
			if err != nil {
				t.Fatal(err)
			}
			defer job.Close()
			var out bytes.Buffer
			r := newRunner(job, 3, Options{Stderr: &out, Grace: time.Minute})
			for rank := range 3 {
				r.running[rank] = &exec.Cmd{}
			}
			go c.tell(r)
			status, err := r.wait(t.Context())
			if status != c.status || err != nil || !strings.Contains(out.String(), c.says) {
				t.Errorf("status %d, %v, %q; want %d and %q", status, err, &out, c.status, c.says)
			}
		})
	}
}
