package main

import (
	"fmt"
	"github.com/dgraph-io/ristretto/v2"
)

func main() {
	cache, err := ristretto.NewCache(&ristretto.Config[string, string]{NumCounters: 1000, MaxCost: 1 << 20, BufferItems: 64})
	if err != nil {
		panic(err)
	}
	defer cache.Close()
	fmt.Println(cache.Set("key", "value", 1))
	cache.Wait()
	fmt.Println(cache.Get("key"))
	cache.Del("key")
	fmt.Println(cache.Get("key"))
}
