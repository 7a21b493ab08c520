//go:build !linux

package mpi

import "time"

func yield() {}

func nap(d time.Duration) { time.Sleep(d) }
