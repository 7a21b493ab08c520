package device

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"unsafe"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi/internal/transport"
)

// A board is memory that one rank writes and the others of its host read:
// there, ranks see what memory the others give to a collective, at the cost of
// some loads and stores. A process has one page for the boards of all its
// communicators.

// Notice is what a rank says of its part in a call.
type Notice struct {
	Device bool   // it gives memory of a device, on which the call can be done
	Number int    // the device's
	Shared bool   // others can open the memory
	N      int    // elements
	Kind   uint64 // of the elements, the operator, and whatever must be the same
}

// notice is one on a board. turn is written last.
type notice struct {
	turn   atomic.Uint64
	n      uint64
	kind   uint64
	device int64         // the number, twice, and 1 if others can open it; -1: host memory
	failed atomic.Uint64 // a turn
	_      [3]uint64
}

// noticesKept is how many calls back a board tells of: a rank is one call ahead
// of the others at most, and more only if its own were interrupted.
const noticesKept = 8

type board [noticesKept]notice

const (
	boardBytes  = int(unsafe.Sizeof(board{}))
	pageBytes   = 512 * boardBytes
	pageHeader  = boardBytes // the first board's place holds the cookie and the slots of offers
	noBoard     = 0
	pageMessage = 16 + 4 + 4 + 8 // host, process, descriptor, cookie
)

// pages are this process's page and those of the other ranks of the host.
type pages struct {
	own   []byte
	free  []int          // places of boards
	slots []byte         // of offers, not in use
	ranks map[int][]byte // by rank in the world
}

// OpenBoards lets the ranks of a host read each other's boards. It is collective
// over the world and blocks. If it does not work for one rank, there are none.
func (e *Engine) OpenBoards(world transport.Comm) error {
	var cookie [8]byte
	if _, err := rand.Read(cookie[:]); err != nil {
		return err
	}
	var own []byte
	fd := -1
	if cuda.Registered() && (e.forced == Auto || e.forced == IPC) {
		var file *os.File
		if own, file = newPage(); own != nil {
			defer file.Close() // all have opened it by then
			fd = int(file.Fd())
		}
	}
	mine := append(make([]byte, 0, pageMessage), e.host[:]...)
	mine = binary.LittleEndian.AppendUint32(mine, uint32(os.Getpid()))
	mine = binary.LittleEndian.AppendUint32(mine, uint32(fd))
	mine = append(mine, cookie[:]...)
	if own != nil {
		copy(own, cookie[:])
	}
	b := make([]byte, pageMessage*world.Size())
	all := memoryOf(b)
	all.N = pageMessage
	r, err := world.Iallgather(memoryOf(mine), all)
	if err == nil {
		err = Wait(r)
	}
	if err != nil {
		return err
	}
	p := &pages{own: own, ranks: map[int][]byte{}}
	good := []byte{1}
	for rank := range world.Size() {
		theirs := b[rank*pageMessage:][:pageMessage]
		if [16]byte(theirs) != e.host {
			continue
		}
		page := own
		if rank != world.Rank() {
			page = openPage(int(binary.LittleEndian.Uint32(theirs[16:])), int(int32(binary.LittleEndian.Uint32(theirs[20:]))))
		}
		if page == nil || !slices.Equal(page[:8], theirs[24:32]) {
			good[0] = 0
			break
		}
		p.ranks[rank] = page
	}
	agreed := []byte{0}
	in, out := memoryOf(good), memoryOf(agreed)
	in.T, out.T = transport.Uint8, transport.Uint8
	r, err = world.Iallreduce(in, out, transport.Min)
	if err == nil {
		err = Wait(r)
	}
	if err != nil || agreed[0] == 0 {
		return err
	}
	for at := pageBytes - boardBytes; at >= pageHeader; at -= boardBytes {
		p.free = append(p.free, at)
	}
	for slot := byte(slots); slot > 0; slot-- {
		p.slots = append(p.slots, slot)
	}
	e.pages = p
	return nil
}

// newBoard takes a place of this process's page, noBoard if there is none.
func (e *Engine) newBoard() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pages == nil || len(e.pages.free) == 0 {
		return noBoard
	}
	at := e.pages.free[len(e.pages.free)-1]
	e.pages.free = e.pages.free[:len(e.pages.free)-1]
	clear(e.pages.own[at:][:boardBytes])
	return at
}

func boardAt(page []byte, at int) *board { return (*board)(unsafe.Pointer(&page[at])) }

// hang finds the boards of a communicator's ranks.
func (p *Port) hang() {
	boards := make([]*board, p.side.Size())
	for r := range boards {
		at := int(binary.LittleEndian.Uint32(p.about(r)[aboutBoard:]))
		page := []byte(nil)
		if p.e.pages != nil {
			page = p.e.pages.ranks[int(binary.LittleEndian.Uint32(p.about(r)[aboutRank:]))]
		}
		if at == noBoard || page == nil {
			return
		}
		boards[r] = boardAt(page, at)
	}
	p.boards = boards
}

// Boards reports whether all ranks have boards. All get the same answer.
func (p *Port) Boards() bool { return p.boards != nil }

// Post says what this rank gives to call number turn, counted from 1.
func (p *Port) Post(turn uint64, w Notice) {
	s := &p.boards[p.side.Rank()][turn%noticesKept]
	s.n, s.kind, s.device = uint64(w.N), w.Kind, -1
	if w.Device {
		s.device = int64(w.Number) * 2
		if w.Shared {
			s.device++
		}
	}
	s.turn.Store(turn)
}

// Look reads what all have said of a call. given are the ranks' devices, once all
// have given one, and shared says whether all can open all memory; onHost says
// that one gives host memory. Until either, Look is to be asked again. Another
// call at another rank is a [Mismatch].
func (p *Port) Look(turn uint64, own Notice) (given []int, shared, onHost bool, err error) {
	all := true
	for r, b := range p.boards {
		s := &b[turn%noticesKept]
		switch at := s.turn.Load(); {
		case at < turn:
			all = false
		case at > turn:
			return nil, false, false, fmt.Errorf("rank %d is %d calls ahead", r, at-turn)
		case s.device < 0:
			onHost = true
		case s.n != uint64(own.N) || s.kind != own.Kind:
			return nil, false, false, &Mismatch{r, int(s.n), s.kind}
		}
	}
	if !all || onHost {
		return nil, false, onHost, nil
	}
	given, shared = make([]int, len(p.boards)), true
	for r, b := range p.boards {
		s := &b[turn%noticesKept]
		given[r] = int(s.device / 2)
		shared = shared && s.device%2 == 1
	}
	return given, shared, false, nil
}

// Fail says that this rank will not do its part in a call that it has posted.
func (p *Port) Fail(turn uint64) { p.boards[p.side.Rank()][turn%noticesKept].failed.Store(turn) }

// Failed finds a rank that has said so.
func (p *Port) Failed(turn uint64) (rank int, failed bool) {
	for r, b := range p.boards {
		if b[turn%noticesKept].failed.Load() == turn {
			return r, true
		}
	}
	return 0, false
}

// Mismatch says that a rank made another call.
type Mismatch struct {
	Rank, N int
	Kind    uint64
}

func (m *Mismatch) Error() string {
	return fmt.Sprintf("rank %d gave %d elements of another call", m.Rank, m.N)
}

// Free gives the communicator's board back.
func (p *Port) Free() {
	if at := int(binary.LittleEndian.Uint32(p.about(p.side.Rank())[aboutBoard:])); at != noBoard {
		p.e.mu.Lock()
		p.e.pages.free = append(p.e.pages.free, at)
		p.e.mu.Unlock()
	}
}
