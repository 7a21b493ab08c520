package ranks

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi"
	"gocuda/kernel/evaluator"
	"gocuda/kernel/magic"
	"gocuda/kernel/session"
	"gocuda/kernel/widgets"
)

// What a rank's evaluator finds in its environment.
const (
	rankEnv = "GOCUDA_RANK"
	sizeEnv = "GOCUDA_RANKS"
)

// A rank's builtins for the pool's own cells: names that no cell has by chance.
const (
	startBuiltin = "mpiStartʹ"
	renewBuiltin = "mpiRenewʹ"
	worldBuiltin = "mpiWorldʹ"
	takeBuiltin  = "mpiTakeʹ"
)

// finalizeTime is how long the end of a rank may wait for the others'.
const finalizeTime = time.Second

// inventory is what a rank says about itself when it starts.
type inventory struct {
	Device     string      `json:"device"`
	Devices    int         `json:"devices"`    // of its host
	Processors int         `json:"processors"` // that it may use
	Library    mpi.Library `json:"library"`
	Files      []string    `json:"files"` // of shared memory
}

// attachRank is Attach in a rank.
func attachRank(h *evaluator.Host) evaluator.Extension {
	refuse := func(_ context.Context, _ magic.Env, call magic.Call) error {
		return call.Errorf("UsageError", "a rank has no ranks of its own: use this in a cell that is not for ranks")
	}
	widgets.SetSender(nil) // events do not come here
	magics := (&notebook{}).magics()
	for i := range magics {
		magics[i].Run = refuse
	}
	builtins := variables(h)
	var spare *mpi.Comm // no cell uses it
	builtins[startBuiltin] = func(places ...int) (err error) {
		if err := startRank(h, places); err != nil {
			return err
		}
		spare, err = mpi.World().Dup()
		return err
	}
	var before *mpi.Comm
	builtins[renewBuiltin] = func() error {
		fresh, err := spare.Dup()
		if err != nil {
			return err
		}
		before = mpi.World()
		if err := mpi.SetWorld(fresh); err != nil {
			return err
		}
		// Variables that hold the old world, under whatever name, follow.
		held := h.Variables("*mpi.Comm")
		if len(held) == 0 {
			return nil
		}
		return h.Within("%mpi interrupt", takeBuiltin+"(&"+strings.Join(held, ", &")+")")
	}
	builtins[takeBuiltin] = func(held ...**mpi.Comm) {
		for _, c := range held {
			if *c == before {
				*c = mpi.World()
			}
		}
	}
	builtins[worldBuiltin] = mpi.World
	return evaluator.Extension{
		Builtins: builtins,
		Magics:   magics,
		Reset:    func(eval func(string) error) error { return eval(worldCell) },
		Eval:     lookFirst(h),
		Where:    reportOf(h),
		Judged: func(id, verdict string) {
			h.Show(session.Output{Kind: session.Verdict, Parent: id, Text: verdict}) //nolint:errcheck // then the notebook is gone
		},
		Close: finalize,
	}
}

// startRank starts MPI, takes the rank's device and tells the pool of both. The
// places are those of all ranks among the ranks of their hosts.
func startRank(h *evaluator.Host, places []int) error {
	mpi.TrackWaits()
	world, err := mpi.Init()
	if err != nil {
		return err
	}
	rank, size := strconv.Itoa(world.Rank()), strconv.Itoa(world.Size())
	if rank != os.Getenv(rankEnv) || size != os.Getenv(sizeEnv) {
		return fmt.Errorf("MPI made this process rank %s of %s; it was started as rank %s of %s: is the MPI library that of mpirun?",
			rank, size, os.Getenv(rankEnv), os.Getenv(sizeEnv))
	}
	i := inventory{Device: "none", Processors: runtime.NumCPU(), Files: mapped(os.Getpid())}
	if i.Library, err = mpi.LibraryInfo(); err != nil {
		return err
	}
	if i.Devices, err = cuda.DeviceCount(); err == nil && i.Devices > 0 {
		number := places[world.Rank()] % i.Devices
		d, err := cuda.Get(number)
		if err == nil {
			err = cuda.SetDevice(number)
		}
		if err != nil {
			return err
		}
		i.Device = fmt.Sprintf("%d: %s", number, d.Name())
	}
	body, err := json.Marshal(i)
	if err != nil {
		return err
	}
	h.SetData(body)
	return nil
}

// finalize ends MPI in order, if the other ranks do so too.
func finalize() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		mpi.Finalize()
	}()
	select {
	case <-done:
	case <-time.After(finalizeTime):
	}
}

// firstCell is run on every rank before any other.
func (p *pool) firstCell() string {
	places, on := make([]string, len(p.ranks)), map[string]int{}
	for i, r := range p.ranks {
		places[i] = strconv.Itoa(on[r.host])
		on[r.host]++
	}
	return startBuiltin + "(" + strings.Join(places, ", ") + ")\n" + worldCell
}

// worldCell declares what every rank has.
const worldCell = "world := " + worldBuiltin + "()\nrank, size := world.Rank(), world.Size()"

// renewCell gives every rank a new world.
const renewCell = renewBuiltin + "()\nworld := " + worldBuiltin + "()"

// prepare starts MPI on every rank.
func (p *pool) prepare(ctx context.Context) error {
	j, err := p.post(session.Cell{Name: "%mpi start", Code: p.firstCell(), Silent: true}, all(len(p.ranks)), 0)
	if err != nil {
		return err
	}
	if err := p.wait(ctx, j); err != nil {
		return err
	}
	if e := j.err(); e != nil {
		return e
	}
	for n, r := range p.ranks {
		var i inventory
		if err := json.Unmarshal(j.results[n].Data, &i); err != nil {
			return fmt.Errorf("rank %d started and did not say with what: %w", n, err)
		}
		r.inventory, p.library = i, i.Library
	}
	return nil
}
