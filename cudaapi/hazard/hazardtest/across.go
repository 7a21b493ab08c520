package hazardtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/hazard"
	"gocuda/cudaapi/mpi"
	"gocuda/cudaapi/mpi/launch"
	"gocuda/cudaapi/streamsync"
)

// An across is a program of several ranks, one of which has memory of another open:
// right with all of its calls, and with one hazard between what two ranks do without
// one.
type across struct {
	name  string
	ranks int // 2 if 0
	right bool
	run   func(r *rank, o *handed)
}

// handed is what the ranks share: rank 0's x, which is theirs at the others, and an
// event of each rank that the others have open.
type handed struct {
	theirs *cuda.Buffer
	events []*cuda.Event // by rank
	mine   *cuda.Event
}

// share opens it all.
func (r *rank) share() *handed {
	o := &handed{theirs: r.x}
	memory, err := r.x.IPCHandle()
	r.check(err)
	r.check(r.world.BcastObject(&memory, 0))
	if r.me != 0 {
		o.theirs, err = r.d0.OpenIPC(memory)
		r.check(err)
	}
	o.mine, err = r.d0.NewEvent(cuda.Interprocess, cuda.DisableTiming)
	r.check(err)
	handle, err := o.mine.IPCHandle()
	r.check(err)
	all := make([]cuda.IPCEvent, r.world.Size())
	r.check(r.world.AllgatherObject(handle, &all))
	for i, h := range all {
		e := o.mine
		if i != r.me {
			e, err = r.d0.OpenIPCEvent(h)
			r.check(err)
		}
		o.events = append(o.events, e)
	}
	return o
}

// tell and hear are a message without content.
func (r *rank) tell(to int)   { r.check(r.world.Send([]byte{}, to, 5)) }
func (r *rank) hear(from int) { r.recv(r.world.Recv([]byte{}, from, 5)) }

// filled is rank 0's part of many: x is written, and waited for.
func (r *rank) filled() {
	_, file, line, _ := runtime.Caller(1)
	r.lines[0] = hazard.Place{File: path.Base(file), Line: line}
	r.check(r.fill(r.a, r.x))
	r.check(r.a.Synchronize())
}

// acrossFinding is what a rank says about one program.
type acrossFinding struct {
	Rank   int
	Name   string
	All    bool
	Lines  [2]hazard.Place // that it has come to
	Folder string
	Local  string // what its own check says
}

// acrossMain runs every program as one of several ranks, with a folder for the
// records of each.
func acrossMain() {
	world := mpi.World()
	out := json.NewEncoder(os.Stdout)
	folder, only := os.Getenv(asRank+"_FOLDER"), os.Getenv(asRank)
	for i, p := range acrosses {
		if max(p.ranks, 2) != world.Size() || only != "all" && only != p.name {
			continue
		}
		for _, all := range []bool{true, false} {
			if p.right && !all {
				continue
			}
			f := p.try(world, all, filepath.Join(folder, fmt.Sprint(i, all)))
			if err := out.Encode(f); err != nil {
				panic(err)
			}
		}
	}
	if err := mpi.Finalize(); err != nil {
		panic(err)
	}
	os.Exit(0)
}

func (p across) try(world *mpi.Comm, all bool, folder string) acrossFinding {
	defer func() {
		if x := recover(); x != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n%s", p.name, x, debug.Stack())
			mpi.Abort(1)
		}
	}()
	r := &rank{world: world, me: world.Rank(), other: 1 - world.Rank(), row: make([]float32, elements)}
	os.Setenv(hazard.Env, folder)
	if err := hazard.FromEnv(); err != nil {
		panic(err)
	}
	r.env = newEnv(inRank{})
	r.all = all
	o := r.share()
	r.check(cuda.Synchronize())
	r.check(world.Barrier())
	p.run(r, o)
	r.check(cuda.Synchronize())
	r.check(world.Barrier())
	list := hazard.Reports()
	r.check(hazard.Off())
	if r.me != 0 {
		_ = o.theirs.Free() // some programs have done so
	}
	r.check(world.Barrier()) // so that nobody frees what others have open
	f := acrossFinding{Rank: r.me, Name: p.name, All: all, Lines: r.lines, Folder: folder}
	if all || !r.lines[0].Known() || !r.lines[1].Known() {
		f.Local = list.String()
	}
	return f
}

