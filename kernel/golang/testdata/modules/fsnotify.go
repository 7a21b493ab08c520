package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

func main() {
	dir, _ := os.MkdirTemp("", "fs")
	defer os.RemoveAll(dir)
	w, err := fsnotify.NewWatcher()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	fmt.Println(w.Add(dir))
	os.WriteFile(filepath.Join(dir, "x"), nil, 0o600)
	select {
	case e := <-w.Events:
		fmt.Println(filepath.Base(e.Name), e.Op)
	case <-time.After(5 * time.Second):
		fmt.Println("nothing")
	}
}
