// Package interrupt holds the channel whose end ends this process's waits for
// devices and for other ranks. It is one for all: who calls a wait, as CUDA's
// and MPI's users do, hands it no context.
package interrupt

import "sync/atomic"

var (
	channel atomic.Pointer[<-chan struct{}]
	lookup  atomic.Pointer[func() <-chan struct{}]
)

// Set makes waits, from now on, end when stop closes; with nil they do not.
func Set(stop <-chan struct{}) { channel.Store(&stop) }

// Lookup has f tell, at each wait, the channel of the goroutine that waits; nil: what
// Set was given.
func Lookup(f func() <-chan struct{}) { lookup.Store(&f) }

// Channel is what ends a wait that the calling goroutine begins.
func Channel() <-chan struct{} {
	if f := lookup.Load(); f != nil {
		if stop := (*f)(); stop != nil {
			return stop
		}
	}
	if p := channel.Load(); p != nil {
		return *p
	}
	return nil
}
