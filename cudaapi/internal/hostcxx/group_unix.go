//go:build unix

package hostcxx

import (
	"os/exec"
	"syscall"
)

// endWhole has the end of a command's context end the processes that it started, too: a
// compiler is a program that runs others.
func endWhole(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
