package xorwow

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

//go:embed curand_kernel.h
var header string

// Header is a curand_kernel.h with this generator. Its tables are filled in at
// the first call.
var Header = sync.OnceValue(func() string {
	return strings.NewReplacer(
		"@SEQUENCE8@", table(sequence(), 8, 0, 3),
		"@SEQUENCE4@", table(sequence(), 4, 6, 16),
		"@OFFSET4@", table(draw(), 4, 0, 16),
	).Replace(header)
})

// table lists, for digits first to last-1 of a number in base 2^bits, the
// polynomial of each of the digit's values but 0, as five words each.
func table(p poly, bits, first, last int) string {
	var b strings.Builder
	for range first * bits {
		p = p.times(p)
	}
	for range last - first {
		q := p
		for range 1<<bits - 1 {
			for _, w := range q[:5] {
				fmt.Fprintf(&b, "%#xu,", w)
			}
			b.WriteByte('\n')
			q = q.times(p)
		}
		p = q // p^(2^bits)
	}
	return b.String()
}