// RunAcross runs every program of several ranks on the built-in transport, as
// children of this process with the variables of env, and checks their records.
func RunAcross(t *testing.T, env ...string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	only := os.Getenv("GOCUDA_HAZARDTEST_ONLY")
	if only == "" {
		only = "all"
	}
	count := 0
	for _, n := range []int{2, 3} {
		var out, failed bytes.Buffer
		with := append(slices.Clone(env), asRank+"="+only, asRank+"_ACROSS=1", asRank+"_FOLDER="+t.TempDir())
		status, err := launch.Run(context.Background(), n, []string{self}, launch.Options{Stdout: &out, Stderr: &failed, Env: with})
		if err != nil || status != 0 {
			t.Errorf("exit status %d, %v\n%s", status, err, failed.String())
		}
		found := map[string][]acrossFinding{}
		for lines := bufio.NewScanner(&out); lines.Scan(); {
			text := lines.Text()
			i := strings.IndexByte(text, '{')
			var f acrossFinding
			if i < 0 || json.Unmarshal([]byte(text[i:]), &f) != nil {
				t.Errorf("not a finding: %s", text)
				continue
			}
			if f.Local != "" {
				t.Errorf("%s, all %v: rank %d alone says\n%s", f.Name, f.All, f.Rank, f.Local)
			}
			found[f.Folder] = append(found[f.Folder], f)
		}
		for folder, ranks := range found {
			count++
			if len(ranks) != n {
				t.Errorf("%s: %d of %d ranks", ranks[0].Name, len(ranks), n)
				continue
			}
			checkAcross(t, folder, ranks)
		}
	}
	if count == 0 {
		t.Error("nothing was run")
	}
	t.Logf("%d programs", count)
}

// checkAcross compares what the records of all ranks show with where the hazard is.
func checkAcross(t *testing.T, folder string, ranks []acrossFinding) {
	processes, list, err := hazard.Read(folder)
	if err != nil || processes != len(ranks) {
		t.Errorf("%s: %d records of %d, %v", ranks[0].Name, processes, len(ranks), err)
		return
	}
	if ranks[0].All {
		if len(list) > 0 {
			t.Errorf("%s: nothing is missing, but\n%v", ranks[0].Name, list)
		}
		return
	}
	var want [2]string
	for _, f := range ranks {
		for i, line := range f.Lines {
			if line.Known() {
				want[i] = fmt.Sprint(line, ", rank ", f.Rank)
			}
		}
	}
	slices.Sort(want[:])
	ok := false
	for _, r := range list {
		got := []string{fmt.Sprint(r.First.Place, ", rank ", r.First.Rank), fmt.Sprint(r.Second.Place, ", rank ", r.Second.Rank)}
		slices.Sort(got)
		ok = ok || slices.Equal(got, want[:]) && r.Missing != "" && r.Fix != ""
	}
	if !ok || len(list) != 1 {
		t.Errorf("%s, without: not the one report of %q, but\n%v", ranks[0].Name, want, list)
	}
}

