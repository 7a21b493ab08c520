package ranks

import (
	"context"
	"os"

	"gocuda/kernel/magic"
	"gocuda/kernel/session"
)

// attachRank is Attach in a rank.
func attachRank(h *session.Host) session.Extension {
	refuse := func(_ context.Context, _ magic.Env, call magic.Call) error {
		return call.Errorf("UsageError", "this is rank %s, which has no ranks of its own: leave the line out of %%%%mpi cells", os.Getenv(rankEnv))
	}
	for _, m := range (&notebook{}).magics() {
		m.Run = refuse
		magic.Register(m)
	}
	return session.Extension{}
}

// presetCode is the first cell of every rank.
const presetCode = `
cuda.SetDevice(rank % cuda.DeviceCount())
`

// prepare runs the first cell on every rank.
func (p *pool) prepare(ctx context.Context) error {
	cell := session.Cell{Name: "%mpi start", Code: "rank, size := " + os.Getenv(rankEnv), Silent: true}
	cell.Code = `import "strconv"
func presetInt(name string) int { return must(strconv.Atoi(os.Getenv(name))) }
rank, size := presetInt("GOCUDA_RANK"), presetInt("GOCUDA_RANKS")
`
	j, err := p.post(cell, all(len(p.ranks)), 0)
	if err != nil {
		return err
	}
	if err := p.wait(ctx, j); err != nil {
		return err
	}
	if e := j.err(); e != nil {
		return e
	}
	return nil
}
