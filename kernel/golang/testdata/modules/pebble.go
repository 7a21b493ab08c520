package main

import (
	"fmt"
	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/vfs"
)

type quiet struct{}

func (quiet) Infof(string, ...any)      {}
func (quiet) Errorf(string, ...any)     {}
func (quiet) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

func main() {
	db, err := pebble.Open("demo", &pebble.Options{FS: vfs.NewMem(), Logger: quiet{}})
	if err != nil {
		panic(err)
	}
	fmt.Println(db.Set([]byte("hello"), []byte("world"), pebble.Sync))
	v, closer, err := db.Get([]byte("hello"))
	fmt.Println(string(v), err)
	closer.Close()
	_, _, err = db.Get([]byte("no"))
	fmt.Println(err, db.Close())
}
