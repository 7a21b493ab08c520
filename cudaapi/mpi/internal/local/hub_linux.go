package local

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"gocuda/cudaapi/mpi/internal/transport"
)

// helloTimeout is how long a connection may take to say who it is.
const helloTimeout = 10 * time.Second

// Hub is the launcher's part of a job: a socket without a file on which the
// ranks report, from which they get the segment, and whose ends tell who died.
// Nothing of it outlives the process.
type Hub struct {
	seat   seat // rank 0's
	socket *net.UnixListener
	events func(Event)

	mu      sync.Mutex
	segment *os.File
	members []hubMember
	joined  int
	counts  map[ballot]*tally
	closed  bool
	active  sync.WaitGroup
}

type hubMember struct {
	conn *net.UnixConn
	pid  int32
	left bool // finalized, or lost
	lost string
}

// NewHub opens a job of so many ranks. events is called by one goroutine at a
// time, which must not call the Hub.
func NewHub(ranks int, events func(Event)) (*Hub, error) {
	if ranks < 1 || ranks > MaxRanks {
		return nil, fmt.Errorf("a local job has 1 to %d ranks, not %d", MaxRanks, ranks)
	}
	var secret [24]byte
	rand.Read(secret[:])
	h := &Hub{
		seat:    seat{name: "gocuda-mpi-" + hex.EncodeToString(secret[:8]), token: hex.EncodeToString(secret[8:]), size: ranks},
		members: make([]hubMember, ranks),
		counts:  map[ballot]*tally{},
		events:  events,
	}
	var err error
	if h.segment, err = newSegment(ranks); err != nil {
		return nil, fmt.Errorf("the job's shared memory: %w", err)
	}
	if h.socket, err = net.ListenUnix("unix", &net.UnixAddr{Name: "@" + h.seat.name, Net: "unix"}); err != nil {
		h.segment.Close()
		return nil, fmt.Errorf("the job's socket: %w", err)
	}
	h.active.Add(1)
	go h.accept()
	return h, nil
}

// Env is the variable that makes a process the rank.
func (h *Hub) Env(rank int) string {
	s := h.seat
	s.rank = rank
	return EnvName + "=" + s.String()
}

// Lost tells the ranks that one has ended, unless they know.
func (h *Hub) Lost(rank int, how string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lose(rank, how)
}

// Close ends the job: ranks that are still there lose their launcher.
func (h *Hub) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	h.socket.Close()
	h.segment.Close()
	for i := range h.members {
		if c := h.members[i].conn; c != nil {
			c.Close()
		}
	}
	h.mu.Unlock()
	h.active.Wait()
	return nil
}

func (h *Hub) accept() {
	defer h.active.Done()
	for {
		conn, err := h.socket.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // no descriptors left, say
			time.Sleep(10 * time.Millisecond)
			continue
		}
		h.active.Add(1)
		go h.serve(conn)
	}
}

