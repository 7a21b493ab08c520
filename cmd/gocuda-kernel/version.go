package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is gocuda's own, until a release is built from a tagged module.
const version = "0.1.0"

// build tells the version and, where it is known, the commit.
func build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version
	}
	var revision, modified string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			revision = "+" + s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ".modified"
		}
	}
	if revision == "" {
		return version
	}
	return version + revision + modified
}

func runVersion(c *call) error {
	if _, err := c.parse(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.stdout, "gocuda-kernel %s (%s, %s/%s)\n", build(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
