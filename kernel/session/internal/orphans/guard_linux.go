package orphans

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
)

// guardName is the guard's first argument, by which this program knows that it
// is one.
const guardName = "gocuda-guard"

// A guard is this program again. It becomes one here, before most packages
// have claimed their memory, and in any program: a test's, too.
func init() {
	if len(os.Args) == 1 && os.Args[0] == guardName {
		stand(os.Stdin)
		os.Exit(0)
	}
}

// stand is what a guard does: it reads which sessions there are, a line each,
// and ends those that are left when the process that wrote the lines is gone.
func stand(in io.Reader) {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	leaders := map[int]string{} // when each was started
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var session int
		var start string
		switch n, _ := fmt.Sscan(lines.Text(), &session, &start); n {
		case 2:
			leaders[session] = start
		case 1:
			delete(leaders, session)
		}
	}
	for session, start := range leaders {
		// A leader of another age is another session's.
		if now := stat(session).start; now == "" || now == start {
			End(session)
		}
	}
}

// guard is this process's one.
var guard struct {
	sync.Mutex
	sessions map[int]string // when their leaders were started
	to       *os.File       // nil: there is none yet
}

// Watch has the guard end a session, should this process be killed. The
// session's leader must be a child that was not waited for yet.
func Watch(session int) error {
	guard.Lock()
	defer guard.Unlock()
	if guard.sessions == nil {
		guard.sessions = map[int]string{}
	}
	guard.sessions[session] = stat(session).start
	if guard.to != nil {
		if tell(session) == nil {
			return nil
		}
		guard.to.Close() // someone killed it: there is another one
		guard.to = nil
	}
	if err := post(); err != nil {
		return fmt.Errorf("no guard for what cells start: %w", err)
	}
	for session := range guard.sessions {
		if err := tell(session); err != nil {
			return err
		}
	}
	return nil
}

func tell(session int) error {
	_, err := fmt.Fprintln(guard.to, session, guard.sessions[session])
	return err
}

// Forget takes back Watch: the session has ended.
func Forget(session int) {
	guard.Lock()
	defer guard.Unlock()
	delete(guard.sessions, session)
	if guard.to != nil {
		fmt.Fprintln(guard.to, session)
	}
}

// post starts a guard.
func post() error {
	in, to, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{guardName}
	cmd.Dir = "/"
	cmd.Stdin = in
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		to.Close()
		return err
	}
	guard.to = to
	go cmd.Wait()
	return nil
}
