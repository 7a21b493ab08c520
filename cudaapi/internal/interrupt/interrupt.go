// Package interrupt holds the channel whose end ends this process's waits for
// devices and for other ranks. It is one for all: who calls a wait, as CUDA's
// and MPI's users do, hands it no context.
package interrupt

import "sync/atomic"

var channel atomic.Pointer[<-chan struct{}]

// Set makes waits, from now on, end when stop closes; with nil they do not.
func Set(stop <-chan struct{}) { channel.Store(&stop) }

// Channel is what Set was given.
func Channel() <-chan struct{} {
	if p := channel.Load(); p != nil {
		return *p
	}
	return nil
}
