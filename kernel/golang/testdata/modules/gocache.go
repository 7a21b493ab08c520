package main

import (
	"fmt"
	"time"

	"github.com/patrickmn/go-cache"
)

func main() {
	c := cache.New(time.Minute, 0)
	c.Set("a", 1, cache.DefaultExpiration)
	v, ok := c.Get("a")
	fmt.Println(v, ok, c.ItemCount(), c.Add("a", 2, 0))
	n, err := c.IncrementInt("a", 5)
	fmt.Println(n, err)
}
