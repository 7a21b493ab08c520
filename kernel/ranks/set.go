package ranks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gocuda/kernel/ranks/label"
)

// parseSet reads ranks as %%mpi takes them, such as "0,2" or "1-3", of a pool
// of n. They come sorted, each once.
func parseSet(text string, n int) ([]int, error) {
	var set []int
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(strings.TrimSpace(first))
		b := a
		if err == nil && isRange {
			b, err = strconv.Atoi(strings.TrimSpace(last))
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("%q names no ranks: write them as 0,2 or 1-3", text)
		case a > b:
			return nil, fmt.Errorf("%q is empty: its first rank is above its last", part)
		case b >= n:
			return nil, fmt.Errorf("there is no rank %d: the ranks are %s", max(a, n), label.Set(all(n)))
		}
		for r := a; r <= b; r++ {
			set = append(set, r)
		}
	}
	slices.Sort(set)
	return slices.Compact(set), nil
}

// named writes ranks within a sentence.
func named(set []int) string {
	if len(set) == 1 {
		return "rank " + label.Set(set)
	}
	return "ranks " + label.Set(set)
}

func all(n int) []int {
	set := make([]int, n)
	for i := range set {
		set[i] = i
	}
	return set
}
