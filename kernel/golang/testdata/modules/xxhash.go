package main

import (
	"fmt"

	"github.com/cespare/xxhash/v2"
	"github.com/dgryski/go-rendezvous"
	"github.com/spaolacci/murmur3"
)

func main() {
	fmt.Println(xxhash.Sum64String("hello"))
	d := xxhash.New()
	d.WriteString("hel")
	d.WriteString("lo")
	fmt.Println(d.Sum64(), murmur3.Sum32([]byte("hello")))
	r := rendezvous.New([]string{"a", "b", "c"}, xxhash.Sum64String)
	fmt.Println(r.Lookup("key"))
}
