package main

import (
	"gocuda/kernel/ranks"
)

// runRank is an MPI rank of a notebook: mpirun starts it.
func runRank(c *call) error {
	if _, err := c.parse(); err != nil {
		return err
	}
	return ranks.Supervise()
}
