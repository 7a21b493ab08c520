//go:build unix && !linux

package session

import (
	"os/exec"
	"syscall"
	"time"
)

func socketPair() ([2]int, error) {
	syscall.ForkLock.RLock() // no child may start before the flags are set
	defer syscall.ForkLock.RUnlock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	return fds, err
}

func pipePair() ([2]int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	var fds [2]int
	err := syscall.Pipe(fds[:])
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	return fds, err
}

// childAttributes asks for a process group. These systems cannot tie a child's
// life to its parent's: the evaluator exits when the link closes.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func (p *process) exited() bool { return p.here == nil || p.here.ended(time.Second) }
func (*process) watch() error   { return nil }
func (*process) unwatch()       {}

// kill ends the evaluator and its process group.
func (p *process) kill() {
	if p.here != nil {
		p.here.end()
		return
	}
	syscall.Kill(-p.pid(), syscall.SIGKILL)
}

func startCommand(cmd *exec.Cmd) error { return cmd.Start() }
