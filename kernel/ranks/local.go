package ranks

import (
	"context"
	"fmt"
	"os"
	"sync"

	"gocuda/cudaapi/mpi/launch"
	"gocuda/kernel/session"
)

// local starts ranks as children of this process, which talk over package mpi's
// built-in transport.
type local struct {
	job *launch.Job

	mu      sync.Mutex
	refused []string
}

func (l *local) start(_ context.Context, o startOptions, m *merger, h host) ([]*rank, error) {
	var err error
	if l.job, err = launch.New(o.n); err != nil {
		return nil, err
	}
	l.job.Watch(func(e launch.Event) {
		if e.Kind == launch.Refused {
			l.mu.Lock()
			defer l.mu.Unlock()
			if len(l.refused) < maxStrangers {
				l.refused = append(l.refused, "refused a connection: "+e.Text)
			}
		}
	})
	hostname, _ := os.Hostname()
	var list []*rank
	for i := range o.n {
		env := append(l.job.Env(i), fmt.Sprintf("%s=%d", rankEnv, i), fmt.Sprintf("%s=%d", sizeEnv, o.n))
		r := &rank{number: i, host: hostname}
		s, err := session.Start(sessionOptions(env, r.receiver(m), r.ask(h)))
		if err != nil {
			for _, r := range list {
				r.Close()
			}
			return nil, fmt.Errorf("rank %d: %w", i, err)
		}
		r.member = s
		list = append(list, r)
		go func() {
			<-s.Ended()
			l.job.Lost(i, s.Death())
		}()
	}
	return list, nil
}

func (l *local) close([]*rank) {
	if l.job != nil {
		l.job.Close()
	}
}

func (l *local) notes() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string{}, l.refused...)
}
