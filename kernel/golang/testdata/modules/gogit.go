package main

import (
	"fmt"
	"github.com/go-git/go-billy/v5/memfs"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"
	"time"
)

func main() {
	fs := memfs.New()
	r, err := git.Init(memory.NewStorage(), fs)
	if err != nil {
		panic(err)
	}
	w, _ := r.Worktree()
	f, _ := fs.Create("a.txt")
	f.Write([]byte("hello"))
	f.Close()
	w.Add("a.txt")
	sig := &object.Signature{Name: "N", Email: "e@x", When: time.Unix(1e9, 0).UTC()}
	h, err := w.Commit("first", &git.CommitOptions{Author: sig})
	fmt.Println(h, err)
	it, err := r.Log(&git.LogOptions{})
	fmt.Println(err)
	it.ForEach(func(c *object.Commit) error { fmt.Println(c); return nil })
	s, err := w.Status()
	fmt.Println(s.IsClean(), err)
}
