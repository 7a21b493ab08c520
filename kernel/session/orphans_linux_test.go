package session

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// sleepers are the processes that run "sleep SECONDS".
func sleepers(seconds string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && string(text) == "sleep\x00"+seconds+"\x00" {
			var pid int
			fmt.Sscanf(file, "/proc/%d/", &pid)
			if alive(pid) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// nothingLeft waits until no sleeper runs but those that were detached.
func nothingLeft(t *testing.T, seconds, detached string) {
	t.Helper()
	t.Cleanup(func() {
		for _, pid := range slices.Concat(sleepers(seconds), sleepers(detached)) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	until(t, "what cells started ends", func() bool { return len(sleepers(seconds)) == 0 })
	if detached != "" && len(sleepers(detached)) == 0 {
		t.Error("what was detached by setsid ended, too")
	}
}

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
	ends := map[string]func(*harness){
		"close":   func(h *harness) { within(t, "Close", h.Close) },
		"restart": func(h *harness) { within(t, "Restart", h.Restart) },
		"kill":    func(h *harness) { syscall.Kill(live(h.Session).proc.pid(), syscall.SIGKILL) },
		"stopped": func(h *harness) {
			syscall.Kill(live(h.Session).proc.pid(), syscall.SIGSTOP)
			within(t, "Close", h.Close)
		},
	}
	n := 0
	for end, f := range ends {
		n++
		seconds, detached := fmt.Sprintf("3%d%d", os.Getpid(), n), fmt.Sprintf("4%d%d", os.Getpid(), n)
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			h := startReal(t, nil)
			h.succeed(strings.NewReplacer("SECONDS", seconds, "DETACHED", detached).Replace(cellThatLeaves))
			h.succeed("%%bash\n(sleep " + seconds + " & sleep " + seconds + " &)")
			until(t, "all run", func() bool { return len(sleepers(seconds)) == 8 && len(sleepers(detached)) == 1 })
			f(h)
			nothingLeft(t, seconds, detached)
		})
	}
}

// The kernel is killed, and cannot clear up.
func TestNothingOutlivesTheKernel(t *testing.T) {
	seconds := fmt.Sprintf("5%d", os.Getpid())
	parent, pid := startKernelProcess(t, "shell sleep "+seconds+" & (sleep "+seconds+" &) ; wait")
	until(t, "all run", func() bool { return len(sleepers(seconds)) == 2 })
	syscall.Kill(parent.Process.Pid, syscall.SIGKILL)
	parent.Wait()
	until(t, "the evaluator ends", func() bool { return !alive(pid) })
	nothingLeft(t, seconds, "")
}
