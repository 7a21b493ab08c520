//go:build !linux

package device

import "os"

func newPage() ([]byte, *os.File) { return nil, nil }

func openPage(int, int) []byte { return nil }
