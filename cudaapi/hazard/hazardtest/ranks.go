package hazardtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/hazard"
	"gocuda/cudaapi/internal/callsite"
	"gocuda/cudaapi/mpi"
	"gocuda/cudaapi/mpi/launch"
)

// A message is a program of two ranks, which both run it: right with all of its
// calls, and with one hazard, at the ranks that come to both places, without one.
type message struct {
	name  string
	run   func(r *rank)
	right bool // it lacks nothing: it has no counterpart
	two   bool // it needs two devices
	slice bool // without its wait a Go slice is raced for, which the race detector reports
}

// rank is what a program of two ranks has.
type rank struct {
	*env
	world *mpi.Comm
	me    int
	other int
	row   []float32 // of Go's
}

func init() { callsite.Pass("gocuda/cudaapi/hazard/hazardtest.(*rank).") }

// firstRequest is first for what gives a request, secondRequest is second.
func (r *rank) firstRequest(q *mpi.Request, err error) *mpi.Request {
	r.mark(0, err)
	return q
}

func (r *rank) secondRequest(q *mpi.Request, err error) *mpi.Request {
	r.mark(1, err)
	return q
}

// secondRecv is second for what gives a status.
func (r *rank) secondRecv(_ mpi.Status, err error) { r.mark(1, err) }
func (r *rank) firstRecv(_ mpi.Status, err error)  { r.mark(0, err) }

// request is a request that neither place is.
func (r *rank) request(q *mpi.Request, err error) *mpi.Request {
	r.check(err)
	return q
}

func (r *rank) wait(list ...*mpi.Request) {
	_, err := mpi.WaitAll(list...)
	r.check(err)
}

// neededWait is needed for a wait for requests.
func (r *rank) neededWait(list ...*mpi.Request) {
	if r.whole() {
		r.wait(list...)
	}
}

func (r *rank) recv(_ mpi.Status, err error) { r.check(err) }

// sends is a program of which rank 0 runs f and sends rank 1 a message in it.
func sends(f func(r *rank)) func(r *rank) {
	return func(r *rank) {
		if r.me == 0 {
			f(r)
		} else {
			r.recv(r.world.Recv(r.y, 0, 0))
		}
	}
}

// receives is one of which rank 1 runs f, and receives in it what rank 0 sends.
func receives(f func(r *rank)) func(r *rank) {
	return func(r *rank) {
		if r.me == 0 {
			r.check(r.world.Send(r.x, 1, 0))
		} else {
			f(r)
		}
	}
}

// asRank is the variable by which a rank of the tests' own job knows that it is one.
const asRank = "GOCUDA_HAZARDTEST_RANK"

// finding is what a rank says about one program.
type finding struct {
	Rank        int
	Name, Wrong string
}

type inRank struct{}

func (inRank) Helper()           {}
func (inRank) Fatal(args ...any) { panic(fmt.Sprint(args...)) }
func (inRank) Skip(args ...any)  { panic(fmt.Sprint(args...)) }

// rankMain runs every program as one of two ranks.
func rankMain() {
	world := mpi.World()
	out := json.NewEncoder(os.Stdout)
	only := os.Getenv(asRank)
	devices, err := cuda.Devices()
	if err != nil {
		panic(err)
	}
	for _, p := range messages {
		if only != "all" && p.name != only || p.two && len(devices) < 2 {
			continue
		}
		for _, all := range []bool{true, false} {
			if !all && (p.right || p.slice && raceDetector) {
				continue
			}
			name := p.name
			if !all {
				name += ", without"
			}
			wrong := p.try(world, all)
			if err := out.Encode(finding{world.Rank(), name, wrong}); err != nil {
				panic(err)
			}
		}
	}
	if err := mpi.Finalize(); err != nil {
		panic(err)
	}
	os.Exit(0)
}

func (p message) try(world *mpi.Comm, all bool) (wrong string) {
	defer func() {
		if x := recover(); x != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n%s", p.name, x, debug.Stack())
			mpi.Abort(1)
		}
	}()
	r := &rank{world: world, me: world.Rank(), other: 1 - world.Rank(), row: make([]float32, elements)}
	if err := hazard.On(); err != nil {
		return err.Error()
	}
	r.env = newEnv(inRank{})
	r.all = all
	r.check(world.Barrier())
	p.run(r)
	r.check(world.Barrier())
	list := hazard.Reports()
	if err := hazard.Off(); err != nil {
		return err.Error()
	}
	if !r.lines[0].Known() || !r.lines[1].Known() {
		r.all = true // the hazard is the other rank's
	}
	return r.verdict(list)
}

// RunRanks runs every program of two ranks on the built-in transport, as children
// of this process with the variables of env.
func RunRanks(t *testing.T, env ...string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	only := os.Getenv("GOCUDA_HAZARDTEST_ONLY")
	if only == "" {
		only = "all"
	}
	var out, failed bytes.Buffer
	status, err := launch.Run(context.Background(), 2, []string{self}, launch.Options{Stdout: &out, Stderr: &failed, Env: append(env, asRank+"="+only)})
	if err != nil || status != 0 {
		t.Errorf("exit status %d, %v\n%s", status, err, failed.String())
	}
	count := 0
	for lines := bufio.NewScanner(&out); lines.Scan(); {
		text := lines.Text()
		i := strings.IndexByte(text, '{')
		var f finding
		if i < 0 || json.Unmarshal([]byte(text[i:]), &f) != nil {
			t.Errorf("not a finding: %s", text)
			continue
		}
		count++
		if f.Wrong != "" {
			t.Errorf("%s: rank %d: %s", f.Name, f.Rank, f.Wrong)
		}
	}
	if count == 0 {
		t.Error("nothing was run")
	}
	t.Logf("%d programs at 2 ranks", count/2)
}
