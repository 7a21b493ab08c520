package device

import (
	"errors"
	"sync"

	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/mpi/internal/transport"
)

// replies are the answers that a peer owes this rank. All have one tag and name the
// message that they answer, so no number of messages whose receives come late makes
// two of them look alike. As many receives are posted as answers are to come; whoever
// finds another message's answer leaves it for that message.
type replies struct {
	mu     sync.Mutex
	posted []*awaited        // in the order in which they match
	came   map[uint64]*reply // by the message's key; nil: it is still to come
}

// awaited is a receive of an answer.
type awaited struct {
	reply reply
	req   transport.Request
}

// expect is called before a message is sent that the peer will answer.
func (q *replies) expect(side transport.Comm, peer int, key uint64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	a := &awaited{}
	var err error
	if a.req, err = side.Irecv(Host(handshake.Bytes(&a.reply)), peer, replyTag); err != nil {
		return err
	}
	q.posted = append(q.posted, a)
	if q.came == nil {
		q.came = map[uint64]*reply{}
	}
	q.came[key] = nil
	return nil
}

// forget is called when a message that is expected to be answered could not be sent.
func (q *replies) forget(key uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.came, key)
	if n := len(q.posted); n > 0 { // all of them are alike; the last one matches last
		q.posted[n-1].req.Cancel() //nolint:errcheck // nothing comes for it
		q.posted = q.posted[:n-1]
	}
}

// take gives the answer to a message; nil if it has not come yet.
func (q *replies) take(key uint64) (*reply, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.posted) > 0 && q.came[key] == nil {
		first := q.posted[0]
		_, done, err := first.req.Test()
		if err != nil || done {
			q.posted = q.posted[1:]
		}
		if err != nil {
			delete(q.came, key)
			return nil, err
		}
		if !done {
			return nil, nil
		}
		if _, expected := q.came[first.reply.key]; expected {
			q.came[first.reply.key] = &first.reply
		}
	}
	a := q.came[key]
	delete(q.came, key)
	if a == nil {
		return nil, errors.New("the receiver's answer is lost")
	}
	return a, nil
}

// close gives up what was not answered.
func (q *replies) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, a := range q.posted {
		a.req.Cancel() //nolint:errcheck // nothing comes any more
		a.req.Test()   //nolint:errcheck // the same
	}
	q.posted, q.came = nil, nil
}

// fragmentTags are the tags for data that a peer sends in fragments. The receiver
// gives one out with its request, and takes it back when it has all of the data: the
// sender is done earlier, with fragments still on their way.
type fragmentTags struct {
	mu   sync.Mutex
	free []int
	made int
	lost error // why one does not come back
}

// take gives a tag; 0 if all are in use.
func (f *fragmentTags) take(most int) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.free); n > 0 {
		tag := f.free[n-1]
		f.free = f.free[:n-1]
		return tag, nil
	}
	if f.made == most {
		return 0, f.lost
	}
	f.made++
	return firstFragmentTag + f.made - 1, nil
}

// fail is called instead of give when nothing can be received from the peer any more.
func (f *fragmentTags) fail(why error) {
	f.mu.Lock()
	f.lost = why
	f.mu.Unlock()
}

func (f *fragmentTags) give(tag int) {
	f.mu.Lock()
	f.free = append(f.free, tag)
	f.mu.Unlock()
}
