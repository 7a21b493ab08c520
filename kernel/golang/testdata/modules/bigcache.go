package main

import (
	"context"
	"fmt"
	"github.com/allegro/bigcache/v3"
	"time"
)

func main() {
	cache, err := bigcache.New(context.Background(), bigcache.DefaultConfig(10*time.Minute))
	fmt.Println(err)
	cache.Set("k", []byte("value"))
	v, err := cache.Get("k")
	fmt.Println(string(v), err, cache.Len())
	_, err = cache.Get("none")
	fmt.Println(err, err == bigcache.ErrEntryNotFound)
	fmt.Println(cache.Delete("k"), cache.Stats().Hits)
}
