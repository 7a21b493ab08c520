package device

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/internal/ipc"
	"gocuda/cudaapi/mpi/internal/transport"
)

// Path is how device memory travels between two ranks.
type Path string

// The paths. Auto is the best of the others that works.
const (
	Auto      Path = ""
	IPC       Path = "ipc"
	Staged    Path = "staged"
	CUDAAware Path = "cuda-aware"
)

// Engine is a process's part in messages of device memory.
type Engine struct {
	mark   [16]byte // of RTS: the same in all ranks of the world, and not to be guessed
	host   [16]byte
	rank   int // in the world
	forced Path
	pages  *pages // nil: ranks have no notices

	imports  ipc.Imports
	progress progress

	mu    sync.Mutex
	lanes map[*cuda.Device]*lane
	sends map[uint64]*sending // under way, by key: for messages to oneself
	next  uint64              // key
	whys  map[link]string     // why IPC did not work
}

// link is a port and a peer.
type link struct{ port, peer int }

// Open makes the engine of a process. forced is the path that the program's user
// wants. It is collective over the world, and blocks.
func Open(world transport.Comm, forced Path) (*Engine, error) {
	e := &Engine{host: ipc.Host(), rank: world.Rank(), forced: forced,
		lanes: map[*cuda.Device]*lane{}, sends: map[uint64]*sending{}, whys: map[link]string{}}
	var wrong error
	if !slices.Contains([]Path{Auto, IPC, Staged, CUDAAware}, forced) {
		wrong = fmt.Errorf("GOCUDA_MPI_PATH=%q: want ipc, staged or cuda-aware", string(forced))
	}
	var own *ownPage
	if cuda.Registered() && (forced == Auto || forced == IPC) {
		own = newPage()
		defer own.close() // all have opened it by then
	}
	me := process{host: e.host, page: own.place()}
	if _, err := rand.Read(me.mark[:]); err != nil {
		wrong = errors.Join(wrong, err)
	}
	all, err := handshake.Agree(Channel(world), me, wrong)
	if err != nil {
		return nil, err
	}
	e.mark = all[0].mark
	pages := openPages(e.host, e.rank, own, all)
	good, err := handshake.All(Channel(world), pages != nil)
	if good {
		e.pages = pages
	}
	return e, err
}

// process is what ranks of the world tell each other of their processes.
type process struct {
	mark [16]byte // that of rank 0 counts
	host [16]byte
	page pagePlace
}

// Forced is the path that Open was told.
func (e *Engine) Forced() Path { return e.forced }

// Close closes what other processes have and this one has opened. It waits for
// the devices.
func (e *Engine) Close() error { return e.imports.Close() }
