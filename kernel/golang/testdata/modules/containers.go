package main

import (
	"fmt"
	"github.com/deckarep/golang-set/v2"
	"github.com/elliotchance/orderedmap"
	cmap "github.com/orcaman/concurrent-map/v2"
	"github.com/puzpuzpuz/xsync/v3"
)

func main() {
	s := mapset.NewSet(1, 2, 3)
	t := mapset.NewSet(3, 4)
	fmt.Println(s.Union(t).Cardinality(), s.Intersect(t), s.Contains(2), mapset.Sorted(s.Difference(t)))
	m := orderedmap.NewOrderedMap()
	m.Set("z", 1)
	m.Set("a", true)
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		fmt.Println(k, v)
	}
	c := cmap.New[int]()
	c.Set("k", 5)
	c.Upsert("k", 1, func(ok bool, old, new int) int { return old + new })
	fmt.Println(c.Get("k"))
	x := xsync.NewMapOf[string, int]()
	x.Store("a", 1)
	fmt.Println(x.LoadOrStore("a", 2))
	n := xsync.NewCounter()
	n.Add(5)
	fmt.Println(n.Value(), x.Size())
}
