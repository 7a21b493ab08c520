package session

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gocuda/kernel/session/internal/orphans"
)

const setPipeSize = 1031 // fcntl's F_SETPIPE_SZ

func socketPair() ([2]int, error) {
	return syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
}

func pipePair() ([2]int, error) {
	var fds [2]int
	if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC); err != nil {
		return fds, err
	}
	// More room lets a cell that prints run on while the kernel collects. The
	// system may refuse it; then the pipe holds 64 KiB.
	syscall.Syscall(syscall.SYS_FCNTL, uintptr(fds[1]), setPipeSize, pipeCapacity)
	return fds, nil
}

// childAttributes asks for a session of its own, so that a terminal's Ctrl-C
// does not reach the evaluator and what its cells start can be ended with it,
// and for the evaluator's death when the kernel dies.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// watch has what cells start end with the kernel, should that be killed.
func (p *process) watch() error {
	if p.here != nil {
		return nil
	}
	return orphans.Watch(p.pid())
}

// unwatch takes back watch.
func (p *process) unwatch() {
	if p.here == nil {
		orphans.Forget(p.pid())
	}
}

// kill ends the evaluator and what its cells started.
func (p *process) kill() {
	if p.here != nil {
		p.here.end()
		return
	}
	orphans.End(p.pid())
}

// exited waits for the evaluator's end, for a moment, and leaves its state to
// wait. One that ends closes its link a little earlier.
func (p *process) exited() bool {
	if p.here != nil {
		return p.here.ended(exitTime)
	}
	for end := time.Now().Add(exitTime); time.Now().Before(end); time.Sleep(time.Millisecond) {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, p.pid(), &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if err != nil && err != unix.EINTR || info.Signo != 0 {
			return true
		}
	}
	return false
}

const exitTime = 2 * time.Second

// starter runs functions on one thread that lives as long as the process:
// PDEATHSIG is sent when the thread ends that started the child, and Go may
// end any other thread.
var starter = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

func startCommand(cmd *exec.Cmd) error {
	result := make(chan error)
	starter() <- func() { result <- cmd.Start() }
	return <-result
}