var acrosses = []across{
	{name: "the kernel is done before the message", run: func(r *rank, o *handed) {
		if r.me == 0 {
			r.first(r.fill(r.a, r.x))
			r.needed(r.a.Synchronize)
			r.tell(1)
		} else {
			r.hear(0)
			r.second(r.read(r.b, o.theirs))
		}
	}},
	{name: "a message says that it is done", run: func(r *rank, o *handed) {
		said := r.whole()
		if r.me == 0 {
			r.filled()
			if said {
				r.tell(1)
			}
		} else {
			if said {
				r.hear(0)
			}
			r.second(r.read(r.b, o.theirs))
		}
	}},
	{name: "a barrier says that it is done", run: func(r *rank, o *handed) {
		said := r.whole()
		if r.me == 0 {
			r.filled()
		}
		if said {
			r.check(r.world.Barrier())
		}
		if r.me == 1 {
			r.second(r.read(r.b, o.theirs))
		}
	}},
	{name: "a barrier does not wait for streams", run: func(r *rank, o *handed) {
		if r.me == 0 {
			r.first(r.fill(r.a, r.x))
			r.needed(r.a.Synchronize)
		}
		r.check(r.world.Barrier())
		if r.me == 1 {
			r.second(r.read(r.b, o.theirs))
		}
	}},
	{name: "the barrier is between", run: func(r *rank, o *handed) {
		late := !r.whole()
		if r.me == 0 {
			r.filled()
		} else if late {
			r.second(r.read(r.b, o.theirs))
		}
		r.check(r.world.Barrier())
		if r.me == 1 && !late {
			r.check(r.read(r.b, o.theirs))
		}
	}},
	{name: "the barrier's request is waited for", run: func(r *rank, o *handed) {
		if r.me == 0 {
			r.filled()
		}
		q, err := r.world.Ibarrier()
		r.check(err)
		r.neededWait(q)
		if r.me == 1 {
			r.second(r.read(r.b, o.theirs))
		}
		r.wait(q)
	}},
	{name: "a barrier of all, not of this rank alone", run: func(r *rank, o *handed) {
		if r.me == 0 {
			r.filled()
		}
		if r.whole() {
			r.check(r.world.Barrier())
		} else {
			r.check(mpi.Self().Barrier())
		}
		if r.me == 1 {
			r.second(r.read(r.b, o.theirs))
		}
	}},
	{name: "a receive's request is waited for", run: func(r *rank, o *handed) {
		if r.me == 0 {
			r.filled()
			r.tell(1)
		} else {
			q := r.request(r.world.Irecv([]byte{}, 0, 5))
			r.neededWait(q)
			r.second(r.read(r.b, o.theirs))
			r.wait(q)
		}
	}},
	{name: "requests that end in another order", right: true, run: func(r *rank, o *handed) {
		if r.me == 0 {
			r.tell(1)
			r.filled()
			r.tell(1)
		} else {
			one := r.request(r.world.Irecv([]byte{}, 0, 5))
			two := r.request(r.world.Irecv([]byte{}, 0, 5))
			r.wait(two)
			r.check(r.read(r.b, o.theirs))
			r.wait(one)
		}
	}},
	{name: "the second of two messages", run: func(r *rank, o *handed) {
		if r.me == 0 {
			r.tell(1)
			r.filled()
			r.tell(1)
		} else {
			r.hear(0)
			late := !r.whole()
			if late {
				r.second(r.read(r.b, o.theirs))
			}
			r.hear(0)
			if !late {
				r.check(r.read(r.b, o.theirs))
			}
		}
	}},
	{name: "the message of the right tag", run: func(r *rank, o *handed) {
		if r.me == 0 {
			early := r.request(r.world.Isend([]byte{}, 1, 6))
			r.filled()
			r.tell(1)
			r.wait(early)
		} else {
			if r.whole() {
				r.hear(0)
			} else {
				r.recv(r.world.Recv([]byte{}, 0, 6))
			}
			r.second(r.read(r.b, o.theirs))
			if r.all {
				r.recv(r.world.Recv([]byte{}, 0, 6))
			} else {
				r.hear(0)
			}
		}
	}},
	{name: "the message of the right communicator", run: func(r *rank, o *handed) {
		dup, err := r.world.Dup()
		r.check(err)
		if r.me == 0 {
			early := r.request(dup.Isend([]byte{}, 1, 5))
			r.filled()
			r.tell(1)
			r.wait(early)
		} else {
			if r.whole() {
				r.hear(0)
			} else {
				r.recv(dup.Recv([]byte{}, 0, 5))
			}
			r.second(r.read(r.b, o.theirs))
			if r.all {
				r.recv(dup.Recv([]byte{}, 0, 5))
			} else {
				r.hear(0)
			}
		}
	}},
	{name: "a message from anybody with any tag", run: func(r *rank, o *handed) {
		if r.me == 0 {
			r.first(r.fill(r.a, r.x))
			r.needed(r.a.Synchronize)
			r.check(r.world.Send([]float64{1}, 1, 9))
		} else {
			r.recv(r.world.Recv(make([]float64, 4), mpi.AnySource, mpi.AnyTag))
			r.second(r.read(r.b, o.theirs))
		}
	}},
	{name: "an object says it", run: func(r *rank, o *handed) {
		if r.me == 0 {
			r.first(r.fill(r.a, r.x))
			r.needed(r.a.Synchronize)
			r.check(r.world.SendObject(map[string]int{"step": 1}, 1, 0))
		} else {
			var said map[string]int
			r.recv(r.world.RecvObject(&said, 0, 0))
			r.second(r.read(r.b, o.theirs))
		}
	}},
	{name: "a synchronous send tells the sender", run: func(r *rank, o *handed) {
		if r.me == 1 {
			r.first(r.read(r.b, o.theirs))
			r.check(r.b.Synchronize())
			r.hear(0)
		} else {
			if r.whole() {
				r.check(r.world.Ssend([]byte{}, 1, 5))
			} else {
				r.tell(1) // may return at once
			}
			r.second(r.fill(r.a, r.x))
		}
	}},
	{name: "a synchronous send's request is waited for", run: func(r *rank, o *handed) {
		if r.me == 1 {
			r.first(r.read(r.b, o.theirs))
			r.check(r.b.Synchronize())
			r.hear(0)
		} else {
			q := r.request(r.world.Issend([]byte{}, 1, 5))
			r.neededWait(q)
			r.second(r.fill(r.a, r.x))
			r.wait(q)
		}
	}},
	{name: "the reader says that it is done", run: func(r *rank, o *handed) {
		if r.me == 1 {
			r.first(r.read(r.b, o.theirs))
			r.needed(r.b.Synchronize)
			r.tell(0)
		} else {
			r.hear(1)
			r.second(r.fill(r.a, r.x))
		}
	}},
	{name: "a broadcast tells nothing to its root", run: func(r *rank, o *handed) {
		if r.me == 1 {
			r.first(r.read(r.b, o.theirs))
			r.check(r.b.Synchronize())
		}
		if r.whole() {
			r.check(r.world.Barrier())
		} else {
			r.check(r.world.Bcast(r.row, 0))
		}
		if r.me == 0 {
			r.second(r.fill(r.a, r.x))
		}
	}},
	{name: "a broadcast from the one that writes", run: func(r *rank, o *handed) {
		root := 1
		if r.whole() {
			root = 0
		}
		if r.me == 0 {
			r.filled()
		}
		r.check(r.world.Bcast(r.row, root))
		if r.me == 1 {
			r.second(r.read(r.b, o.theirs))
		}
	}},
	{name: "a reduction to the one that reads", run: func(r *rank, o *handed) {
		root := 0
		if r.whole() {
			root = 1
		}
		if r.me == 0 {
			r.filled()
		}
		r.check(r.world.Reduce([]float64{1}, make([]float64, 1), mpi.Sum, root))
		if r.me == 1 {
			r.second(r.read(r.b, o.theirs))
		}
	}},
	{name: "an all-reduce tells all", run: func(r *rank, o *handed) {
		if r.me == 0 {
			r.first(r.fill(r.a, r.x))
			r.needed(r.a.Synchronize)
		}
		r.check(r.world.Allreduce([]float64{1}, make([]float64, 1), mpi.Sum))
		if r.me == 1 {
			r.second(r.read(r.b, o.theirs))
		}
	}},
	{name: "a gather at the one that reads", run: func(r *rank, o *handed) {
		root := 0
		if r.whole() {
			root = 1
		}
		if r.me == 0 {
			r.filled()
		}
		r.check(r.world.Gather([]float64{1}, make([]float64, r.world.Size()), root))
		if r.me == 1 {
			r.second(r.read(r.b, o.theirs))
		}
	}},
	{name: "a scan tells the ranks behind", run: func(r *rank, o *handed) {
		if r.me == 0 {
			r.first(r.fill(r.a, r.x))
			r.needed(r.a.Synchronize)
		}
		r.check(r.world.Scan([]float64{1}, make([]float64, 1), mpi.Sum))
		if r.me == 1 {
			r.second(r.read(r.b, o.theirs))
		}
	}},
	{name: "a scan tells nothing to the ranks before", run: func(r *rank, o *handed) {
		if r.me == 1 {
			r.first(r.read(r.b, o.theirs))
			r.check(r.b.Synchronize())
		}
		if r.whole() {
			r.check(r.world.Allreduce([]float64{1}, make([]float64, 1), mpi.Sum))
		} else {
			r.check(r.world.Scan([]float64{1}, make([]float64, 1), mpi.Sum))
		}
		if r.me == 0 {
			r.second(r.fill(r.a, r.x))
		}
	}},
	{name: "an exchange tells both", run: func(r *rank, o *handed) {
		if r.me == 0 {
			r.first(r.fill(r.a, r.x))
			r.needed(r.a.Synchronize)
		}
		r.check(r.exchange([]byte{1}, []byte{0}))
		if r.me == 1 {
			r.second(r.read(r.b, o.theirs))
		}
	}},

	// Events.
	{name: "a stream waits for another rank's event", run: func(r *rank, o *handed) {
		if r.me == 0 {
			r.first(r.fill(r.a, r.x))
			r.check(o.mine.Record(r.a))
			r.tell(1)
		} else {
			r.hear(0)
			r.needed(func() error { return r.b.WaitEvent(o.events[0]) })
			r.second(r.read(r.b, o.theirs))
		}
	}},
	{name: "another rank's event has been recorded", run: func(r *rank, o *handed) {
		said := r.whole()
		if r.me == 0 {
			r.first(r.fill(r.a, r.x))
			r.check(o.mine.Record(r.a))
			if said {
				r.tell(1)
			}
		} else {
			if said {
				r.hear(0)
			}
			r.check(r.b.WaitEvent(o.events[0]))
			r.second(r.read(r.b, o.theirs))
		}
	}},
	{name: "the host waits for another rank's event", run: func(r *rank, o *handed) {
		if r.me == 0 {
			r.first(r.fill(r.a, r.x))
			r.check(o.mine.Record(r.a))
			r.tell(1)
		} else {
			r.hear(0)
			r.needed(o.events[0].Synchronize)
			r.second(r.read(r.b, o.theirs))
		}
	}},
	{name: "an event is recorded behind the work", run: func(r *rank, o *handed) {
		if r.me == 0 {
			early := !r.whole()
			if early {
				r.check(o.mine.Record(r.a))
			}
			r.first(r.fill(r.a, r.x))
			if !early {
				r.check(o.mine.Record(r.a))
			}
			r.tell(1)
		} else {
			r.hear(0)
			r.check(r.b.WaitEvent(o.events[0]))
			r.second(r.read(r.b, o.theirs))
		}
	}},
	{name: "an event is recorded again", right: true, run: func(r *rank, o *handed) {
		for range 3 {
			if r.me == 0 {
				r.check(r.fill(r.a, r.x))
				r.check(o.mine.Record(r.a))
				r.tell(1)
				r.hear(1)
				r.check(r.a.WaitEvent(o.events[1]))
			} else {
				r.hear(0)
				r.check(r.b.WaitEvent(o.events[0]))
				r.check(r.read(r.b, o.theirs))
				r.check(o.mine.Record(r.b))
				r.tell(0)
			}
		}
	}},
	{name: "the buffer comes back by an event", run: func(r *rank, o *handed) {
		if r.me == 0 {
			r.check(r.fill(r.a, r.x))
			r.check(o.mine.Record(r.a))
			r.tell(1)
			r.hear(1)
			if r.whole() {
				r.check(r.c.WaitEvent(o.events[1]))
			} else {
				r.check(r.c.WaitEvent(o.mine))
			}
			r.second(r.fill(r.c, r.x)) // another stream than before
		} else {
			r.hear(0)
			r.check(r.b.WaitEvent(o.events[0]))
			r.first(r.read(r.b, o.theirs))
			r.check(o.mine.Record(r.b))
			r.tell(0)
		}
	}},
	{name: "streamsync between processes", run: func(r *rank, o *handed) {
		s := streamsync.New()
		if r.me == 0 {
			r.check(s.Allocate(streamsync.SignalerCUDA, streamsync.WaiterNone))
			r.check(s.SetStream(streamsync.SignalerCUDA, r.a))
			h, err := s.Handle()
			r.check(err)
			r.check(r.world.SendObject(h, 1, 0))
			r.first(r.fill(r.a, r.x))
			r.check(s.Signal())
			r.tell(1)
			r.hear(1)
		} else {
			var h streamsync.Handle
			r.recv(r.world.RecvObject(&h, 0, 0))
			s, err := streamsync.Open(r.d0, h)
			r.check(err)
			r.check(s.SetStream(streamsync.WaiterCUDA, r.b))
			r.hear(0)
			r.needed(s.Wait)
			r.second(r.read(r.b, o.theirs))
			r.check(r.b.Synchronize())
			r.tell(0)
		}
	}},

	// In the order of streams.
	{name: "a message in the order of streams", run: func(r *rank, o *handed) {
		if r.me == 0 {
			r.first(r.fill(r.a, r.x))
			r.check(r.world.SendOn(r.y, 1, 0, r.a))
		} else {
			r.recv(r.world.RecvOn(r.y, 0, 0, r.b))
			s := r.c
			if r.whole() {
				s = r.b
			}
			r.second(r.read(s, o.theirs))
		}
	}},
	{name: "a message behind the kernel's stream", run: func(r *rank, o *handed) {
		if r.me == 0 {
			r.first(r.fill(r.a, r.x))
			s := r.c
			if r.whole() {
				s = r.a
			}
			r.check(r.world.SendOn(r.y, 1, 0, s))
		} else {
			r.recv(r.world.RecvOn(r.y, 0, 0, r.b))
			r.second(r.read(r.b, o.theirs))
		}
	}},
	{name: "an all-reduce in the order of streams", run: func(r *rank, o *handed) {
		g, err := r.world.Collectives()
		r.check(err)
		if r.me == 0 {
			r.first(r.fill(r.a, r.x))
		}
		s := r.a
		if !r.whole() && r.me == 0 {
			s = r.c
		}
		r.check(g.Allreduce([]*cuda.Buffer{r.y}, []*cuda.Stream{s}))
		if r.me == 1 {
			r.second(r.read(r.a, o.theirs))
		}
	}},

	// Memory.
	{name: "a put is done before it is reported", run: func(r *rank, o *handed) {
		if r.me == 1 {
			r.first(cuda.MemcpyAsync(o.theirs, r.y, r.b))
			r.needed(r.b.Synchronize)
			r.tell(0)
		} else {
			r.hear(1)
			r.second(r.read(r.a, r.x))
		}
	}},
	{name: "a part of it", right: true, run: func(r *rank, o *handed) {
		r.check(r.kernel("fill", r.a, o.theirs, nil, r.me*elements/2, (r.me+1)*elements/2))
	}},
	{name: "a part too much", run: func(r *rank, o *handed) {
		lo, hi := r.me*elements/2, (r.me+1)*elements/2
		if r.me == 0 && !r.whole() {
			hi++
		}
		if r.me == 1 {
			r.whole()
			r.second(r.kernel("fill", r.a, o.theirs, nil, lo, hi))
		} else {
			r.first(r.kernel("fill", r.a, o.theirs, nil, lo, hi))
		}
	}},
	{name: "both read", right: true, run: func(r *rank, o *handed) { r.check(r.read(r.a, o.theirs)) }},
	{name: "both count", right: true, run: func(r *rank, o *handed) {
		r.check(r.kernel("count", r.a, o.theirs, nil, 0, elements))
	}},
	{name: "the same addresses in two processes are not the same memory", right: true, run: func(r *rank, o *handed) {
		r.check(r.fill(r.a, r.y))
		r.check(r.fill(r.b, r.z))
	}},
	{name: "it is freed when nobody uses it", run: func(r *rank, o *handed) {
		if r.me == 1 {
			r.first(r.read(r.b, o.theirs))
			r.needed(r.b.Synchronize)
			r.tell(0)
		} else {
			r.hear(1)
			r.second(r.x.Free())
			r.x = r.y
		}
	}},
	{name: "it is closed when it is not in use", run: func(r *rank, o *handed) {
		if r.me == 1 {
			r.first(r.read(r.b, o.theirs))
			r.needed(r.b.Synchronize)
			r.second(o.theirs.Free())
		}
	}},
	{name: "it is opened twice, and closed once", right: true, run: func(r *rank, o *handed) {
		memory, err := r.x.IPCHandle()
		r.check(err)
		r.check(r.world.BcastObject(&memory, 0))
		if r.me == 1 {
			again, err := r.d0.OpenIPC(memory)
			r.check(err)
			r.check(r.read(r.b, again))
			r.check(r.b.Synchronize())
			r.check(again.Free())
			r.check(r.read(r.b, o.theirs))
		}
	}},

	// Three ranks.
	{name: "by way of a third rank", ranks: 3, run: func(r *rank, o *handed) {
		switch r.me {
		case 0:
			r.filled()
			r.tell(2)
		case 2:
			early := !r.whole()
			if early {
				r.tell(1)
			}
			r.hear(0)
			if !early {
				r.tell(1)
			}
		case 1:
			r.hear(2)
			r.second(r.read(r.b, o.theirs))
		}
	}},
	{name: "a barrier of a part that has both", ranks: 3, run: func(r *rank, o *handed) {
		color := 0
		if with := 2; r.whole() && r.me == with || !r.all && r.me == 1 {
			color = 1
		}
		part, err := r.world.Split(color, 0)
		r.check(err)
		if r.me == 0 {
			r.filled()
		}
		r.check(part.Barrier())
		if r.me == 1 {
			r.second(r.read(r.b, o.theirs))
		}
	}},
	{name: "the one of two that answer which is asked", ranks: 3, run: func(r *rank, o *handed) {
		switch r.me {
		case 0:
			r.filled()
			r.tell(1)
		case 1:
			if r.whole() {
				r.hear(0)
				r.check(r.read(r.b, o.theirs))
				r.hear(2)
			} else {
				r.hear(2)
				r.second(r.read(r.b, o.theirs))
				r.hear(0)
			}
		case 2:
			r.tell(1)
		}
	}},
	{name: "two readers have answered before it is written", ranks: 3, run: func(r *rank, o *handed) {
		if r.me == 0 {
			r.hear(2)
			one := !r.whole()
			if one {
				r.second(r.fill(r.a, r.x))
			}
			r.hear(mpi.AnySource)
			if !one {
				r.check(r.fill(r.a, r.x))
			}
			return
		}
		if r.me == 1 {
			r.hear(2)
			r.first(r.read(r.b, o.theirs))
			r.check(r.b.Synchronize())
			r.tell(0)
			return
		}
		r.check(r.read(r.b, o.theirs))
		r.check(r.b.Synchronize())
		r.tell(0)
		r.tell(1)
	}},
}
