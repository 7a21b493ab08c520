package ranks

import (
	"context"
	"fmt"
	"os"

	"gocuda/kernel/session"
)

// rankEnv and sizeEnv tell an evaluator that it is a rank.
const (
	rankEnv = "GOCUDA_RANK"
	sizeEnv = "GOCUDA_RANKS"
)

// local starts ranks as children of this process.
type local struct{}

func (l *local) start(ctx context.Context, o startOptions, m *merger, h host) ([]*rank, error) {
	hostname, _ := os.Hostname()
	var list []*rank
	for i := range o.n {
		env := []string{fmt.Sprintf("%s=%d", rankEnv, i), fmt.Sprintf("%s=%d", sizeEnv, o.n)}
		r := &rank{number: i, host: hostname}
		s, err := session.Start(sessionOptions(env, func(out session.Output) { r.receive(m, out) }, r.ask(h)))
		if err != nil {
			for _, r := range list {
				r.Close()
			}
			return nil, fmt.Errorf("rank %d: %w", i, err)
		}
		r.member = s
		list = append(list, r)
	}
	return list, nil
}

func (l *local) close()              {}
func (l *local) strangers() []string { return nil }
