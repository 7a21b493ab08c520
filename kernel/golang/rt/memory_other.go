//go:build !linux

package rt

// addressSpace is how large the process may get, in bytes; 0: that is not known.
func addressSpace() int { return 0 }
