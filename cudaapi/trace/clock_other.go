//go:build !linux

package trace

import "time"

// now is a clock of this process.
func now() time.Duration { return time.Since(started) }

var started = time.Now()
