//go:build !linux

package sim

func thread() int { return 0 }
