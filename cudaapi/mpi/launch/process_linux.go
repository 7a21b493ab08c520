package launch

import (
	"os"
	"syscall"
)

const terminate = syscall.SIGTERM

// attributes: a rank has a process group, to be ended with its children, and
// does not outlive the launcher.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// signalGroup sends to a process and its children.
func signalGroup(p *os.Process, s os.Signal) {
	if n, ok := s.(syscall.Signal); ok {
		syscall.Kill(-p.Pid, n)
	}
}

// signalNumber is that of the signal that ended a process.
func signalNumber(s *os.ProcessState) int {
	return int(s.Sys().(syscall.WaitStatus).Signal())
}
