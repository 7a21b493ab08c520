//go:build !linux

package launch

import (
	"os"
	"syscall"
)

// New fails on these systems, so that Run starts nothing.

const terminate = syscall.SIGTERM

func attributes() *syscall.SysProcAttr { return nil }

func signalGroup(p *os.Process, s os.Signal) { p.Signal(s) }

func signalNumber(*os.ProcessState) int { return 0 }
