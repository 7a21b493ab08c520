//go:build unix

package sessiontest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// Alive says whether a process runs.
func Alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// Sleepers are the processes that run "sleep SECONDS".
func Sleepers(seconds string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && string(text) == "sleep\x00"+seconds+"\x00" {
			var pid int
			fmt.Sscanf(file, "/proc/%d/", &pid)
			if Alive(pid) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// NothingLeft waits until no sleeper runs but those that were detached.
func NothingLeft(t testing.TB, seconds, detached string) {
	t.Helper()
	t.Cleanup(func() {
		for _, pid := range slices.Concat(Sleepers(seconds), Sleepers(detached)) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	Until(t, "what cells started ends", func() bool { return len(Sleepers(seconds)) == 0 })
	if detached != "" && len(Sleepers(detached)) == 0 {
		t.Error("what was detached by setsid ended, too")
	}
}
