package session

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"gocuda/kernel/session/link"
)

// exitGrace is how long an evaluator may take to exit when asked.
const exitGrace = 2 * time.Second

// child is an evaluator process of this one, from its start to its death.
type child struct {
	*Client
	proc     *process
	outputs  *collector
	oomKills int // of the system when it started

	dead  chan struct{} // closed when it is gone; death is set then
	death death

	mu       sync.Mutex
	unlinked bool   // its link has ended
	ending   string // why it is ended, if it does not end by itself
}

// death is how an evaluator ended.
type death struct {
	state *os.ProcessState
	words string // the end of its standard error
	oom   bool   // the system killed processes since it could not find memory, while it ran
	// ending is why its parent ended it; empty when it ended by itself.
	ending string
}

// startChild starts a process. gone is called once, when its link has ended: it
// takes no more requests, and may still be on its way out.
func startChild(o *Options, gone func(*child)) (*child, error) {
	proc, err := startProcess(o)
	if err != nil {
		return nil, fmt.Errorf("cannot start the evaluator %q: %w", o.Command[0], err)
	}
	c := &child{
		proc:    proc,
		outputs: newCollector(proc.out, o.Output),
		dead:    make(chan struct{}),

		oomKills: oomKills(),
	}
	c.Client = NewClient(link.New(proc.link), ClientOptions{
		Output: c.outputs.show, Input: o.Input, flush: c.outputs.flush, question: c.outputs.question,
		ready: func() {
			if err := proc.watch(); err != nil {
				o.Log.Warn("should the kernel be killed, processes of cells may stay", "error", err)
			}
		},
	})
	go func() {
		err := c.Listen()
		// An evaluator that dies while it writes cuts a frame short; only a frame
		// that is invalid needs telling.
		if errors.Is(err, link.ErrDamaged) || errors.Is(err, link.ErrTooLong) || errors.Is(err, ErrNonsense) {
			c.end("it sent invalid data over its link (does a cell write to a file descriptor that it did not open?)")
		}
		if !c.proc.exited() {
			c.end(closedLink)
		}
		c.unlink()
		gone(c)
		c.wait()
		close(c.dead)
	}()
	return c, nil
}

// quit asks the process to exit, ends it if it does not, and waits for that.
func (c *child) quit(why string) {
	c.mu.Lock()
	if c.ending == "" {
		c.ending = why
	}
	c.mu.Unlock()
	c.Quit()
	select {
	case <-c.dead:
	case <-time.After(exitGrace):
		c.end(why)
		<-c.dead
	}
}

// end kills the process at once, for a reason that its death will tell.
func (c *child) end(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unlinked {
		return // its process id may be someone else's by now
	}
	if c.ending == "" {
		c.ending = why
	}
	c.proc.kill()
}

// unlink ends what is left. The process closes its link when its exit status is
// settled; what is left are the processes that its cells started.
func (c *child) unlink() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.proc.kill()
	c.unlinked = true
}

// wait waits until the process is gone and takes away what is left of it.
func (c *child) wait() {
	state := c.proc.wait()
	c.proc.unwatch()
	c.Close()
	words := c.outputs.close(state != nil && state.ExitCode() == runtimeExit)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.death = death{state: state, ending: c.ending, words: words, oom: oomKills() > c.oomKills}
}

// oomKills is how many processes Linux has killed since there was no memory left; 0: that
// is not known.
func oomKills() (n int) {
	text, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), "\noom_kill ")
	fmt.Sscan(after, &n)
	return n
}

// wasReady says whether the evaluator ever got as far as running cells.
func (c *child) wasReady() bool {
	select {
	case <-c.ready:
		return true
	default:
		return false
	}
}
