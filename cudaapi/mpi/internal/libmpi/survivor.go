//go:build linux && (amd64 || arm64)

package libmpi

import (
	"errors"

	"gocuda/cudaapi/internal/clib"
	"gocuda/cudaapi/mpi/internal/transport"
)

var _ transport.Survivor = (*comm)(nil)

// Agree is MPIX_Comm_agree. That ranks are lost is not its error.
func (c *comm) Agree(yes bool) (bool, error) {
	flag := new(int32)
	if yes {
		*flag = 1
	}
	if err := c.t.do(mpixCommFailureAck, c.handle); err != nil {
		return false, err
	}
	err := c.t.do(mpixCommAgree, c.handle, clib.Pin(flag))
	var e *transport.Error
	if errors.As(err, &e) && e.Class == transport.ProcLost {
		err = nil
	}
	return *flag != 0, err
}

// Shrink is MPIX_Comm_shrink.
func (c *comm) Shrink() (transport.Comm, error) {
	h := new(uintptr)
	if err := c.t.do(mpixCommShrink, c.handle, clib.Pin(h)); err != nil {
		return nil, err
	}
	n, err := c.t.newComm(*h)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// Revoke is MPIX_Comm_revoke.
func (c *comm) Revoke() error { return c.t.do(mpixCommRevoke, c.handle) }

// Failed is MPIX_Comm_get_failed.
func (c *comm) Failed() ([]int, error) {
	lost, all := new(uintptr), new(uintptr)
	if err := c.t.do(mpixCommGetFailed, c.handle, clib.Pin(lost)); err != nil {
		return nil, err
	}
	defer c.t.call(mpiGroupFree, clib.Pin(lost))
	if err := c.t.do(mpiCommGroup, c.handle, clib.Pin(all)); err != nil {
		return nil, err
	}
	defer c.t.call(mpiGroupFree, clib.Pin(all))
	n := new(int32)
	if err := c.t.do(mpiGroupSize, *lost, clib.Pin(n)); err != nil || *n == 0 {
		return nil, err
	}
	theirs, ours := make([]int32, *n), make([]int32, *n)
	for i := range theirs {
		theirs[i] = int32(i)
	}
	if err := c.t.do(mpiGroupTranslate, *lost, uintptr(*n), clib.Pin(&theirs[0]), *all, clib.Pin(&ours[0])); err != nil {
		return nil, err
	}
	ranks := make([]int, *n)
	for i, r := range ours {
		ranks[i] = int(r)
	}
	return ranks, nil
}
