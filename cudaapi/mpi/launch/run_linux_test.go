package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gocuda/cudaapi/mpi/internal/local"
	"gocuda/cudaapi/mpi/internal/transport"
)

// The programs that are run are this test binary once more.
const program = "GOCUDA_LAUNCH_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if name := os.Getenv(program); name != "" {
		os.Exit(programs[name]())
	}
	os.Exit(m.Run())
}

// rank opens the transport.
func rank() (transport.Transport, int) {
	t, err := local.Open()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(90)
	}
	return t, t.World().Rank()
}

func barrier(t transport.Transport) error {
	r, err := t.World().Start(&transport.Collective{Kind: transport.Barrier})
	if err == nil {
		_, _, err = r.(transport.Waiter).Wait(nil)
	}
	return err
}

var programs = map[string]func() int{
	"prints": func() int {
		t, rank := rank()
		for i := range 200 {
			fmt.Printf("line %d\n", i)
		}
		fmt.Fprintf(os.Stderr, "rank %d of %d, no end of line", rank, t.World().Size())
		t.Finalize()
		return 0
	},
	"echoes": func() int {
		t, rank := rank()
		var text string
		fmt.Scanln(&text)
		fmt.Printf("rank %d read %q\n", rank, text)
		t.Finalize()
		return 0
	},
	"fails": func() int {
		t, rank := rank()
		if rank == 1 {
			return 5
		}
		fmt.Println(barrier(t))
		return 6
	},
	"is killed": func() int {
		t, rank := rank()
		if rank == 1 {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		fmt.Println(barrier(t))
		return 6
	},
	"does not even come": func() int {
		if strings.HasSuffix(os.Getenv(local.EnvName), ":1:2") {
			return 4
		}
		rank()
		return 0
	},
	"does not stop": func() int {
		if t, rank := rank(); rank == 0 {
			signal.Ignore(syscall.SIGTERM)
			barrier(t)
			select {}
		}
		return 3
	},
	"aborts": func() int {
		t, rank := rank()
		if rank == 0 {
			t.Abort(77)
		}
		barrier(t)
		return 1
	},
	"waits for a signal": func() int {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGUSR1)
		t, rank := rank()
		fmt.Println("ready")
		<-c
		fmt.Printf("rank %d got it\n", rank)
		t.Finalize()
		return 0
	},
}

