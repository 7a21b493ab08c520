package main

import (
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"
)

func main() {
	c, err := lru.NewWithEvict(2, func(k string, v int) { fmt.Println("evicted", k, v) })
	fmt.Println(err)
	c.Add("a", 1)
	c.Add("b", 2)
	c.Get("a")
	c.Add("c", 3)
	fmt.Println(c.Keys(), c.Contains("b"), c.Len())
	v, ok := c.Peek("a")
	fmt.Println(v, ok)
}
