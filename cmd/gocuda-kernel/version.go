package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"gocuda/install"
)

// build tells the version and, where it is known, the commit.
func build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return install.Version
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
		return install.Version
	}
	return install.Version + revision + modified
}

func runVersion(c *call) error {
	if _, err := c.parse(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.stdout, "gocuda-kernel %s (%s, %s/%s)\n", build(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
