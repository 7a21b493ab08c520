package main

import (
	"fmt"
	"os"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/gobwas/glob"
)

func main() {
	g := glob.MustCompile("*.{go,md}")
	fmt.Println(g.Match("a.go"), g.Match("a.txt"))
	fmt.Println(doublestar.Match("a/**/*.go", "a/b/c/x.go"))
	dir, _ := os.MkdirTemp("", "ds")
	defer os.RemoveAll(dir)
	os.MkdirAll(dir+"/x/y", 0o755)
	os.WriteFile(dir+"/x/y/f.txt", nil, 0o644)
	l, err := doublestar.Glob(os.DirFS(dir), "**/*.txt")
	fmt.Println(l, err)
}
