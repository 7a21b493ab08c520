package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Options are how [Run] runs a program. The zero Options are for a program
// that shows nothing.
type Options struct {
	// Stdout and Stderr get what the ranks print, in whole lines with the rank
	// before them, or, if Plain, as it comes. Stderr also gets Run's own words.
	Stdout, Stderr io.Writer
	Plain          bool
	// Stdin is rank 0's; the others have none.
	Stdin io.Reader
	// Dir is the ranks' working directory, Env is added to their environment.
	Dir string
	Env []string
	// Signals are passed on to the ranks.
	Signals <-chan os.Signal
	// Grace is how long ranks may take to end once one has failed or they were
	// told to, before they are killed. 0 is 3 seconds.
	Grace time.Duration
	// GoOn leaves the others alone when a rank fails: they learn that it is lost. The status
	// is 0 if a rank ends well.
	GoOn bool
}

const defaultGrace = 3 * time.Second

// Run starts n ranks of a program and waits until all have ended. The status
// is 0, or that of the first rank that failed, as a shell counts it: its exit
// status, or 128 and the number of the signal that ended it. When a rank fails
// the others are told, as a lost rank, and ended if they do not end by
// themselves. When ctx is done all are ended. An error says that the program
// could not be started, or that ctx ended it.
func Run(ctx context.Context, n int, argv []string, o Options) (status int, err error) {
	if len(argv) == 0 {
		return 0, errors.New("launch.Run: no program given")
	}
	job, err := New(n)
	if err != nil {
		return 0, err
	}
	defer job.Close()
	r := newRunner(job, n, o)
	if r.options.Grace == 0 {
		r.options.Grace = defaultGrace
	}
	job.Watch(r.happened)
	// The ranks are to die with the thread that starts them, should this
	// process be killed: so the thread must last.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for rank := range n {
		if err := r.start(rank, argv); err != nil {
			r.signal(os.Kill)
			for range r.running {
				<-r.ends
			}
			return 0, fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	return r.wait(ctx)
}

type runner struct {
	job     *Job
	options Options
	lines   sync.Mutex // whole lines of all ranks
	running map[int]*exec.Cmd
	ends    chan end
	aborts  chan Event
	known   struct { // of the ranks, by the job's events
		sync.Mutex
		joined map[int]bool // and not over
		lost   int          // the first one, or -1
	}
}

func newRunner(job *Job, ranks int, o Options) *runner {
	r := &runner{job: job, options: o, ends: make(chan end, ranks), aborts: make(chan Event, ranks), running: map[int]*exec.Cmd{}}
	r.known.joined, r.known.lost = map[int]bool{}, -1
	return r
}

type end struct {
	rank int
	err  error
}

func (r *runner) start(rank int, argv []string) error {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = r.options.Dir
	c.Env = append(append(os.Environ(), r.options.Env...), r.job.Env(rank)...)
	c.SysProcAttr = attributes()
	c.WaitDelay = time.Second // for output that a rank's own children hold open
	out, err := r.writer(r.options.Stdout, rank), r.writer(r.options.Stderr, rank)
	c.Stdout, c.Stderr = out, err
	if rank == 0 && r.options.Stdin != nil {
		in, err := c.StdinPipe()
		if err != nil {
			return err
		}
		go func() {
			io.Copy(in, r.options.Stdin)
			in.Close()
		}()
	}
	if err := c.Start(); err != nil {
		return err
	}
	r.running[rank] = c
	go func() {
		failed := c.Wait()
		out.flush()
		err.flush()
		r.ends <- end{rank, failed}
	}()
	return nil
}

// happened hears of the job's events.
func (r *runner) happened(e Event) {
	r.known.Lock()
	defer r.known.Unlock()
	switch e.Kind {
	case Joined:
		r.known.joined[e.Rank] = true
	case Left:
		delete(r.known.joined, e.Rank)
	case Aborted:
		select {
		case r.aborts <- e:
		default: // many want the same
		}
	case Lost:
		delete(r.known.joined, e.Rank)
		if r.known.lost < 0 {
			r.known.lost = e.Rank
		}
	case Refused:
		r.say("refused a connection: " + e.Text)
	}
}

func (r *runner) say(text string) {
	if r.options.Stderr == nil {
		return
	}
	r.lines.Lock()
	defer r.lines.Unlock()
	fmt.Fprintln(r.options.Stderr, "mpirun: "+text)
}

// wait collects the ranks' ends.
func (r *runner) wait(ctx context.Context) (status int, err error) {
	var (
		done     = ctx.Done()
		deadline <-chan time.Time
		next     os.Signal = terminate
	)
	// stop ends the ranks that are left: asked, after grace told, then killed.
	stop := func(first os.Signal) {
		if first != nil {
			r.signal(first)
			next = os.Kill
		}
		if deadline == nil {
			deadline = time.After(r.options.Grace)
		}
	}
	var (
		held  *end // a failure that the loss of another rank may have caused
		known <-chan time.Time
	)
	fail := func(e *end) {
		if e != nil && status == 0 && err == nil {
			code, how := outcome(e.err)
			status = code
			r.say(fmt.Sprintf("rank %d failed: %s", e.rank, how))
			if !r.options.GoOn {
				stop(nil)
			}
		}
	}
	well := false // a rank has ended so
	abort := func(a Event) {
		if status == 0 {
			status = a.Code
			r.say(fmt.Sprintf("rank %d aborts with exit code %d", a.Rank, a.Code))
		}
		stop(nil)
	}
	for len(r.running) > 0 {
		select {
		case e := <-r.ends:
			code, how := outcome(e.err)
			delete(r.running, e.rank)
			if code == 0 {
				well = true
				continue
			}
			r.settle(e.rank)
			r.job.Lost(e.rank, how)
			select {
			case a := <-r.aborts: // it went on to end
				abort(a)
			default:
			}
			if lost := r.firstLost(); lost != e.rank && r.running[lost] != nil {
				if held == nil {
					held, known = &e, time.After(r.options.Grace)
				}
				continue
			}
			fail(&e)
		case <-known:
			fail(held)
		case a := <-r.aborts:
			abort(a)
		case s := <-r.options.Signals:
			r.signal(s)
		case <-done:
			done = nil
			err = context.Cause(ctx)
			stop(terminate)
		case <-deadline:
			r.signal(next)
			next, deadline = os.Kill, time.After(r.options.Grace)
		}
	}
	fail(held)
	if r.options.GoOn && well {
		status = 0
	}
	return status, err
}

// settle waits until the job has read what a rank that has ended still said.
func (r *runner) settle(rank int) {
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		r.known.Lock()
		heard := !r.known.joined[rank]
		r.known.Unlock()
		if heard {
			return
		}
	}
}

