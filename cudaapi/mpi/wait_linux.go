package mpi

import (
	"time"

	"golang.org/x/sys/unix"
)

// yield lets other processes run on this processor.
func yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// nap sleeps for less time than time.Sleep can, whose shortest is a millisecond
// when nothing else runs.
func nap(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil)
}

// processors are those that this process may run on, a bit for each.
func processors() []uint64 {
	var set unix.CPUSet
	mask := make([]uint64, 16)
	if unix.SchedGetaffinity(0, &set) != nil {
		return anyProcessors(mask)
	}
	for i := range 64 * len(mask) {
		if set.IsSet(i) {
			mask[i/64] |= 1 << (i % 64)
		}
	}
	return mask
}
