//go:build !linux || !amd64

package fatal

import "errors"

func install() error { return errors.New("not on this platform") }
