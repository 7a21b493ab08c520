package mpi

import (
	"slices"
	"time"

	"gocuda/cudaapi/mpi/internal/transport"
)

// blockedIn is a call of a window that may be blocked.
type blockedIn struct {
	call  string
	peer  int
	id    uint64 // among the waits
	since time.Time
}

// enter notes that a call may block from now on, and gives its id; mu is held. Most
// such calls are over before anybody looks: [Waits] finds those that are not here.
func (w *Win) enter(call string, peer int) uint64 {
	id := waits.last.Add(1)
	w.blocked = append(w.blocked, blockedIn{call, peer, id, time.Now()})
	return id
}

// leave ends what enter began; mu is held.
func (w *Win) leave(id uint64) {
	for i := range w.blocked {
		if w.blocked[i].id == id {
			w.blocked = slices.Delete(w.blocked, i, i+1)
			return
		}
	}
}

// waits are the calls that have been blocked for long enough to be shown.
func (w *Win) waits() []shownWait {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []shownWait
	for _, b := range w.blocked {
		if time.Since(b.since) >= yields {
			list = append(list, shownWait{Wait: Wait{Call: b.call, Comm: w.c.name, Rank: w.c.rank, Peer: b.peer, Tag: -1, Bytes: -1, Since: b.since}, id: b.id, book: w.c.book})
		}
	}
	return list
}

// synced is what sync gives for what the transport says.
func (w *Win) synced(call string, peer int, err error) error {
	switch err {
	case nil:
		return nil
	case transport.ErrStopped:
		return ErrInterrupted
	}
	return w.c.fail(call, peer, err)
}

// epoch checks a call that begins or ends an epoch, and makes it if may, which has
// the state to check, says nothing. then changes the state when it is done. Both are
// called with mu held.
func (w *Win) epoch(call string, s transport.Sync, peer int, promises []Assert, may func() *Error, then func()) error {
	if err := w.usable(call); err != nil {
		return err
	}
	for _, a := range promises {
		s.Assert |= transport.Assert(a)
	}
	w.mu.Lock()
	if bad := may(); bad != nil {
		w.mu.Unlock()
		return bad
	}
	id := w.enter(call, peer)
	w.mu.Unlock()
	_, err := w.t.Sync(s, stop())
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leave(id)
	if err == nil {
		then()
	}
	return w.synced(call, peer, err)
}

// idle is an error if an epoch is open that must be ended before.
func (w *Win) idle(call string) *Error {
	if open := w.openEpoch(); open != "" {
		return w.c.misuse(ErrRMASync, call, "%s", open)
	}
	return nil
}

func (w *Win) group(call string, ranks []int) error {
	if err := w.usable(call); err != nil {
		return err
	}
	for i, r := range ranks {
		if r < 0 || r >= w.c.size {
			return w.c.noRank(ErrRank, call, "rank", r)
		}
		if slices.Contains(ranks[:i], r) {
			return w.c.misuse(ErrRank, call, "rank %d is in the list twice", r)
		}
	}
	return nil
}

// Fence ends the operations of all ranks since the fence before, and begins an epoch
// in which every rank may reach every other (MPI_Win_fence). All ranks call it. It
// blocks until all have, and until what was started here and on this rank's memory is
// done. Promise NoSucceed in the last one.
func (w *Win) Fence(promises ...Assert) error {
	const call = "Win.Fence"
	return w.epoch(call, transport.Sync{Kind: transport.Fence}, -1, promises, func() *Error { return w.idle(call) }, func() {
		w.fenced = !slices.ContainsFunc(promises, func(a Assert) bool { return a&NoSucceed != 0 })
		w.ended(-1)
	})
}

// Post lets the given ranks reach this rank's memory, until Wait (MPI_Win_post). They
// call [Win.Start] with this rank in their list. It does not block.
func (w *Win) Post(ranks []int, promises ...Assert) error {
	const call = "Win.Post"
	if err := w.group(call, ranks); err != nil {
		return err
	}
	return w.epoch(call, transport.Sync{Kind: transport.Post, Group: slices.Clone(ranks)}, -1, promises, func() *Error {
		if w.exposed {
			return w.idle(call)
		}
		return nil
	}, func() { w.exposed, w.fenced = true, false })
}

// Start begins an epoch in which this rank reaches the given ones (MPI_Win_start). It
// may block until they have called [Win.Post].
func (w *Win) Start(ranks []int, promises ...Assert) error {
	const call = "Win.Start"
	if err := w.group(call, ranks); err != nil {
		return err
	}
	return w.epoch(call, transport.Sync{Kind: transport.StartAccess, Group: slices.Clone(ranks)}, -1, promises, func() *Error {
		if w.started != nil || w.lockedAll || len(w.locked) > 0 {
			return w.idle(call)
		}
		return nil
	}, func() { w.started, w.fenced = append([]int{}, ranks...), false })
}

// Complete ends the epoch that Start began (MPI_Win_complete). It blocks until the
// buffers of its operations may be used again; that they are done at the targets,
// Wait there says.
func (w *Win) Complete() error {
	const call = "Win.Complete"
	return w.epoch(call, transport.Sync{Kind: transport.Complete}, -1, nil, func() *Error {
		if w.started == nil {
			return w.c.misuse(ErrRMASync, call, "no epoch is open that Start began")
		}
		return nil
	}, func() {
		w.started = nil
		w.ended(-1)
	})
}

