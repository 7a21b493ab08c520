package main

import (
	"errors"
	"fmt"

	"gocuda/cudaapi/mpi"
)

var errTwo = errors.New("a ping-pong wants two ranks")

// host prints a line for each size: the program's name, bytes, least and median
// microseconds of half a round trip.
func host(world *mpi.Comm) error {
	if world.Size() != 2 {
		return errTwo
	}
	for _, bytes := range sizes(8, 8, 4<<20) {
		buf := make([]byte, bytes)
		all, err := measure(world, []way{{"Send, Recv", func(n int) error {
			return pingPong(world.Rank(), n,
				func() error { return world.Send(buf, 1-world.Rank(), 0) },
				func() error { _, err := world.Recv(buf, 1-world.Rank(), 0); return err })
		}, 2}}, min(*calls, max(2, 64<<20/bytes)))
		if err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Printf("%s %d %.3f %.3f\n", name(), bytes, all[0].least(), all[0].median())
		}
	}
	return nil
}

// pingPong has rank 0 send and then receive, and rank 1 the other way round.
func pingPong(rank, n int, send, recv func() error) error {
	first, second := send, recv
	if rank != 0 {
		first, second = recv, send
	}
	for range n {
		if err := first(); err != nil {
			return err
		}
		if err := second(); err != nil {
			return err
		}
	}
	return nil
}
