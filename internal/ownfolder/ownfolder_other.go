//go:build !unix

package ownfolder

import "os"

const withoutWaiting = 0

func ensure(dir string) error { return os.MkdirAll(dir, 0o700) }
