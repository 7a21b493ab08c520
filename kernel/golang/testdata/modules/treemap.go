package main

import (
	"fmt"
	"github.com/igrmk/treemap/v2"
)

func main() {
	tr := treemap.New[int, string]()
	for i, s := range []string{"zero", "one", "two", "three"} {
		tr.Set((i*7)%5, s)
	}
	for it := tr.Iterator(); it.Valid(); it.Next() {
		fmt.Println(it.Key(), it.Value())
	}
	fmt.Println(tr.Get(4))
	tr.Del(0)
	fmt.Println(tr.Len(), tr.LowerBound(3).Key())
}
