package mpi

import (
	"errors"
	"fmt"

	"gocuda/cudaapi/mpi/internal/transport"
)

// lost is closed when one of the communicator's ranks is lost; it is nil where nobody
// would tell.
func (c *Comm) lost() <-chan struct{} {
	if m, ok := c.t.(transport.Mortal); ok {
		return m.Lost()
	}
	return nil
}

// lossOf says which rank that p waits for, directly or not, is lost.
func (c *Comm) lossOf(p *pending) error {
	return c.fail(p.call, p.peer, c.t.(transport.Mortal).Loss())
}

// survivor is what goes on when ranks are lost.
func (c *Comm) survivor(call string) (transport.Survivor, error) {
	if err := c.usable(call); err != nil {
		return nil, err
	}
	s, ok := c.t.(transport.Survivor)
	if !ok {
		return nil, c.misuse(ErrUnsupported, call, "%s ends all ranks when one is lost", c.w.t.Info().Name).
			hint("the built-in transport, Open MPI 5 (mpirun --with-ft ulfm) and MPICH (mpirun -disable-auto-cleanup) do not")
	}
	return s, nil
}

// Failed are the ranks of the communicator that are known to be lost, in rising order
// (MPIX_Comm_get_failed). It does not block.
func (c *Comm) Failed() ([]int, error) {
	const call = "Comm.Failed"
	s, err := c.survivor(call)
	if err != nil {
		return nil, err
	}
	ranks, err := s.Failed()
	if err != nil {
		return nil, c.fail(call, -1, err)
	}
	return ranks, nil
}

// Agree tells all ranks that live whether all of them say yes (MPIX_Comm_agree). It is
// collective over them and blocks, whoever is lost meanwhile, also where the communicator
// was revoked. All of them get the same answer.
func (c *Comm) Agree(yes bool) (bool, error) {
	const call = "Comm.Agree"
	s, err := c.survivor(call)
	if err != nil {
		return false, err
	}
	all, err := s.Agree(yes)
	if err != nil {
		return false, c.fail(call, -1, err)
	}
	return all, nil
}

// Revoke ends every call that waits on the communicator, at all ranks, with [ErrRevoked],
// and every later one but Agree and Shrink (MPIX_Comm_revoke): a rank that learns of a loss
// frees those that wait for itself. It does not block.
func (c *Comm) Revoke() error {
	const call = "Comm.Revoke"
	s, err := c.survivor(call)
	if err != nil {
		return err
	}
	err = s.Revoke()
	if side, ok := c.side.(transport.Survivor); ok {
		err = errors.Join(err, side.Revoke())
	}
	if err != nil {
		return c.fail(call, -1, err)
	}
	return nil
}

// Shrink makes a communicator of the ranks that live, in their order (MPIX_Comm_shrink).
// It is collective over them and blocks, whoever is lost meanwhile. Buffers of messages
// that a lost rank left open are the program's again when their calls have ended.
//
//	if errors.Is(err, mpi.ErrProcLost) {
//		world, err = world.Shrink()
//	}
func (c *Comm) Shrink() (*Comm, error) {
	const call = "Comm.Shrink"
	s, err := c.survivor(call)
	if err != nil {
		return nil, err
	}
	for {
		n := c.children.Add(1)
		var d *Comm
		t, err := s.Shrink()
		if err == nil {
			d, err = newComm(c.w, t, fmt.Sprintf("%s.shrunk%d", c.name, n), fmt.Sprintf("%s.shrunk%d:", c.id, n))
		}
		if err != nil && !lostOne(err) {
			return nil, c.fail(call, -1, err)
		}
		// Another may have been lost before all had it.
		all, wrong := s.Agree(err == nil)
		if wrong != nil {
			return nil, c.fail(call, -1, wrong)
		}
		if all {
			return d, nil
		}
	}
}

// lostOne tells whether a transport's error is that a rank was lost.
func lostOne(err error) bool {
	var e *transport.Error
	return errors.As(err, &e) && (e.Class == transport.ProcLost || e.Class == transport.Revoked)
}
