package main

import (
	"fmt"

	"github.com/emirpasic/gods/maps/treemap"
	"github.com/emirpasic/gods/sets/hashset"
	"github.com/gammazero/deque"
	"github.com/google/btree"
)

func main() {
	t := btree.NewOrderedG[int](2)
	for i := range 10 {
		t.ReplaceOrInsert(i * 3 % 10)
	}
	t.AscendRange(3, 6, func(i int) bool { fmt.Print(i, " "); return true })
	fmt.Println(t.Len())
	m := treemap.NewWithStringComparator()
	m.Put("b", 1)
	m.Put("a", 2)
	fmt.Println(m.Keys(), m)
	fmt.Println(hashset.New(1, 1, 2).Size())
	var q deque.Deque[string]
	q.PushBack("x")
	q.PushFront("y")
	fmt.Println(q.PopFront(), q.Len())
}