// Wait ends the epoch that Post began (MPI_Win_wait). It blocks until all its ranks
// have called Complete and what they did is done.
func (w *Win) Wait() error {
	const call = "Win.Wait"
	return w.epoch(call, transport.Sync{Kind: transport.WaitExposure}, -1, nil, func() *Error { return w.posted(call) }, func() { w.exposed = false })
}

func (w *Win) posted(call string) *Error {
	if !w.exposed {
		return w.c.misuse(ErrRMASync, call, "no epoch is open that Post began")
	}
	return nil
}

// Test is Wait that does not block: it tells whether the epoch is over, and has ended
// it then (MPI_Win_test).
func (w *Win) Test() (bool, error) {
	const call = "Win.Test"
	if err := w.usable(call); err != nil {
		return false, err
	}
	w.mu.Lock()
	bad := w.posted(call)
	w.mu.Unlock()
	if bad != nil {
		return false, bad
	}
	done, err := w.t.Sync(transport.Sync{Kind: transport.TestExposure}, nil)
	if done {
		w.mu.Lock()
		w.exposed = false
		w.mu.Unlock()
	}
	return done, w.synced(call, -1, err)
}

// Lock begins an epoch in which this rank reaches the target, which calls nothing
// (MPI_Win_lock). An exclusive lock excludes all others. It may block until it is
// held.
func (w *Win) Lock(target int, kind LockKind, promises ...Assert) error {
	const call = "Win.Lock"
	if err := w.usable(call); err != nil {
		return err
	}
	if uint(target) >= uint(w.c.size) {
		return w.c.noRank(ErrRank, call, "target", target)
	}
	return w.epoch(call, transport.Sync{Kind: transport.Lock, Target: target, Exclusive: kind == LockExclusive}, target, promises, func() *Error {
		if w.locked[target] || w.lockedAll || w.started != nil {
			return w.idle(call)
		}
		return w.locking(call)
	}, func() { w.locked[target], w.fenced = true, false })
}

func (w *Win) locking(call string) *Error {
	if w.info["no_locks"] == "true" {
		return w.c.misuse(ErrRMASync, call, "%s was made with the hint no_locks", w.name)
	}
	return nil
}

// LockAll begins an epoch in which this rank reaches all ranks, with shared locks
// (MPI_Win_lock_all). It may block until they are held.
func (w *Win) LockAll(promises ...Assert) error {
	const call = "Win.LockAll"
	return w.epoch(call, transport.Sync{Kind: transport.LockAll}, -1, promises, func() *Error {
		if w.lockedAll || len(w.locked) > 0 || w.started != nil {
			return w.idle(call)
		}
		return w.locking(call)
	}, func() { w.lockedAll, w.fenced = true, false })
}

// Unlock ends the epoch that Lock began (MPI_Win_unlock). It blocks until all its
// operations are done, here and at the target.
func (w *Win) Unlock(target int) error {
	const call = "Win.Unlock"
	return w.epoch(call, transport.Sync{Kind: transport.Unlock, Target: target}, target, nil, func() *Error {
		if !w.locked[target] {
			return w.c.misuse(ErrRMASync, call, "rank %d is not locked by Lock", target)
		}
		return nil
	}, func() {
		delete(w.locked, target)
		w.ended(target)
	})
}

// UnlockAll ends the epoch that LockAll began (MPI_Win_unlock_all). It blocks as
// Unlock does.
func (w *Win) UnlockAll() error {
	const call = "Win.UnlockAll"
	return w.epoch(call, transport.Sync{Kind: transport.UnlockAll}, -1, nil, func() *Error {
		if !w.lockedAll {
			return w.c.misuse(ErrRMASync, call, "LockAll was not called")
		}
		return nil
	}, func() {
		w.lockedAll = false
		w.ended(-1)
	})
}

// Flush blocks until the operations on a target are done, here and there, within an
// epoch that Lock or LockAll began (MPI_Win_flush).
func (w *Win) Flush(target int) error {
	return w.flush("Win.Flush", transport.Flush, target)
}

// FlushAll is Flush of all targets (MPI_Win_flush_all).
func (w *Win) FlushAll() error { return w.flush("Win.FlushAll", transport.FlushAll, -1) }

// FlushLocal blocks until the buffers of the operations on a target may be used again,
// and what they fetch is there (MPI_Win_flush_local).
func (w *Win) FlushLocal(target int) error {
	return w.flush("Win.FlushLocal", transport.FlushLocal, target)
}

// FlushLocalAll is FlushLocal of all targets (MPI_Win_flush_local_all).
func (w *Win) FlushLocalAll() error {
	return w.flush("Win.FlushLocalAll", transport.FlushLocalAll, -1)
}

func (w *Win) flush(call string, kind transport.SyncKind, target int) error {
	if err := w.usable(call); err != nil {
		return err
	}
	if all := kind == transport.FlushAll || kind == transport.FlushLocalAll; !all && uint(target) >= uint(w.c.size) {
		return w.c.noRank(ErrRank, call, "target", target)
	}
	return w.epoch(call, transport.Sync{Kind: kind, Target: target}, target, nil, func() *Error {
		if !w.lockedAll && !w.locked[target] && (target >= 0 || len(w.locked) == 0) {
			return w.c.misuse(ErrRMASync, call, "no epoch is open that Lock or LockAll began")
		}
		return nil
	}, func() { w.ended(target) })
}

// Sync orders this rank's own loads and stores of the window's memory with those of
// others (MPI_Win_sync). It does not wait for operations.
func (w *Win) Sync() error {
	const call = "Win.Sync"
	return w.epoch(call, transport.Sync{Kind: transport.SyncMemory}, -1, nil, func() *Error { return nil }, func() {})
}
