package orphans

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// rounds bounds how often End looks for processes that were started while it
// was at work.
const rounds = 60

// End kills every process of a session. It returns when none is left, or after
// about a second, should some not be killable.
func End(session int) {
	for round := range rounds {
		if !kill(session) {
			return
		}
		time.Sleep(time.Duration(round) * time.Millisecond / 2)
	}
}

// kill sends SIGKILL to the processes of a session, and says whether there was
// one that had not ended yet.
func kill(session int) (found bool) {
	proc, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || stat(pid).session != session {
			continue
		}
		// The handle is of one process; its number may be another's by now.
		p, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		if s := stat(pid); s.session == session {
			if p.Kill() == nil && s.state != 'Z' {
				found = true
			}
		}
		p.Release()
	}
	return found
}

// status is what /proc says about a process; zero if there is none.
type status struct {
	state   byte
	session int
	start   string // in clock ticks since the system's
}

func stat(pid int) (s status) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return s
	}
	// The name, in parentheses, may hold anything.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return s
	}
	s.state = fields[0][0]
	s.session, _ = strconv.Atoi(string(fields[3]))
	s.start = string(fields[19])
	return s
}
