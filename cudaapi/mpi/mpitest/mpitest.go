// Package mpitest is the conformance suite of package mpi: what MPI promises,
// as cases that run on any number of ranks, under any library. [Run] starts a
// program as ranks, once for each number of them, and the program calls [Main],
// which runs all cases one after the other. Open MPI, MPICH and the built-in
// transport pass the same cases, from one binary.
package mpitest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
	"unsafe"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi"
)

// Case is one thing that MPI promises.
type Case struct {
	Name  string
	Ranks int // how many it needs at least
	Most  int // how many it is run with at most; 0 is any number
	// Known says why the case is left out under a library that is known to fail
	// it; it says the same at all ranks.
	Known func(t *T) string
	Run   func(t *T)
}

// fewRanks is where more ranks add nothing to what two neighbours do.
const fewRanks = 4

// Cases is the whole suite.
func Cases() []Case {
	var all []Case
	for _, part := range [][]Case{typeCases(), sizeCases(), requestCases(), probeCases(), cancelCases(), errorCases(), modeCases(), stridedCases()} {
		for _, c := range part {
			c.Most = fewRanks // more ranks add nothing
			all = append(all, c)
		}
	}
	for _, part := range [][]Case{orderCases(), matchCases(), collectiveCases(), vectorCases(), inPlaceCases(), operatorCases(),
		userOpCases(), nonblockingCases(), persistentCases(), neighborCases(), partitionedCases(), winCases(), fileCases(), intercommCases(), streamCases(), symmetricCases(), commCases(), cartCases(), objectCases(), goroutineCases()} {
		all = append(all, part...)
	}
	return all
}

// runs tells whether a job of n ranks runs the case.
func (c Case) runs(n int) bool {
	return n >= c.Ranks && (c.Most == 0 || n <= c.Most) && strings.Contains(c.Name, os.Getenv(Only))
}

// T is what a case has at one rank.
type T struct {
	*mpi.Comm  // a communicator of all ranks, for the cases only
	library    string
	rank, size int
	device     *cuda.Device // where buffers are to be; nil for the host
	log        *os.File
	began      time.Time // the job
	failed     bool
	name       string
}

// Errorf records that the case has failed at this rank.
func (t *T) Errorf(format string, args ...any) {
	t.failed = true
	_, file, line, _ := runtime.Caller(1)
	for skip := 2; strings.HasSuffix(file, "mpitest.go"); skip++ {
		_, file, line, _ = runtime.Caller(skip)
	}
	t.say("fail", fmt.Sprintf("%s:%d: ", filepath.Base(file), line)+fmt.Sprintf(format, args...))
}

// Fatalf does so and ends the case at this rank.
func (t *T) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	panic(end{})
}

type end struct{}

// ok ends the case if err is an error.
func (t *T) ok(err error) {
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// is checks the class of an error.
func (t *T) is(err error, class mpi.Class) {
	if !errors.Is(err, class) {
		t.Errorf("the error is %v, not %v", err, class)
	}
}

func (t *T) same(what string, got, want any) {
	if !sameBytes(got, want) && !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, brief(got), brief(want))
	}
}

// sameBytes tells quickly of most slices that are equal that they are.
func sameBytes(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if x.Kind() != reflect.Slice || x.Type() != y.Type() || x.Len() != y.Len() || x.Len() == 0 {
		return false
	}
	n := x.Len() * int(x.Type().Elem().Size())
	return bytes.Equal(unsafe.Slice((*byte)(x.UnsafePointer()), n), unsafe.Slice((*byte)(y.UnsafePointer()), n))
}

func brief(v any) string {
	s := fmt.Sprint(v)
	if len(s) > 120 {
		s = s[:120] + "..."
	}
	return s
}

// next and prev are the neighbours round the ring of all ranks.
func (t *T) next() int { return (t.rank + 1) % t.size }
func (t *T) prev() int { return (t.rank + t.size - 1) % t.size }

// say writes a line of the rank's report.
func (t *T) say(what, text string) {
	fmt.Fprintf(t.log, "%s\t%s\t%s\n", what, t.name, strings.ReplaceAll(text, "\n", "\n\t"))
}

// The environment of a rank: the folder for its report, and what it runs.
const (
	envReports = "GOCUDA_MPITEST_REPORTS"
	envDevice  = "GOCUDA_MPITEST_DEVICE" // buffers are on devices
)

// Only is the variable of the environment for what the names of cases contain that are run.
const Only = "GOCUDA_MPITEST_ONLY"

// IsRank tells whether this process was started by [Run], and should call [Main].
func IsRank() bool { return os.Getenv(envReports) != "" }

// A case that takes so many seconds is said to hang.
const caseSeconds = 30

// Main runs the cases at this rank and ends the process.
func Main() {
	began := time.Now()
	world, err := mpi.Init()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	log, err := os.OpenFile(filepath.Join(os.Getenv(envReports), fmt.Sprintf("rank%d", world.Rank())), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	t := &T{began: began, rank: world.Rank(), size: world.Size(), log: log, name: "-"}
	info, err := mpi.LibraryInfo()
	t.library = info.Name
	path, why := mpi.Path(world, t.next())
	t.say("library", fmt.Sprintf("%v %v; device memory: %s, %s", info, err, path, why))
	if os.Getenv(envDevice) != "" {
		gpus, err := cuda.Devices()
		if err != nil {
			t.say("fail", err.Error())
			mpi.Abort(1)
		}
		t.device = gpus[t.rank%len(gpus)]
	}
	for _, c := range Cases() {
		if !c.runs(t.size) {
			continue
		}
		t.name, t.failed = c.Name, false
		if c.Known != nil {
			if why := c.Known(t); why != "" {
				t.say("skip", why)
				continue
			}
		}
		t.run(world, c)
	}
	t.name = "Finalize"
	t.say("start", time.Since(t.began).Round(time.Second).String())
	if err := mpi.Finalize(); err != nil {
		t.say("fail", err.Error())
	}
	t.say("done", "")
	os.Exit(0)
}

// run runs a case, and waits until all ranks have. Cases share a communicator as
// long as none fails. A case that does not end ends the job: nothing after it
// could be trusted.
func (t *T) run(world *mpi.Comm, c Case) {
	t.say("start", time.Since(t.began).Round(time.Second).String())
	stop := watch(time.Second, caseSeconds, func() {
		var where []string
		for _, w := range mpi.Waits() {
			where = append(where, w.String())
		}
		buf := make([]byte, 1<<20)
		t.say("hang", strings.Join(where, "; ")+"\n"+string(buf[:runtime.Stack(buf, true)]))
		time.Sleep(time.Second) // so that the others say so too
		mpi.Abort(3)
	})
	defer stop()
	must := func(err error) {
		if err != nil {
			t.say("fail", "after the case: "+err.Error())
			mpi.Abort(3)
		}
	}
	if t.Comm == nil {
		var err error
		t.Comm, err = world.Dup()
		must(err)
	}
	func() {
		defer func() {
			if p := recover(); p != nil {
				if _, ok := p.(end); !ok {
					t.failed = true
					t.say("fail", fmt.Sprintf("panic: %v\n%s", p, debug.Stack()))
				}
			}
		}()
		c.Run(t)
	}()
	mpi.SetInterrupt(nil)
	failed := false
	must(world.Allreduce(t.failed, &failed, mpi.LOr))
	if failed {
		must(t.Comm.Free())
		t.Comm = nil
	}
	t.say("done", "")
}
