package mpi_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi"
)

func init() { programs["short"] = short }

// TestShortMessagesOfDevices: their senders do not wait for the receive, and what
// comes is what was sent, whenever it is received, and into whatever memory.
func TestShortMessagesOfDevices(t *testing.T) {
	for seed := range 2 {
		runRanks(t, 2, "short", "GOCUDA_SIM_SCHEDULE=adversarial", fmt.Sprint("GOCUDA_SIM_SEED=", seed+1))
	}
}

// short has both ranks send and then receive, and overwrite what they have sent.
func short() error {
	world, d, err := begin()
	if err != nil {
		return err
	}
	rank := world.Rank()
	s, err := d.NewStream(cuda.NonBlocking)
	out, err2 := d.Alloc(100, cuda.Uint8)
	in, err3 := d.Alloc(100, cuda.Uint8)
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(7, uint64(rank)))
	holds := func(what string, v uint8) error {
		got, err := in.Uint8s()
		if err == nil && (got[0] != v || got[99] != v) {
			err = fmt.Errorf("%s: %d and %d, want %d", what, got[0], got[99], v)
		}
		return err
	}
	// A receive that comes at once, about when the sender gives up waiting, and later.
	for turn := range 200 {
		v := uint8(turn)
		if err := errors.Join(out.Fill(v, s), s.Synchronize(), world.Send(out, 1-rank, 0), out.Fill(uint8(255), s), s.Synchronize()); err != nil {
			return err
		}
		time.Sleep(time.Duration(rng.IntN(4)*rng.IntN(100)) * time.Microsecond)
		receive := func() error { _, err := world.Recv(in, 1-rank, 0); return err }
		if turn%5 == 1 {
			receive = func() error { _, err := world.RecvOn(in, 1-rank, 0, s); return errors.Join(err, s.Synchronize()) }
		}
		if err := errors.Join(receive(), holds(fmt.Sprint("turn ", turn), v)); err != nil {
			return err
		}
	}
	// More than can be offered at once, received the other way round.
	var sent []*mpi.Request
	for tag := range 150 {
		r, err := world.Isend(out.Slice(0, 8), 1-rank, tag)
		if err != nil {
			return err
		}
		sent = append(sent, r)
	}
	if _, err := mpi.WaitAll(sent...); err != nil {
		return err
	}
	for tag := 149; tag >= 0; tag-- {
		if st, err := world.Recv(in, 1-rank, tag); err != nil || st.Bytes != 8 {
			return fmt.Errorf("message %d: %+v, %v", tag, st, err)
		}
	}
	// Into the host's memory, which is shorter than what stands for the message.
	for _, room := range []int{8, 4, 0, 300} {
		if err := errors.Join(out.Fill(uint8(room+1), nil), world.Send(out.Slice(0, 8), 1-rank, 1)); err != nil {
			return err
		}
		if st, err := world.Probe(1-rank, 1); err != nil || st.Bytes != 8 {
			return fmt.Errorf("a probe tells %+v, %v", st, err)
		}
		host := make([]byte, room)
		st, err := world.Recv(host, 1-rank, 1)
		switch {
		case room < 8 && !errors.Is(err, mpi.ErrTruncate):
			return fmt.Errorf("8 bytes for %d: %+v, %v", room, st, err)
		case room >= 8 && (err != nil || st.Bytes != 8 || host[0] != uint8(room+1) || host[7] != uint8(room+1)):
			return fmt.Errorf("8 bytes for %d: %+v, %v, %v", room, st, err, host)
		}
		if err := world.Barrier(); err != nil {
			return err
		}
	}
	// A communicator that is freed with the last message just received.
	for turn := range 5 {
		c, err := world.Dup()
		if err != nil {
			return err
		}
		err = errors.Join(out.Fill(uint8(turn), nil), c.Send(out, 1-rank, 0))
		time.Sleep(time.Duration(turn*rank) * 100 * time.Microsecond)
		_, fail := c.Recv(in, 1-rank, 0)
		if err := errors.Join(err, fail, holds("before Free", uint8(turn)), c.Free()); err != nil {
			return err
		}
	}
	return nil
}
