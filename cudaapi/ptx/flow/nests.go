package flow

import "slices"

// Nest says for a block which loops it lies in, by their first blocks, the outermost first.
type Nest []int

// Nests finds the loops that each block lies in: those that are entered at one block alone.
func (g *Graph) Nests() []Nest {
	n := len(g.Blocks)
	before := make([][]int, n)
	for k, b := range g.Blocks {
		for _, to := range b.Next {
			before[to] = append(before[to], k)
		}
	}
	always := g.always(before) // blocks by which one must come to a block
	within := make([][]bool, n)
	for k, b := range g.Blocks {
		for _, head := range b.Next {
			if !always[k][head] {
				continue
			}
			if within[head] == nil {
				within[head] = make([]bool, n)
				within[head][head] = true
			}
			for todo := []int{k}; len(todo) > 0; {
				at := todo[len(todo)-1]
				todo = todo[:len(todo)-1]
				if !within[head][at] {
					within[head][at] = true
					todo = append(todo, before[at]...)
				}
			}
		}
	}
	size := func(head int) (n int) {
		for _, in := range within[head] {
			if in {
				n++
			}
		}
		return n
	}
	nests := make([]Nest, n)
	for head, in := range within {
		for k := range in {
			if in[k] {
				nests[k] = append(nests[k], head)
			}
		}
	}
	for _, x := range nests {
		slices.SortFunc(x, func(a, b int) int { return size(b) - size(a) })
	}
	return nests
}

// always finds for each block those that every way to it passes, itself among them.
func (g *Graph) always(before [][]int) [][]bool {
	n := len(g.Blocks)
	always := make([][]bool, n)
	for k := range always {
		always[k] = make([]bool, n)
		for m := range always[k] {
			always[k][m] = k > 0 || m == 0
		}
	}
	for again := true; again; {
		again = false
		for k := 1; k < n; k++ {
			if len(before[k]) == 0 {
				continue // nothing leads there
			}
			for m := range n {
				if m == k || !always[k][m] {
					continue
				}
				if slices.ContainsFunc(before[k], func(b int) bool { return !always[b][m] }) {
					always[k][m], again = false, true
				}
			}
		}
	}
	return always
}
