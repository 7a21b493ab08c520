// Package filelock keeps processes from doing the same work at a time.
package filelock

import (
	"os"
	"path/filepath"
	"time"
)

// Hold waits until no other process, and nobody else in this one, holds the lock
// at path, a file that it makes; release gives it back. The lock goes with the
// process that holds it. It is a courtesy: after the time given, and where there
// are no such locks, Hold returns without it.
func Hold(path string, most time.Duration) (release func()) {
	if os.MkdirAll(filepath.Dir(path), 0o755) != nil {
		return func() {}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return func() {}
	}
	for end, pause := time.Now().Add(most), time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		if got, busy := try(f); got || !busy || time.Now().After(end) {
			break
		}
		time.Sleep(pause)
	}
	return func() { f.Close() } // with it, the lock
}
