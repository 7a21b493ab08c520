//go:build !unix

package magic

import "os/exec"

func setGroup(*exec.Cmd) {}

// interruptGroup ends the command at once: there is no signal that asks.
func interruptGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		cmd.Process.Kill()
	}
}