func (r *runner) firstLost() int {
	r.known.Lock()
	defer r.known.Unlock()
	return r.known.lost
}

// signal sends to all ranks that run, and their children.
func (r *runner) signal(s os.Signal) {
	for _, c := range r.running {
		signalGroup(c.Process, s)
	}
}

// outcome is how a process ended, as a shell counts it and in words.
func outcome(err error) (code int, how string) {
	var failed *exec.ExitError
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return 0, ""
	case !errors.As(err, &failed):
		return 1, err.Error()
	case failed.ExitCode() < 0:
		return 128 + signalNumber(failed.ProcessState), failed.String()
	}
	return failed.ExitCode(), failed.String()
}

// labels puts a rank's name before its lines.
type labels struct {
	mu    *sync.Mutex
	to    io.Writer
	label string
	plain bool
	rest  []byte // of a line that is not whole
}

func (r *runner) writer(to io.Writer, rank int) *labels {
	if to == nil {
		to = io.Discard
	}
	width := len(fmt.Sprint(r.job.Size() - 1))
	return &labels{mu: &r.lines, to: to, label: fmt.Sprintf("[%*d] ", width, rank), plain: r.options.Plain}
}

// maxLine is the longest line that is kept together.
const maxLine = 64 << 10

func (l *labels) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.plain {
		return l.to.Write(b)
	}
	l.rest = append(l.rest, b...)
	end := bytes.LastIndexByte(l.rest, '\n') + 1
	if end == 0 && len(l.rest) < maxLine {
		return len(b), nil
	}
	if end == 0 {
		end = len(l.rest)
	}
	err := l.print(string(l.rest[:end]))
	l.rest = append(l.rest[:0], l.rest[end:]...)
	return len(b), err
}

func (l *labels) print(text string) error {
	var s strings.Builder
	for line := range strings.Lines(text) {
		s.WriteString(l.label)
		s.WriteString(line)
	}
	if !strings.HasSuffix(text, "\n") {
		s.WriteByte('\n')
	}
	_, err := io.WriteString(l.to, s.String())
	return err
}

// flush prints a last line without an end.
func (l *labels) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.rest) > 0 {
		l.print(string(l.rest))
		l.rest = nil
	}
}
