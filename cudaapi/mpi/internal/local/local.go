// Package local is MPI between the processes of one machine, without an MPI
// library.
//
// A launcher (package launch) opens a job; each rank finds its place in the
// environment, reports to the launcher's socket and gets the job's shared
// memory from it. Small messages go through rings there, one for each pair of
// ranks. A large message stays where it is until its receive is posted; then
// the sender sends it through the ring in parts, while the receiver takes them
// out; or, with more ranks than processors, the receiver copies it straight out
// of the sender's memory (process_vm_readv), where the system allows that.
//
// Messages progress in every call that asks for one (Test, Wait, Iprobe and
// so on) and, when none has come for a while, in an agent: a goroutine that
// sleeps until another rank wakes it. So a rank that computes, or waits for
// something else, holds up nobody.
//
// The launcher sees a rank's process end, however it ends, and tells the
// others, whose operations with it, and collectives over it, then fail.
package local

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"time"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

var clockStart = time.Now()

// partsOnly makes as if no memory of another process could be read: for tests.
var partsOnly bool

// local is the Transport.
type local struct {
	e           *engine
	member      *member // nil without a launcher
	world, self *comm
	end         *comm // all ranks, for Finalize
}

// Open makes this process the rank that its environment says, and waits for
// the others to come; or, without a launcher, the one rank of a world of one.
func Open() (transport.Transport, error) {
	text := os.Getenv(EnvName)
	if text == "" {
		return newLocal(newEngine(0, 1, nil), nil)
	}
	s, err := parseSeat(text)
	if err != nil {
		return nil, err
	}
	m, err := join(s)
	if err != nil {
		return nil, err
	}
	t, err := enrol(s, m)
	if err != nil {
		m.close()
		return nil, err
	}
	return t, nil
}

// enrol sets up the rank and waits until all have come.
func enrol(s seat, m *member) (*local, error) {
	mem, err := m.mapped()
	if err != nil {
		return nil, err
	}
	e, err := meet(s, m, mem)
	if err != nil {
		unmapSegment(mem)
		return nil, err
	}
	return newLocal(e, m)
}

func meet(s seat, m *member, mem []byte) (*engine, error) {
	seg, err := openSegment(mem, s.size)
	if err != nil {
		return nil, err
	}
	letRead(m.launcher())
	e := newEngine(s.rank, s.size, seg)
	e.publishCookie()
	if err := m.send(note{kind: noteJoined}); err != nil {
		return nil, err
	}
	for {
		n, err := m.next()
		switch {
		case err != nil:
			return nil, fmt.Errorf("the job's launcher ended while its ranks started: %w", err)
		case n.kind == noteLost:
			return nil, lostError("MPI_Init", n.n, n.text)
		case n.kind == noteAbort:
			os.Exit(n.n)
		case n.kind == noteReady && len(n.text) == 4*s.size:
			e.know([]byte(n.text))
			return e, nil
		}
	}
}

// know takes in the process ids of the ranks.
func (e *engine) know(pids []byte) {
	for i := range e.peers {
		if i != e.rank {
			e.peers[i].pid = int(int32(binary.LittleEndian.Uint32(pids[4*i:])))
			e.peers[i].readable = !partsOnly && e.canRead(i)
		}
	}
}

func newLocal(e *engine, m *member) (*local, error) {
	t := &local{e: e, member: m}
	all := make([]int, e.size)
	for i := range all {
		all[i] = i
	}
	t.world = newComm(e, contextWorld, all)
	t.self = newComm(e, contextSelf, []int{e.rank})
	t.end = newComm(e, contextEnd, all)
	if m != nil {
		e.vote = m.send
		go t.listen()
	}
	if e.segment != nil {
		go e.agent()
	}
	return t, nil
}

// listen hears what the launcher says until the end.
func (t *local) listen() {
	for {
		n, err := t.member.next()
		switch {
		case err != nil:
			t.e.loseLauncher()
			return
		case n.kind == noteLost:
			t.e.lose(n.n, n.text)
		case n.kind == noteVerdict:
			t.e.heard(n.text)
		case n.kind == noteRevoked:
			t.e.revoke(uint32(n.n))
		case n.kind == noteAbort:
			fmt.Fprintln(os.Stderr, n.text)
			os.Exit(n.n)
		}
	}
}

func (t *local) World() transport.Comm { return t.world }
func (t *local) Self() transport.Comm  { return t.self }

// TagUB leaves room for nothing: the collectives' messages are in contexts of
// their own.
func (t *local) TagUB() int           { return 1<<31 - 1 }
func (t *local) Wtime() time.Duration { return time.Since(clockStart) }

func (t *local) Info() transport.Info {
	found := "no launcher: a world of one rank"
	way := "nothing to copy between"
	if t.member != nil {
		found = fmt.Sprintf("%s, set by gocuda's launcher (process %d)", EnvName, t.member.launcher())
	}
	if t.e.size > 1 {
		way = "large messages go through shared memory in parts"
		if t.e.direct {
			way = "large messages are read from the sender's memory (process_vm_readv)"
			for i := range t.e.peers {
				if i != t.e.rank && !t.e.peers[i].readable {
					way = fmt.Sprintf("large messages go through shared memory in parts, for this process may not read rank %d's memory", i)
					break
				}
			}
		}
	}
	return transport.Info{
		Name:    "local",
		Version: fmt.Sprintf("gocuda's built-in transport, %s/%s: %s", runtime.GOOS, runtime.GOARCH, way),
		Found:   found,
		Thread:  "MPI_THREAD_MULTIPLE",
		Why:     "the built-in transport moves host memory; package mpi moves device memory between processes of one machine by CUDA IPC",
	}
}

func (t *local) Abort(code int) {
	if t.member != nil {
		t.member.send(note{kind: noteAbort, n: code})
	}
	os.Exit(code)
}

// Finalize waits for all ranks, unless one is lost.
func (t *local) Finalize() error {
	var failed error
	if r, err := t.end.Start(&transport.Collective{Kind: transport.Barrier}); err != nil {
		failed = err
	} else if _, _, err := r.(transport.Waiter).Wait(nil); err != nil {
		failed = err
	}
	t.e.flush()
	if t.member != nil {
		t.member.send(note{kind: noteBye})
	}
	t.e.close()
	if t.member != nil {
		t.member.close()
	}
	return failed
}

// publishCookie says where in this process's memory a number is that no other
// process has.
func (e *engine) publishCookie() {
	var b [8]byte
	rand.Read(b[:])
	cookie := new(uint64)
	*cookie = binary.LittleEndian.Uint64(b[:])
	e.cookie = cookie // keeps it
	me := e.segment.rank(e.rank)
	me.cookie.Store(*cookie)
	me.cookieAt.Store(uint64(uintptr(unsafe.Pointer(cookie))))
}

// canRead tells whether this process may read the memory of rank i's, and that
// the process known by its id is the right one.
func (e *engine) canRead(i int) bool {
	them := e.segment.rank(i)
	var got uint64
	n, err := readProcess(e.peers[i].pid, unsafe.Pointer(&got), them.cookieAt.Load(), 8)
	return err == nil && n == 8 && got == them.cookie.Load()
}
