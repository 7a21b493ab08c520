//go:build unix

package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// linkFD is where an evaluator finds its end of the link.
const linkFD = 3

var errWouldBlock = errors.New("nothing to read now")

// process is a running evaluator as the operating system sees it.
type process struct {
	cmd            *exec.Cmd
	link           io.ReadWriteCloser
	stdout, stderr *pollFile
}

// startProcess starts a command in a process group of its own, with the link
// on descriptor 3 and its outputs in pipes.
func startProcess(command []string, dir string, env []string) (p *process, err error) {
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
	link, stdout, stderr := open(socketPair), open(pipePair), open(pipePair)
	if err != nil {
		return nil, fmt.Errorf("cannot make the evaluator's link and pipes: %w", err)
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
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = null, theirs[1], theirs[2]
	cmd.ExtraFiles = theirs[:1]
	cmd.SysProcAttr = childAttributes()
	if err = startChild(cmd); err != nil {
		// The files own these descriptors; a collected file must not close a
		// descriptor that someone else has got meanwhile.
		for _, f := range theirs {
			f.Close()
		}
		opened = []int{link[0], stdout[0], stderr[0]}
		return nil, err
	}
	for _, f := range theirs {
		f.Close()
	}
	return &process{
		cmd:    cmd,
		link:   nonblocking(link[0], "link"),
		stdout: newPollFile(stdout[0], "stdout"),
		stderr: newPollFile(stderr[0], "stderr"),
	}, nil
}

// killGroup ends the evaluator and the processes that its cells started.
func (p *process) killGroup() {
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// wait returns how the process ended. It must be called once.
func (p *process) wait() *os.ProcessState {
	p.cmd.Wait() // the error repeats what the state says
	return p.cmd.ProcessState
}

// nonblocking makes a file that waits in Go's poller, not in a thread.
func nonblocking(fd int, name string) *os.File {
	syscall.SetNonblock(fd, true)
	return os.NewFile(uintptr(fd), name)
}

// pollFile is the reading end of a pipe.
type pollFile struct {
	file *os.File
	raw  syscall.RawConn
}

func newPollFile(fd int, name string) *pollFile {
	f := nonblocking(fd, name)
	raw, err := f.SyscallConn()
	if err != nil {
		panic(err) // only for a nil file
	}
	return &pollFile{file: f, raw: raw}
}

// whenReadable calls f whenever there may be something to read, until f
// returns true. It returns an error once the file is closed.
func (p *pollFile) whenReadable(f func() bool) error {
	return p.raw.Read(func(uintptr) bool { return f() })
}

// readNow reads what is there, or returns errWouldBlock. At the end of the
// stream it returns 0 and nil.
func (p *pollFile) readNow(buf []byte) (n int, err error) {
	ctlErr := p.raw.Control(func(fd uintptr) {
		n, err = retry(func() (int, error) { return syscall.Read(int(fd), buf) })
	})
	if ctlErr != nil {
		return 0, ctlErr
	}
	if err == syscall.EAGAIN {
		return 0, errWouldBlock
	}
	return n, err
}

func (p *pollFile) close() { p.file.Close() }

// inheritedLink returns the evaluator's end of the link. It is not passed on
// to the processes that cells start: they would keep it open.
func inheritedLink() (io.ReadWriteCloser, error) {
	kind, err := syscall.GetsockoptInt(linkFD, syscall.SOL_SOCKET, syscall.SO_TYPE)
	if err != nil || kind != syscall.SOCK_STREAM {
		return nil, errors.New("evaluate is started by the kernel, which gives it a link on file descriptor 3; there is none")
	}
	syscall.CloseOnExec(linkFD)
	return blockingFile(linkFD), nil
}

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

// signalOf names the signal that ended a process, with what is likely behind
// it; empty if it exited.
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
		return "SIGABRT (C code gave up and called abort)"
	case syscall.SIGBUS:
		return "SIGBUS (C code used memory that is not there)"
	case syscall.SIGTERM:
		return "SIGTERM (someone asked it to end)"
	default:
		return fmt.Sprintf("%d (%s)", int(signal), signal)
	}
}
