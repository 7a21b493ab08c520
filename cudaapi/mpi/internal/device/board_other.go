//go:build !linux

package device

func newPage() (page []byte, pid, fd int) { return nil, 0, -1 }

func openPage(int, int) []byte { return nil }
