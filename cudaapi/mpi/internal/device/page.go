package device

import (
	"crypto/rand"
	"os"
	"sync"
	"unsafe"
)

// A page is memory that one process writes and the others of its host read. It
// has room for the notices of all communicators of the process, and in its first
// place a cookie and the words of short offers.

const (
	ringBytes = int(unsafe.Sizeof(noticeRing{}))
	pageBytes = 512 * ringBytes
	slots     = ringBytes/8 - 1 // words of short offers, behind the cookie
	noPlace   = 0
)

// ownPage is this process's; nil if it has none.
type ownPage struct {
	memory []byte
	file   *os.File
}

func (p *ownPage) close() {
	if p != nil {
		p.file.Close()
	}
}

// pagePlace tells another process where a page is.
type pagePlace struct {
	pid    uint32
	fd     int32   // -1: there is none
	cookie [8]byte // what the page begins with
}

// place marks the page with a cookie, and tells where it is.
func (p *ownPage) place() pagePlace {
	at := pagePlace{pid: uint32(os.Getpid()), fd: -1}
	if p == nil {
		return at
	}
	if _, err := rand.Read(at.cookie[:]); err == nil {
		at.fd = int32(p.file.Fd())
		copy(p.memory, at.cookie[:])
	}
	return at
}

// pages are this process's page and those of the other ranks of the host; nil where
// ranks have none.
type pages struct {
	own   []byte
	ranks map[int][]byte // by rank in the world

	mu    sync.Mutex
	free  []uint32 // places of notices
	slots []uint8  // of short offers, not in use
}

// openPages opens the pages of a host's ranks; nil if one cannot be opened.
func openPages(host [16]byte, rank int, own *ownPage, all []process) *pages {
	p := &pages{ranks: map[int][]byte{}}
	for r := range all {
		if all[r].host != host {
			continue
		}
		at := all[r].page
		var page []byte
		if r != rank {
			page = openPage(at.pid, at.fd)
		} else if own != nil {
			page = own.memory
			p.own = page
		}
		if page == nil || [8]byte(page) != at.cookie {
			return nil
		}
		p.ranks[r] = page
	}
	for at := pageBytes - ringBytes; at > noPlace; at -= ringBytes {
		p.free = append(p.free, uint32(at))
	}
	for slot := uint8(slots); slot > 0; slot-- {
		p.slots = append(p.slots, slot)
	}
	return p
}

// of is the page of a rank of the world; nil if there is none.
func (p *pages) of(rank int) []byte {
	if p == nil {
		return nil
	}
	return p.ranks[rank]
}

// take takes a place for notices in the process's page, noPlace if there is none.
func (p *pages) take() uint32 {
	if p == nil {
		return noPlace
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.free)
	if n == 0 {
		return noPlace
	}
	at := p.free[n-1]
	p.free = p.free[:n-1]
	clear(p.own[at:][:ringBytes])
	return at
}

func (p *pages) give(at uint32) {
	if at != noPlace {
		p.mu.Lock()
		p.free = append(p.free, at)
		p.mu.Unlock()
	}
}

// find gives the notices of a communicator's ranks; nil if not all have any.
func (p *pages) find(peers []peer) []*noticeRing {
	rings := make([]*noticeRing, len(peers))
	for r, q := range peers {
		page := p.of(int(q.rank))
		if q.notices == noPlace || page == nil {
			return nil
		}
		rings[r] = (*noticeRing)(unsafe.Pointer(&page[q.notices]))
	}
	return rings
}

// takeSlot takes a word for a short offer; 0 if there is none.
func (p *pages) takeSlot() uint8 {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.slots)
	if n == 0 {
		return 0
	}
	slot := p.slots[n-1]
	p.slots = p.slots[:n-1]
	return slot
}

func (p *pages) giveSlot(slot uint8) {
	p.mu.Lock()
	p.slots = append(p.slots, slot)
	p.mu.Unlock()
}
