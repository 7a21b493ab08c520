package sim

import "golang.org/x/sys/unix"

// thread is the thread of the system that the goroutine runs on.
func thread() int { return unix.Gettid() }
