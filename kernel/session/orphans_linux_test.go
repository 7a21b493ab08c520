package session_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"gocuda/kernel/session/sessiontest"
)

// The kernel is killed, and cannot clear up.
func TestNothingOutlivesTheKernel(t *testing.T) {
	seconds := fmt.Sprintf("5%d", os.Getpid())
	parent, pid := startKernelProcess(t, "shell sleep "+seconds+" & (sleep "+seconds+" &) ; wait")
	sessiontest.Until(t, "all run", func() bool { return len(sessiontest.Sleepers(seconds)) == 2 })
	syscall.Kill(parent.Process.Pid, syscall.SIGKILL)
	parent.Wait()
	sessiontest.Until(t, "the evaluator ends", func() bool { return !sessiontest.Alive(pid) })
	sessiontest.NothingLeft(t, seconds, "")
}