type output struct {
	mu   sync.Mutex
	text strings.Builder
	seen func(string)
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(b)
	if o.seen != nil {
		o.seen(string(b))
	}
	return len(b), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// run runs a program, and fails the test if it does not end.
func run(t *testing.T, ctx context.Context, n int, name string, o Options) (int, error) {
	t.Helper()
	o.Env = append(o.Env, program+"="+name)
	type result struct {
		status int
		err    error
	}
	over := make(chan result, 1)
	go func() {
		status, err := Run(ctx, n, []string{os.Args[0]}, o)
		over <- result{status, err}
	}()
	select {
	case r := <-over:
		return r.status, r.err
	case <-time.After(time.Minute):
		t.Fatalf("%s: Run does not return", name)
	}
	return 0, nil
}

func TestOutputIsLabelledByLines(t *testing.T) {
	var stdout, stderr output
	if status, err := run(t, t.Context(), 11, "prints", Options{Stdout: &stdout, Stderr: &stderr}); status != 0 || err != nil {
		t.Fatal(status, err, &stderr)
	}
	lines := strings.SplitAfter(stdout.String(), "\n")
	if len(lines) != 11*200+1 {
		t.Errorf("%d lines", len(lines))
	}
	for rank := range 11 {
		label := fmt.Sprintf("[%2d] ", rank)
		at := 0
		for _, line := range lines {
			if strings.HasPrefix(line, label) {
				if want := fmt.Sprintf("%sline %d\n", label, at); line != want {
					t.Fatalf("%q, not %q", line, want)
				}
				at++
			}
		}
		if at != 200 {
			t.Errorf("rank %d: %d lines", rank, at)
		}
		if want := fmt.Sprintf("%srank %d of 11, no end of line\n", label, rank); !strings.Contains(stderr.String(), want) {
			t.Errorf("no %q in %q", want, &stderr)
		}
	}
}

func TestStdinIsOfRank0(t *testing.T) {
	var stdout output
	status, err := run(t, t.Context(), 2, "echoes", Options{Stdout: &stdout, Stdin: strings.NewReader("hello\n"), Plain: true})
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	slices.Sort(lines)
	if want := []string{`rank 0 read "hello"`, `rank 1 read ""`}; status != 0 || err != nil || !slices.Equal(lines, want) {
		t.Error(status, err, lines)
	}
}

func TestARankThatFails(t *testing.T) {
	for name, want := range map[string]struct {
		status int
		says   []string
	}{
		"fails":              {5, []string{"mpirun: rank 1 failed: exit status 5\n", "MPI_ERR_PROC_FAILED"}},
		"is killed":          {137, []string{"mpirun: rank 1 failed: signal: killed\n", "MPI_ERR_PROC_FAILED"}},
		"does not even come": {4, []string{"mpirun: rank 1 failed: exit status 4\n", "[0] MPI_Init: MPI_ERR_PROC_FAILED: rank 1 of the world was lost: exit status 4"}},
		"does not stop":      {3, []string{"mpirun: rank 1 failed: exit status 3\n"}},
		"aborts":             {77, []string{"mpirun: rank 0 aborts with exit code 77\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out output
			grace := time.Minute // to say what they saw
			if name == "does not stop" {
				grace = 100 * time.Millisecond
			}
			status, err := run(t, t.Context(), 2, name, Options{Stdout: &out, Stderr: &out, Grace: grace})
			if status != want.status || err != nil {
				t.Errorf("status %d, not %d (%v)", status, want.status, err)
			}
			for _, says := range want.says {
				if !strings.Contains(out.String(), says) {
					t.Errorf("no %q in %q", says, &out)
				}
			}
		})
	}
}

func TestTheContextEndsTheRanks(t *testing.T) {
	for _, name := range []string{"waits for a signal", "does not stop"} {
		ctx, cancel := context.WithCancel(t.Context())
		out := &output{}
		out.seen = func(text string) { cancel() }
		if name == "does not stop" {
			time.AfterFunc(100*time.Millisecond, cancel)
		}
		if _, err := run(t, ctx, 2, name, Options{Stdout: out, Grace: 100 * time.Millisecond}); !errors.Is(err, context.Canceled) && name != "does not stop" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSignalsArePassedOn(t *testing.T) {
	signals := make(chan os.Signal, 1)
	var out output
	ready := 0
	out.seen = func(text string) {
		if ready += strings.Count(text, "ready"); ready == 3 {
			ready++
			signals <- syscall.SIGUSR1
		}
	}
	status, err := run(t, t.Context(), 3, "waits for a signal", Options{Stdout: &out, Signals: signals})
	if status != 0 || err != nil || strings.Count(out.String(), "got it") != 3 {
		t.Error(status, err, &out)
	}
}

func TestWhatCannotRun(t *testing.T) {
	for _, c := range []struct {
		n    int
		argv []string
		want string
	}{
		{2, nil, "no program"},
		{0, []string{"x"}, "1 to 512 ranks, not 0"},
		{2, []string{"/no/such/program"}, "rank 0: "},
	} {
		if _, err := Run(t.Context(), c.n, c.argv, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d of %q: %v", c.n, c.argv, err)
		}
	}
}

func TestEventsOfAJob(t *testing.T) {
	job, err := New(2)
	if err != nil {
		t.Fatal(err)
	}
	defer job.Close()
	job.Lost(1, "exit status 3")
	job.Lost(1, "again")
	job.Lost(7, "no such rank")
	var got []Event
	job.Watch(func(e Event) { got = append(got, e) })
	if want := []Event{{Kind: Lost, Rank: 1, Text: "exit status 3"}}; !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if env := job.Env(1); len(env) != 1 || !strings.HasPrefix(env[0], local.EnvName+"=") || job.Size() != 2 {
		t.Errorf("%q, %d", env, job.Size())
	}
}
