package mpi

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/mpi/internal/device"
	"gocuda/cudaapi/mpi/internal/libmpi"
	"gocuda/cudaapi/mpi/internal/local"
	"gocuda/cudaapi/mpi/internal/transport"
	"gocuda/cudaapi/record"
)

// world is this process's part in MPI.
type world struct {
	t           transport.Transport
	world, self *Comm
	current     atomic.Pointer[Comm] // what World gives: world, but see SetWorld
	tagUB       int
	spins       int           // how often a wait asks before it lets others run
	yields      time.Duration // how long it does so before it sleeps
	waits       atomic.Int32  // goroutines in a wait that is not short
	finalized   atomic.Bool
	dev         *device.Engine
	aware       bool   // the library is given device memory
	whyAware    string // if it is

	mu        sync.Mutex
	abandoned []transport.Request
	ledgers   []*ledger
}

var process struct {
	sync.Mutex // held while MPI starts and ends
	w          atomic.Pointer[world]
	over       bool // finalized: MPI cannot start again
}

// Init starts MPI and gives the world: the communicator of all ranks
// (MPI_Init_thread with MPI_THREAD_MULTIPLE). Later calls give it again.
//
// GOCUDA_MPI picks the library: auto, local, openmpi, mpich, or the path of a
// libmpi. auto, the default, is the library of the mpirun or mpiexec that started
// the process, the built-in transport if gocuda's launcher did, and a single rank
// of the built-in transport if none did.
func Init() (*Comm, error) {
	if w := process.w.Load(); w != nil {
		return w.current.Load(), nil
	}
	process.Lock()
	defer process.Unlock()
	if w := process.w.Load(); w != nil {
		return w.current.Load(), nil
	}
	if process.over {
		return nil, misuse(ErrFinalized, "mpi.Init", "mpi.Finalize was called before: a process starts MPI once")
	}
	t, err := open()
	if err != nil {
		return nil, failure("mpi.Init", err)
	}
	w, err := newWorld(t)
	if err != nil {
		return nil, failure("mpi.Init", err)
	}
	process.w.Store(w)
	return w.world, nil
}

func newWorld(t transport.Transport) (*world, error) {
	w := &world{t: t, tagUB: t.TagUB(), spins: spins, yields: yields}
	record.SetWorld(record.World{Rank: t.World().Rank(), Size: t.World().Size()})
	var err error
	if w.dev, err = device.Open(t.World(), device.Path(os.Getenv("GOCUDA_MPI_PATH"))); err != nil {
		return nil, err
	}
	if err := w.agreeOnLibrary(); err != nil {
		return nil, err
	}
	if w.world, err = newComm(w, t.World(), "world", "world"); err != nil {
		return nil, err
	}
	if w.self, err = newComm(w, t.Self(), "self", fmt.Sprintf("self%d", t.World().Rank())); err != nil {
		return nil, err
	}
	w.world.permanent, w.self.permanent = true, true
	w.current.Store(w.world)
	if err := w.lookForCrowds(); err != nil {
		return nil, err
	}
	return w, nil
}

// agreeOnLibrary decides whether the library is given device memory: if it takes
// it at all ranks, and all have devices that it knows. It must never see an
// address of a simulated device.
func (w *world) agreeOnLibrary() error {
	w.whyAware = w.t.Info().Why
	forced := w.dev.Forced() == device.CUDAAware
	if forced {
		w.whyAware = "GOCUDA_MPI_PATH says so"
	}
	var wrong error
	if forced || w.dev.Forced() == device.Auto && w.t.Info().CUDAAware {
		devices, err := cuda.Backend()
		w.aware = err == nil && devices.Name == "nvidia"
		if !w.aware && forced {
			wrong = fmt.Errorf("GOCUDA_MPI_PATH=%s: a library takes memory of NVIDIA's devices, and this rank has: %v", device.CUDAAware, devices)
		}
	}
	each, err := handshake.Agree(device.Channel(w.t.World()), w.aware, wrong)
	for _, aware := range each {
		w.aware = w.aware && aware
	}
	return err
}

// lookForCrowds makes waits patient where a host has more ranks than processors:
// than all of theirs, since mpirun may bind each to one of its own.
func (w *world) lookForCrowds() error {
	local, err := w.world.SplitShared(0)
	if err != nil {
		return err
	}
	mine := processors()
	all := make([]uint64, len(mine))
	if err := local.Allreduce(mine, all, BOr); err != nil {
		return err
	}
	n := 0
	for _, word := range all {
		n += bits.OnesCount64(word)
	}
	if local.Size() > n {
		w.spins, w.yields = spinsCrowded, yieldsCrowded
	}
	return local.Free()
}

