package ranks

import "context"

type mpirun struct{ path string }

func (l *mpirun) start(ctx context.Context, o startOptions, m *merger, h host) ([]*rank, error) {
	return nil, nil
}
func (l *mpirun) close()              {}
func (l *mpirun) strangers() []string { return nil }
