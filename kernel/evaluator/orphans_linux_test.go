package evaluator

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"gocuda/kernel/session/sessiontest"
)

// cellThatLeaves starts sleepers in every way, and one that is to stay.
const cellThatLeaves = `
!nohup sleep SECONDS >/dev/null 2>&1 & sleep SECONDS & (sleep SECONDS &); setsid sleep DETACHED >/dev/null 2>&1 &
for i := range 3 {
	c := exec.Command("sh", "-c", "sleep SECONDS & wait")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: i == 1}
	c.Start()
}`

// Nothing that a notebook started outlives it.
func TestNothingOutlivesTheEvaluator(t *testing.T) {
	ends := map[string]func(*sessiontest.Harness){
		"close":   func(h *sessiontest.Harness) { sessiontest.Within(t, "Close", h.Close) },
		"restart": func(h *sessiontest.Harness) { sessiontest.Within(t, "Restart", h.Restart) },
		"kill":    func(h *sessiontest.Harness) { syscall.Kill(h.Pid(), syscall.SIGKILL) },
		"stopped": func(h *sessiontest.Harness) {
			syscall.Kill(h.Pid(), syscall.SIGSTOP)
			sessiontest.Within(t, "Close", h.Close)
		},
	}
	n := 0
	for end, f := range ends {
		n++
		seconds, detached := fmt.Sprintf("3%d%d", os.Getpid(), n), fmt.Sprintf("4%d%d", os.Getpid(), n)
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			h := startReal(t, nil)
			h.Succeed(strings.NewReplacer("SECONDS", seconds, "DETACHED", detached).Replace(cellThatLeaves))
			h.Succeed("%%bash\n(sleep " + seconds + " & sleep " + seconds + " &)")
			sessiontest.Until(t, "all run", func() bool {
				return len(sessiontest.Sleepers(seconds)) == 8 && len(sessiontest.Sleepers(detached)) == 1
			})
			f(h)
			sessiontest.NothingLeft(t, seconds, detached)
		})
	}
}
