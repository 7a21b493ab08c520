package mpitest

import "time"

// watch calls hangs after n ticks, unless stop is called before. Ticks that come
// while this process cannot take them are lost, so that a job which is frozen, or
// which others keep from its processors, is not said to hang.
func watch(tick time.Duration, n int, hangs func()) (stop func()) {
	over := make(chan struct{})
	go func() {
		t := time.NewTicker(tick)
		defer t.Stop()
		for range n {
			select {
			case <-t.C:
			case <-over:
				return
			}
		}
		hangs()
	}()
	return func() { close(over) }
}
