package ranks

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"gocuda/kernel/session"
	"gocuda/kernel/session/link"
)

// quitTime is how long a remote rank may take to end its evaluator when asked.
const quitTime = 5 * time.Second

// remote is a rank that mpirun started: a member over a signed link.
type remote struct {
	*session.Client
	arrival
	// ending says how mpirun ended, after a connection that ended without a word.
	ending func() string

	ended chan struct{} // closed when its evaluator is gone, or the link
	gone  chan struct{} // closed when the link is

	mu      sync.Mutex
	death   string
	closing bool
}

func newRemote(a arrival, output func(session.Output), input session.InputFunc, ending func() string) *remote {
	r := &remote{arrival: a, ending: ending, ended: make(chan struct{}), gone: make(chan struct{})}
	r.Client = session.NewClient(a.conn, session.ClientOptions{Output: output, Input: input, Ended: func(why string) {
		if own, _ := os.Hostname(); a.Host != own && a.Host != "" {
			why += ", on host " + a.Host
		}
		r.end(why)
	}})
	return r
}

// listen handles what the rank sends, until its end.
func (r *remote) listen() {
	defer close(r.gone)
	why := r.Listen()
	r.Client.Close()
	r.mu.Lock()
	closing := r.closing
	r.mu.Unlock()
	switch {
	case closing:
		r.end("it was stopped")
	case errors.Is(why, link.ErrStranger) || errors.Is(why, session.ErrNonsense):
		r.end("its connection was ended: " + why.Error())
	case isSilent(why):
		r.end(fmt.Sprintf("its host %s has not answered for %v (is it down, or its network?)", r.Host, silence))
	default:
		r.end("its connection with host " + r.Host + " ended" + r.ending())
	}
}

// end notes why the rank is of no more use, unless that is known already. Its
// connection may stay: mpirun ends all ranks when one of its processes exits.
func (r *remote) end(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.death == "" {
		r.death = why
		close(r.ended)
	}
}

func (r *remote) Pid() int               { return r.arrival.Pid }
func (r *remote) Ended() <-chan struct{} { return r.ended }

func (r *remote) Death() string {
	<-r.ended
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.death
}

// Close asks the rank to end, and gives it up when it does not.
func (r *remote) Close() error {
	r.mu.Lock()
	r.closing = true
	r.mu.Unlock()
	r.Quit()
	select {
	case <-r.gone:
	case <-time.After(quitTime):
		r.Client.Close()
		<-r.gone
	}
	return nil
}
