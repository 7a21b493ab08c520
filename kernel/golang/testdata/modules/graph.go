package main

import (
	"fmt"
	"github.com/dominikbraun/graph"
	"sort"
)

func main() {
	g := graph.New(graph.IntHash, graph.Directed(), graph.Acyclic(), graph.PreventCycles())
	for i := 1; i <= 4; i++ {
		g.AddVertex(i)
	}
	fmt.Println(g.AddEdge(1, 2, graph.EdgeWeight(3)), g.AddEdge(2, 3), g.AddEdge(1, 4), g.AddEdge(3, 1))
	p, err := graph.ShortestPath(g, 1, 3)
	fmt.Println(p, err)
	order, err := graph.StableTopologicalSort(g, func(a, b int) bool { return a < b })
	fmt.Println(order, err)
	var seen []int
	graph.DFS(g, 1, func(v int) bool { seen = append(seen, v); return false })
	sort.Ints(seen)
	fmt.Println(seen)
}
