package main

import (
	"fmt"
	"go/build"
	"net/http"
)

// Variables of compiled packages: their methods, addresses and fields.
func main() {
	was := build.Default // the process goes on after the tests' programs
	defer func() { build.Default, http.DefaultClient.Timeout = was, 0 }()
	build.Default.GOROOT, build.Default.GOPATH = "/nowhere", "/nowhere"
	fmt.Println(len(build.Default.SrcDirs()), build.Default.GOROOT)
	c := &build.Default
	c.GOOS = "plan9"
	fmt.Println(build.Default.GOOS, len(c.SrcDirs()))
	dirs := c.SrcDirs
	fmt.Println(len(dirs()))
	p := &http.DefaultClient.Timeout
	*p = 5
	fmt.Println(http.DefaultClient.Timeout)
	build.Default = build.Context{GOOS: "js"}
	fmt.Println(c.GOOS)
}
