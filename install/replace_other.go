//go:build !linux

package install

// replace puts temp in the place of dir, if there is one.
func replace(temp, dir string) error { return moveAway(temp, dir) }
