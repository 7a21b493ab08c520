package corpus

import "slices"

// programs are those of the kinds that public collections have. They are in
// CUDA C++ alone.
func programs() []file {
	return []file{
		{"graphs", nil, graphs()},
		{"stencils", nil, stencils()},
		{"sorts", nil, sorts()},
		{"linear", nil, linear()},
		{"images", nil, images()},
		{"random", nil, randoms()},
		{"strings", nil, texts()},
		{"physics", nil, physics()},
		{"learning", nil, learning()},
		{"language", nil, language()},
		{"access", nil, access()},
	}
}

// program is a case whose buffers are those that the launches take.
func program(name string, launches ...launch) kernelCase {
	c := kernelCase{name: name, launches: launches}
	for _, l := range launches {
		for _, a := range l.args {
			if b, ok := a.(*buffer); ok && !slices.Contains(c.buffers, b) {
				c.buffers = append(c.buffers, b)
			}
		}
	}
	return c
}

// with gives the program constants.
func (c kernelCase) with(constants map[string]any) kernelCase {
	c.constants = constants
	return c
}

// within lets the program's numbers differ by so much.
func (c kernelCase) within(tolerance float64) kernelCase {
	c.tolerance = tolerance
	return c
}

// each is launches, one for each i below n.
func each(n int, f func(i int) launch) []launch { return fill(n, f) }

func input[E any](x []E) *buffer { return &buffer{in: x} }

// changed is a buffer that holds x and is to hold want.
func changed[E any](x, want []E) *buffer { return &buffer{in: slices.Clone(x), want: want} }

// scratch is n elements that nobody looks at.
func scratch[E any](n int) *buffer { return &buffer{in: make([]E, n)} }

// bytesOf are n bytes, the same on every run.
func bytesOf(n, seed int) []byte {
	return fill(n, func(i int) byte { return byte(mix(uint32(i + seed*7919))) })
}

// floatsOf are integers as floating-point numbers: their sums are exact in any order.
func floatsOf(n, lo, hi int) []float32 {
	x := ints(n, lo, hi)
	return fill(n, func(i int) float32 { return float32(x[i]) })
}