func (w *world) crowded() bool { return w.spins == spinsCrowded }

// World is the communicator of all ranks (MPI_COMM_WORLD). It calls [Init] if
// that was not done, and panics if that fails.
func World() *Comm {
	c, err := Init()
	if err != nil {
		panic(err)
	}
	return c
}

// Self is the communicator of this rank alone (MPI_COMM_SELF). It calls [Init]
// as World does.
func Self() *Comm { return World().w.self }

// Initialized tells whether Init was called, and Finalize was not.
func Initialized() bool { return process.w.Load() != nil }

// Finalize ends this process's part in MPI (MPI_Finalize). It is collective and
// blocks; messages that are under way must be waited for before. It does nothing
// if MPI was not started. After it, MPI cannot be used any more.
func Finalize() error {
	process.Lock()
	defer process.Unlock()
	w := process.w.Load()
	if w == nil {
		return nil
	}
	w.settle()
	_ = w.current.Load().port.Settle() // that a rank is lost, the transport says below
	process.w.Store(nil)
	process.over = true
	w.finalized.Store(true)
	if err := errors.Join(w.current.Load().devices.close(), w.dev.Close()); err != nil {
		return failure("mpi.Finalize", err)
	}
	if err := w.t.Finalize(); err != nil {
		return failure("mpi.Finalize", err)
	}
	return nil
}

// Abort ends all ranks at once, with an exit code (MPI_Abort), and says so on standard
// error. It does not return.
func Abort(code int) {
	if w := process.w.Load(); w != nil {
		fmt.Fprintln(os.Stderr, transport.Aborted(w.t.World().Rank(), code))
		w.t.Abort(code)
	}
	os.Exit(code)
}

// Wtime is the time in seconds since some moment in the past (MPI_Wtime). Ranks
// on different hosts do not share the moment. It calls [Init] as World does.
func Wtime() float64 { return World().w.t.Wtime().Seconds() }

// ProcessorName is the name of the host that this rank runs on
// (MPI_Get_processor_name).
func ProcessorName() (string, error) { return os.Hostname() }

// Library describes the MPI library in use.
type Library struct {
	Name      string // "Open MPI", "MPICH", "local", ...
	Version   string // its own words
	Path      string // of what was loaded; empty for the built-in transport
	Found     string // how it was found
	Thread    string // the thread level granted, such as "MPI_THREAD_MULTIPLE"
	CUDAAware bool   // it takes device memory itself
	Why       string // how that is known
}

func (l Library) String() string {
	s := l.Name
	if l.Version != "" {
		s += " (" + l.Version + ")"
	}
	if l.Path != "" {
		s += " at " + l.Path
	}
	aware := "not CUDA-aware"
	if l.CUDAAware {
		aware = "CUDA-aware"
	}
	if l.Why != "" {
		aware += ": " + l.Why
	}
	return fmt.Sprintf("%s, %s; %s; %s", s, l.Found, l.Thread, aware)
}

// LibraryInfo describes the MPI library in use. It calls [Init] if that was not
// done.
func LibraryInfo() (Library, error) {
	c, err := Init()
	if err != nil {
		return Library{}, err
	}
	i := c.w.t.Info()
	return Library{Name: i.Name, Version: i.Version, Path: i.Library, Found: i.Found, Thread: i.Thread, CUDAAware: i.CUDAAware, Why: i.Why}, nil
}

// open opens the transport that GOCUDA_MPI, or the launcher that started the
// process, asks for.
func open() (transport.Transport, error) {
	switch os.Getenv("GOCUDA_MPI") {
	case "", "auto":
		if local.Present() || libmpi.Launched() == nil {
			return local.Open()
		}
	case "local":
		return local.Open()
	}
	return libmpi.Open()
}

// SetWorld makes c, a duplicate of the world, what [World] and [Init] give from
// now on: a notebook's ranks get a new one after calls were interrupted, which
// leaves the ranks out of step. Calls on the one before are errors that say so.
// All ranks call it. It does not block.
func SetWorld(c *Comm) error {
	const call = "mpi.SetWorld"
	if err := c.usable(call); err != nil {
		return err
	}
	before := c.w.current.Load()
	if c.size != before.size || c.rank != before.rank {
		return c.misuse(ErrComm, call, "%s has other ranks than the world", c.name)
	}
	c.permanent = true
	c.SetName(before.name)
	if before != c {
		before.replaced.Store(true)
		c.w.forget(before.book)
		c.w.current.Store(c)
	}
	return nil
}
