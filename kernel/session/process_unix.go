//go:build unix

package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// linkFD is where an evaluator finds its end of the link.
const linkFD = 3

var errWouldBlock = errors.New("nothing to read now")

// process is a running evaluator as the operating system sees it.
type process struct {
	cmd  *exec.Cmd // nil if it is this process
	here *here
	link io.ReadWriteCloser
	out  *pipes
}

// startProcess starts a command apart from this process's group, with the link
// on descriptor 3 and its outputs in pipes.
func startProcess(o *Options) (p *process, err error) {
	var opened []int // closed again when something fails
	defer func() {
		if err != nil {
			for _, fd := range opened {
				syscall.Close(fd)
			}
		}
	}()
	open := func(pair func() ([2]int, error)) [2]int {
		if err != nil {
			return [2]int{}
		}
		var fds [2]int
		if fds, err = pair(); err == nil {
			opened = append(opened, fds[0], fds[1])
		}
		return fds
	}
	link, stdout, stderr, wake := open(socketPair), open(pipePair), open(pipePair), open(pipePair)
	if err != nil {
		return nil, fmt.Errorf("cannot make the evaluator's link and pipes: %w", err)
	}
	if o.Here != nil {
		h, err := evaluateHere(o, link[1], stdout[1], stderr[1])
		if err != nil {
			return nil, err
		}
		return &process{here: h, link: nonblocking(link[0], "link"), out: newPipes(stdout[0], stderr[0], wake)}, nil
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	// The child's ends stay in blocking mode: C code expects that of 1 and 2.
	theirs := []*os.File{
		os.NewFile(uintptr(link[1]), "link"),
		os.NewFile(uintptr(stdout[1]), "stdout"),
		os.NewFile(uintptr(stderr[1]), "stderr"),
	}
	cmd := exec.Command(o.Command[0], o.Command[1:]...)
	cmd.Dir, cmd.Env = o.Dir, o.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = null, theirs[1], theirs[2]
	cmd.ExtraFiles = append(theirs[:1:1], o.Files...)
	cmd.SysProcAttr = childAttributes()
	if err = startCommand(cmd); err != nil {
		// The files own these descriptors; a collected file must not close a
		// descriptor that someone else has got meanwhile.
		for _, f := range theirs {
			f.Close()
		}
		opened = []int{link[0], stdout[0], stderr[0], wake[0], wake[1]}
		return nil, err
	}
	for _, f := range theirs {
		f.Close()
	}
	return &process{
		cmd:  cmd,
		link: nonblocking(link[0], "link"),
		out:  newPipes(stdout[0], stderr[0], wake),
	}, nil
}

func (p *process) pid() int {
	if p.here != nil {
		return os.Getpid()
	}
	return p.cmd.Process.Pid
}

// wait returns how the process ended. It must be called once.
func (p *process) wait() *os.ProcessState {
	if p.here != nil {
		return nil
	}
	p.cmd.Wait() // the error repeats what the state says
	return p.cmd.ProcessState
}

// nonblocking makes a file that waits in Go's poller, not in a thread.
func nonblocking(fd int, name string) *os.File {
	syscall.SetNonblock(fd, true)
	return os.NewFile(uintptr(fd), name)
}

// pipes are the reading ends of an evaluator's standard output and error.
//
// They are not in Go's poller, which would be woken up by every line that a
// cell prints; a thread waits for them, and only when nobody has reason to
// leave them alone for a while.
type pipes struct {
	fds  [2]int
	wake [2]int // a pipe that is closed to end a wait
	once sync.Once
}

func newPipes(stdout, stderr int, wake [2]int) *pipes {
	for _, fd := range []int{stdout, stderr} {
		syscall.SetNonblock(fd, true)
	}
	return &pipes{fds: [2]int{stdout, stderr}, wake: wake}
}

// wait blocks until there is something to read in one of the pipes, or one
// has ended; those that are skipped do not count. It returns false when the
// wait was ended by stop.
func (p *pipes) wait(skip [2]bool) bool {
	polled := []unix.PollFd{{Fd: int32(p.wake[0]), Events: unix.POLLIN}}
	for i, fd := range p.fds {
		if !skip[i] {
			polled = append(polled, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
		}
	}
	if _, err := retry(func() (int, error) { return unix.Poll(polled, -1) }); err != nil {
		return false
	}
	return polled[0].Revents == 0
}

// stop ends the wait, now or when it comes.
func (p *pipes) stop() { p.once.Do(func() { syscall.Close(p.wake[1]) }) }

// readNow reads what is in a pipe, or returns errWouldBlock. At the end of the
// stream it returns 0 and nil.
func (p *pipes) readNow(i int, buf []byte) (int, error) {
	n, err := retry(func() (int, error) { return syscall.Read(p.fds[i], buf) })
	if err == syscall.EAGAIN {
		return 0, errWouldBlock
	}
	return n, err
}

// close must come after stop, when nobody waits or reads any more.
func (p *pipes) close() {
	for _, fd := range []int{p.fds[0], p.fds[1], p.wake[0]} {
		syscall.Close(fd)
	}
}

// inheritedLink returns the evaluator's end of the link. It is not passed on
// to the processes that cells start: they would keep it open. It is moved to
// where no cell closes or writes to it by mistake.
func inheritedLink() (blockingFile, error) {
	kind, err := syscall.GetsockoptInt(linkFD, syscall.SOL_SOCKET, syscall.SO_TYPE)
	if err != nil || kind != syscall.SOCK_STREAM {
		return 0, errors.New("evaluate is started by the kernel, which gives it a link on file descriptor 3; there is none")
	}
	moved, err := unix.FcntlInt(linkFD, unix.F_DUPFD_CLOEXEC, movedLink)
	if err != nil { // so few descriptors are allowed
		syscall.CloseOnExec(linkFD)
		return linkFD, nil
	}
	null, err := syscall.Open(os.DevNull, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err == nil {
		err = unix.Dup2(null, linkFD)
		syscall.Close(null)
	}
	if err != nil {
		return 0, err
	}
	syscall.CloseOnExec(linkFD)
	return blockingFile(moved), nil
}

// movedLink is the least descriptor that the link is moved to.
const movedLink = 200

// blockingFile is a file that is read in a blocked thread. The evaluator's
// listener has nothing else to do, and is back sooner than by way of Go's poller.
type blockingFile int

func (f blockingFile) Read(b []byte) (int, error) {
	n, err := retry(func() (int, error) { return syscall.Read(int(f), b) })
	if n == 0 && err == nil && len(b) > 0 {
		return 0, io.EOF
	}
	return n, err
}

func (f blockingFile) Write(b []byte) (written int, err error) {
	for written < len(b) {
		n, err := retry(func() (int, error) { return syscall.Write(int(f), b[written:]) })
		if err != nil {
			return written, err
		}
		written += n
	}
	return written, nil
}

func (f blockingFile) Close() error { return syscall.Close(int(f)) }

// retry repeats a call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

// signalOf names the signal that ended a process, with its likely cause;
// empty if it exited.
func signalOf(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	switch signal := status.Signal(); signal {
	case syscall.SIGKILL:
		return "SIGKILL (kill -9, or the system ran out of memory)"
	case syscall.SIGSEGV:
		return "SIGSEGV (segmentation fault: C code used memory that it must not)"
	case syscall.SIGABRT:
		return "SIGABRT (C code called abort)"
	case syscall.SIGBUS:
		return "SIGBUS (C code used memory that is not there)"
	case syscall.SIGTERM:
		return "SIGTERM (someone asked it to end)"
	default:
		return fmt.Sprintf("%d (%s)", int(signal), signal)
	}
}