// serve is the life of a connection.
func (h *Hub) serve(conn *net.UnixConn) {
	defer h.active.Done()
	defer conn.Close()
	rank, err := h.admit(conn)
	if err != nil {
		send(conn, note{kind: noteRefused, text: err.Error()})
		h.mu.Lock()
		if !h.closed {
			h.events(Event{Kind: Refused, Rank: rank, Text: err.Error()})
		}
		h.mu.Unlock()
		return
	}
	for {
		m, err := readNote(conn)
		h.mu.Lock()
		if h.closed {
			h.mu.Unlock()
			return
		}
		switch {
		case err != nil:
			h.lose(rank, fmt.Sprintf("its process (pid %d) ended without MPI_Finalize", h.members[rank].pid))
		case m.kind == noteJoined:
			h.join(rank)
		case m.kind == noteBye:
			h.members[rank].left = true
			h.recount()
			h.events(Event{Kind: Left, Rank: rank})
		case m.kind == noteVote && !h.members[rank].left:
			if v, err := decodeVote(m.text, h.seat.size); err == nil {
				h.poll(rank, v)
			}
		case m.kind == noteRevoked:
			h.tell(m, rank)
		case m.kind == noteAbort:
			h.tell(note{kind: noteAbort, n: m.n, text: transport.Aborted(rank, m.n)}, rank)
			h.events(Event{Kind: Aborted, Rank: rank, Code: m.n})
		}
		h.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// admit finds out which rank a connection is, and gives it the segment. With
// an error comes the rank that it claims to be, -1 if none.
func (h *Hub) admit(conn *net.UnixConn) (rank int, err error) {
	who, err := peer(conn)
	if err != nil {
		return -1, err
	}
	if int(who.Uid) != os.Getuid() && who.Uid != 0 {
		return -1, fmt.Errorf("process %d belongs to user %d, not to this job's user %d", who.Pid, who.Uid, os.Getuid())
	}
	conn.SetDeadline(time.Now().Add(helloTimeout))
	m, err := readNote(conn)
	if err != nil {
		return -1, fmt.Errorf("process %d did not say which rank it is: %w", who.Pid, err)
	}
	if m.kind != noteHello || subtle.ConstantTimeCompare([]byte(m.text), []byte(h.seat.token)) != 1 {
		return -1, fmt.Errorf("process %d does not have this job's token", who.Pid)
	}
	if m.n < 0 || m.n >= h.seat.size {
		return -1, fmt.Errorf("process %d wants to be rank %d of %d", who.Pid, m.n, h.seat.size)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch one := &h.members[m.n]; {
	case h.closed:
		return m.n, errors.New("the job is over")
	case one.lost != "":
		return m.n, fmt.Errorf("process %d wants to be rank %d, which was lost: %s", who.Pid, m.n, one.lost)
	case one.conn != nil:
		return m.n, fmt.Errorf("process %d wants to be rank %d, which process %d is", who.Pid, m.n, one.pid)
	}
	welcome := note{kind: noteWelcome, n: h.seat.size}.append(nil)
	if _, _, err := conn.WriteMsgUnix(welcome, unix.UnixRights(int(h.segment.Fd())), nil); err != nil {
		return m.n, fmt.Errorf("process %d could not be given the shared memory: %w", who.Pid, err)
	}
	conn.SetDeadline(time.Time{})
	h.members[m.n] = hubMember{conn: conn, pid: who.Pid}
	return m.n, nil
}

// join counts a rank that has mapped the segment. The last one sets all going.
func (h *Hub) join(rank int) {
	for i := range h.members { // it missed what was told before
		if how := h.members[i].lost; how != "" {
			send(h.members[rank].conn, note{kind: noteLost, n: i, text: how})
		}
	}
	h.joined++
	h.events(Event{Kind: Joined, Rank: rank})
	if h.joined < h.seat.size {
		return
	}
	var pids []byte
	for i := range h.members {
		pids = binary.LittleEndian.AppendUint32(pids, uint32(h.members[i].pid))
	}
	h.tell(note{kind: noteReady, text: string(pids)}, -1)
}

func (h *Hub) lose(rank int, how string) {
	one := &h.members[rank]
	if one.left || h.closed {
		return
	}
	one.left, one.lost = true, how
	h.tell(note{kind: noteLost, n: rank, text: how}, rank)
	h.recount()
	h.events(Event{Kind: Lost, Rank: rank, Text: how})
}

// tell sends to all but one rank.
func (h *Hub) tell(m note, but int) {
	for i := range h.members {
		if c := h.members[i].conn; c != nil && i != but {
			send(c, m)
		}
	}
}

// send gives up on a rank that does not read.
func send(conn *net.UnixConn, m note) error {
	conn.SetWriteDeadline(time.Now().Add(time.Second))
	_, err := conn.Write(m.append(nil))
	return err
}

// peer is the process at the other end.
func peer(conn *net.UnixConn) (*unix.Ucred, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	var who *unix.Ucred
	if e := raw.Control(func(fd uintptr) {
		who, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); e != nil {
		return nil, e
	}
	return who, err
}
