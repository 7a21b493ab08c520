// Command wheels builds Python wheels of the kernel: wheels FOLDER [GOOS/GOARCH]...
// Without platforms it builds for all. A platform that does not compile gets no
// wheel, which it says.
package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"gocuda/install"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: wheels FOLDER [GOOS/GOARCH]...")
		os.Exit(2)
	}
	platforms := os.Args[2:]
	if len(platforms) == 0 {
		platforms = slices.Sorted(maps.Keys(install.WheelPlatforms))
	}
	if err := os.MkdirAll(os.Args[1], 0o777); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	failed := false
	for _, p := range platforms {
		name, err := build(os.Args[1], p)
		if err != nil {
			fmt.Fprintf(os.Stderr, "no wheel for %s: %v\n", p, err)
			failed = true
			continue
		}
		fmt.Println(name)
	}
	if failed {
		os.Exit(1)
	}
}

func build(folder, platform string) (string, error) {
	temp, err := os.MkdirTemp("", "wheel")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	binary := filepath.Join(temp, "gocuda-kernel")
	system, arch, _ := strings.Cut(platform, "/")
	c := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "./cmd/gocuda-kernel")
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	data, err := os.ReadFile(binary)
	if err != nil {
		return "", err
	}
	var wheel bytes.Buffer
	if err := install.WriteWheel(&wheel, platform, data); err != nil {
		return "", err
	}
	name := filepath.Join(folder, install.WheelName(platform))
	return name, os.WriteFile(name, wheel.Bytes(), 0o666)
}
