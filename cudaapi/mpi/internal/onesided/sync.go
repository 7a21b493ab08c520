package onesided

import (
	"strconv"
	"sync/atomic"

	"gocuda/cudaapi/mpi/internal/transport"
)

func (w *Window) Sync(s transport.Sync, stop <-chan struct{}) (done bool, err error) {
	select {
	case <-w.broken:
		return false, w.why
	default:
	}
	if s.Kind == transport.TestExposure {
		w.poll()
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.exposureOver(), nil
	}
	err = w.sync(s, stop)
	return err == nil, err
}

func (w *Window) sync(s transport.Sync, stop <-chan struct{}) error {
	switch s.Kind {
	case transport.Fence:
		if err := w.flushAll(stop); err != nil {
			return err
		}
		return w.barrier(stop)
	case transport.Post:
		w.mu.Lock()
		w.exposed = append([]int{}, s.Group...)
		w.mu.Unlock()
		return w.tell(s.Group, doPost, w.posts)
	case transport.StartAccess:
		w.started = append([]int{}, s.Group...)
		return w.until(w.allPosted, stop)
	case transport.Complete:
		for _, to := range w.started {
			if err := w.local(to, stop); err != nil {
				return err
			}
		}
		return w.tell(w.started, doComplete, w.dones)
	case transport.WaitExposure:
		return w.until(w.exposureOver, stop)
	case transport.Lock:
		return w.locks([]int{s.Target}, s.Exclusive, stop)
	case transport.LockAll:
		return w.locks(w.all(), false, stop)
	case transport.Unlock:
		return w.unlocks([]int{s.Target}, stop)
	case transport.UnlockAll:
		return w.unlocks(w.all(), stop)
	case transport.Flush:
		return w.flush([]int{s.Target}, doFlush, stop)
	case transport.FlushAll:
		return w.flushAll(stop)
	case transport.FlushLocal:
		return w.local(s.Target, stop)
	case transport.FlushLocalAll:
		for _, to := range w.all() {
			if err := w.local(to, stop); err != nil {
				return err
			}
		}
	case transport.SyncMemory:
		new(atomic.Uint32).Add(1) // a barrier of memory on every processor that Go knows
	}
	return nil
}

func (w *Window) all() []int {
	list := make([]int, w.c.Size())
	for i := range list {
		list[i] = i
	}
	return list
}

// allPosted and exposureOver are asked with mu held.
func (w *Window) allPosted() bool { return takeAll(w.posts, w.started) }

func (w *Window) exposureOver() bool {
	if !takeAll(w.dones, w.exposed) {
		return false
	}
	w.exposed = nil
	return true
}

// takeAll counts one down for each of the group, if all of it have one.
func takeAll(counts, group []int) bool {
	for _, r := range group {
		if counts[r] == 0 {
			return false
		}
	}
	for _, r := range group {
		counts[r]--
	}
	return true
}

// tell sends a word to a group, of which this rank may be one: it counts it itself.
func (w *Window) tell(group []int, what command, own []int) error {
	for _, to := range group {
		if to == w.rank {
			w.mu.Lock()
			own[to]++
			w.news()
			w.mu.Unlock()
			continue
		}
		r, err := w.send(to, header{command: what})
		if err != nil {
			return err
		}
		w.sending(r)
	}
	return nil
}

// sending keeps a message until it is sent.
func (w *Window) sending(r transport.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.replies = append(w.replies, r)
}

// local waits until what was asked of a target needs its buffers no more.
func (w *Window) local(to int, stop <-chan struct{}) error {
	w.originMu.Lock()
	list := w.targets[to].waiting
	w.targets[to].waiting = nil
	w.originMu.Unlock()
	var first error
	for i, o := range list {
		err := w.finish(o, stop)
		if err == transport.ErrStopped {
			w.originMu.Lock()
			w.targets[to].waiting = append(list[i:], w.targets[to].waiting...)
			w.originMu.Unlock()
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func (w *Window) flushAll(stop <-chan struct{}) error { return w.flush(w.all(), doFlush, stop) }

// awaited is an answer of one rank.
type awaited struct {
	from int
	text []byte
	r    transport.Request
}

// ask sends some ranks a command, and gives their answers to wait for.
func (w *Window) ask(group []int, what command) ([]awaited, error) {
	var list []awaited
	for _, to := range group {
		x := awaited{from: to, text: make([]byte, 512)}
		tag := w.answerTag()
		var err error
		if x.r, err = w.c.Irecv(hostMemory(x.text), to, int(tag)); err != nil {
			return list, err
		}
		r, err := w.send(to, header{command: what, tag: tag})
		if err != nil {
			return list, err
		}
		w.sending(r)
		list = append(list, x)
	}
	return list, nil
}

// flush waits until what was asked of some ranks is done there.
func (w *Window) flush(group []int, what command, stop <-chan struct{}) error {
	var others []int
	for _, to := range group {
		w.originMu.Lock()
		dirty := w.targets[to].dirty
		w.targets[to].dirty = false
		w.originMu.Unlock()
		if to != w.rank && (dirty || what != doFlush) {
			others = append(others, to)
		}
	}
	list, err := w.ask(others, what)
	for _, to := range group {
		if wrong := w.local(to, stop); err == nil {
			err = wrong
		}
	}
	for _, x := range list {
		st, wrong := w.await(x.r, stop)
		if wrong == nil && st.Bytes > 0 {
			wrong = &transport.Error{Class: transport.RMARange, Text: "at rank " + strconv.Itoa(x.from) + ": " + string(x.text[:st.Bytes])}
		}
		if err == nil {
			err = wrong
		}
	}
	if err != nil { // the next one is not to be left out
		w.originMu.Lock()
		for _, to := range group {
			w.targets[to].dirty = true
		}
		w.originMu.Unlock()
	}
	return err
}

// locks takes the locks of some ranks, all asked for at once, the own one first.
func (w *Window) locks(group []int, exclusive bool, stop <-chan struct{}) error {
	what := doLock
	if exclusive {
		what = doLockExclusive
	}
	var others []int
	var own chan struct{}
	for _, to := range group {
		if to != w.rank {
			others = append(others, to)
			continue
		}
		own = make(chan struct{})
		w.mu.Lock()
		w.lock.ask(request{w.rank, exclusive, 0, own})
		w.grant()
		w.mu.Unlock()
	}
	list, err := w.ask(others, what)
	if err != nil {
		return err
	}
	if own != nil {
		err = w.until(func() bool { return closed(own) }, stop)
	}
	for _, x := range list {
		if err == nil {
			_, err = w.await(x.r, stop)
		}
	}
	if err == transport.ErrStopped {
		// The locks may still come: they are given back then.
		go func() {
			for _, x := range list {
				if _, err := w.await(x.r, w.quit); err != nil {
					return
				}
			}
			if own != nil && w.until(func() bool { return closed(own) }, w.quit) != nil {
				return
			}
			w.unlocks(group, w.quit) //nolint:errcheck // the caller has its error already
		}()
	}
	return err
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// unlocks gives locks back when what was done under them is done.
func (w *Window) unlocks(group []int, stop <-chan struct{}) error {
	err := w.flush(group, doUnlock, stop)
	for _, to := range group {
		if to == w.rank {
			w.mu.Lock()
			w.lock.leave(w.rank)
			w.grant()
			w.mu.Unlock()
		}
	}
	return err
}
