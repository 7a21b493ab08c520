package main

import (
	"github.com/davecgh/go-spew/spew"
)

type tree struct {
	Name string
	Kids []*tree
	m    map[string]int
	any  any
}

func main() {
	c := spew.ConfigState{Indent: " ", DisablePointerAddresses: true, DisableCapacities: true, SortKeys: true}
	c.Dump(tree{Name: "a", Kids: []*tree{{Name: "b", m: map[string]int{"x": 1, "a": 2}}}, any: 3})
	c.Printf("%v %+v\n", tree{Name: "q"}, []string{"s"})
}
