package magic

import (
	"os/exec"
	"syscall"
)

// setGroup makes cmd lead a process group of its own, so that what it starts
// can be ended with it, and lets it die with the thread that starts it, which
// runCommand keeps until its end: an evaluator that is killed leaves none behind.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
