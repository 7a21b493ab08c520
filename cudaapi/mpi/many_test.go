package mpi_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi"
)

func init() { programs["many"] = many }

// TestManyMessages sends many messages of device memory between two ranks:
// GOCUDA_SOAK=1000000 says how many, GOCUDA_SOAK_TIME=4m how long each of two paths may
// take, and GOCUDA_BENCH=1 shows how many there were. They run where GOCUDA_BACKEND says.
func TestManyMessages(t *testing.T) {
	for _, path := range []string{"ipc", "staged"} {
		runRanks(t, 2, "many", "GOCUDA_MPI_PATH="+path)
	}
}

// many has each rank send the other windows of messages from 200 buffers. Of each
// window the messages are received in any order, some after a probe; one message is
// received thousands of others later.
func many() error {
	const window, most, buffers, between = 64, 3000, 200, 70 // windows until a late one is received
	total := 4000
	if n, err := strconv.Atoi(os.Getenv("GOCUDA_SOAK")); err == nil {
		total = n / 2 // on each of two paths
	}
	limit := 24 * time.Hour
	if d, err := time.ParseDuration(os.Getenv("GOCUDA_SOAK_TIME")); err == nil {
		limit = d
	}
	began, next := time.Now(), 0
	world, d, err := begin()
	if err != nil {
		return err
	}
	me, peer := world.Rank(), 1-world.Rank()
	var from, to [buffers]*cuda.Buffer
	for i := range from {
		from[i], err = d.Alloc(most, cuda.Int32)
		to[i], _ = d.Alloc(most, cuda.Int32)
		if err != nil || to[i] == nil {
			return fmt.Errorf("no memory for buffer %d: %w", i, err)
		}
	}
	size := func(rank, i int) int {
		if i%3 == 0 {
			return 1 + (i*7+rank)%60 // short
		}
		return 1 + (i*131+rank)%most
	}
	value := func(rank, i int) int32 { return int32(i*2 + rank) }
	check := func(b *cuda.Buffer, i int) error {
		got, err := b.Slice(0, size(peer, i)).Int32s()
		if err != nil {
			return err
		}
		for k, v := range got {
			if v != value(peer, i) {
				return fmt.Errorf("message %d: element %d is %d, want %d", i, k, v, value(peer, i))
			}
		}
		return nil
	}
	rng := rand.New(rand.NewPCG(3, uint64(me)))
	late := func(i int) (*mpi.Request, error) {
		b := from[buffers-1]
		if err := errors.Join(b.Fill(value(me, i), nil), d.Synchronize()); err != nil {
			return nil, err
		}
		return world.Isend(b.Slice(0, size(me, i)), peer, 1<<14)
	}
	for more := true; more; {
		at := next
		held, err := late(at)
		if err != nil {
			return err
		}
		for range between {
			var sends []*mpi.Request
			for k := range window {
				b := from[(next+k)%(buffers-1)].Slice(0, size(me, next+k))
				if err := b.Fill(value(me, next+k), nil); err != nil {
					return err
				}
				s, err := world.Isend(b, peer, k)
				if err != nil {
					return err
				}
				sends = append(sends, s)
			}
			for _, k := range rng.Perm(window) {
				if k%5 == 0 {
					st, err := world.Probe(peer, k)
					if err != nil || st.Bytes != 4*size(peer, next+k) {
						return fmt.Errorf("message %d: the probe finds %d bytes, want %d: %w", next+k, st.Bytes, 4*size(peer, next+k), err)
					}
				}
				b := to[(next+k)%(buffers-1)]
				if _, err := world.Recv(b.Slice(0, size(peer, next+k)), peer, k); err != nil {
					return err
				}
				if err := check(b, next+k); err != nil {
					return err
				}
			}
			if _, err := mpi.WaitAll(sends...); err != nil {
				return err
			}
			next += window
		}
		if _, done, err := held.Test(); done && size(me, at) > 64 || err != nil {
			return fmt.Errorf("message %d is over before its receive: %w", at, err)
		}
		if err := world.Barrier(); err != nil {
			return err
		}
		b := to[buffers-1]
		if _, err := world.Recv(b.Slice(0, size(peer, at)), peer, 1<<14); err != nil {
			return err
		}
		if _, err := held.Wait(); err != nil {
			return err
		}
		if err := check(b, at); err != nil {
			return err
		}
		if err := world.Allreduce(next < total/2 && time.Since(began) < limit, &more, mpi.LAnd); err != nil {
			return err
		}
	}
	fmt.Printf("rank %d on %s: %d messages sent and received\n", me, d.Name(), next+next/window/between)
	return world.Barrier()
}
