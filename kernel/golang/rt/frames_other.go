//go:build !amd64

package rt

// bodies calls f with the interpreted functions that the calling goroutine is in, the
// innermost first, until it says no.
func bodies(f func(body uint64) bool) { bodiesOfTrace(f) }
