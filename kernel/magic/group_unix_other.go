//go:build unix && !linux

package magic

import (
	"os/exec"
	"syscall"
)

// setGroup makes cmd lead a process group of its own, so that what it starts
// can be ended with it.
func setGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
