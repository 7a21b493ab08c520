package local

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gocuda/cudaapi/mpi/internal/transport"
)

// The tests' ranks are this test binary once more: caseName says what they do.
const (
	caseName      = "GOCUDA_LOCAL_TEST_CASE"
	casePartsOnly = "GOCUDA_LOCAL_TEST_PARTS"
)

var rankCases = map[string]func(t transport.Transport) error{}

func TestMain(m *testing.M) {
	if name := os.Getenv(caseName); name != "" {
		os.Exit(beRank(name))
	}
	os.Exit(m.Run())
}

func beRank(name string) int {
	partsOnly = os.Getenv(casePartsOnly) != ""
	t, err := Open()
	if err == nil {
		t.(*local).e.direct = true // unless partsOnly
		err = rankCases[name](t)
	}
	if err == nil {
		err = t.Finalize()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	return 0
}

// ranks are the processes of a job.
type ranks struct {
	t      *testing.T
	hub    *Hub
	cmds   []*exec.Cmd
	out    []strings.Builder
	mu     sync.Mutex
	events []Event
}

// startRanks starts a job whose ranks run a case.
func startRanks(t *testing.T, n int, name string, env ...string) *ranks {
	t.Helper()
	r := &ranks{t: t, cmds: make([]*exec.Cmd, n), out: make([]strings.Builder, n)}
	var err error
	r.hub, err = NewHub(n, func(e Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.hub.Close() })
	for i := range n {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), caseName+"="+name, r.hub.Env(i))
		c.Env = append(c.Env, env...)
		c.Stdout, c.Stderr = &r.out[i], &r.out[i]
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		r.cmds[i] = c
	}
	return r
}

// wait gives each rank's exit status; -1 for one that a signal ended.
func (r *ranks) wait() []int {
	r.t.Helper()
	codes := make([]int, len(r.cmds))
	timeout := time.AfterFunc(time.Minute, func() {
		for _, c := range r.cmds {
			c.Process.Signal(syscall.SIGQUIT) // for the goroutines' traces
		}
	})
	defer timeout.Stop()
	for i, c := range r.cmds {
		c.Wait()
		codes[i] = c.ProcessState.ExitCode()
	}
	return codes
}

// mustPass fails the test unless all ranks end well.
func (r *ranks) mustPass() {
	r.t.Helper()
	for i, code := range r.wait() {
		if code != 0 {
			r.t.Errorf("rank %d ended with %d:\n%s", i, code, &r.out[i])
		}
	}
}
