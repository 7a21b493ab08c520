package golang

import (
	"go/types"
	"strings"
)

// suggest names what a misspelt name may have meant.
func (c *checker) suggest(msg string) string {
	name, ok := strings.CutPrefix(msg, "undefined: ")
	if !ok {
		return ""
	}
	var from []string
	if pkg, sel, ok := strings.Cut(name, "."); ok {
		name = sel
		if p, ok := c.pkg.Scope().Lookup(pkg).(*types.PkgName); ok {
			from = p.Imported().Scope().Names()
		} else if p, ok := c.ev.names[pkg].(*types.PkgName); ok {
			from = p.Imported().Scope().Names()
		} else {
			for _, d := range c.src.file.Imports {
				if p, err := c.ev.importer.Import(strings.Trim(d.Path.Value, `"`)); err == nil && p.Name() == pkg {
					from = p.Scope().Names()
				}
			}
		}
	} else {
		for n := range c.ev.names {
			from = append(from, n)
		}
		for n := range c.declared {
			from = append(from, n)
		}
		from = append(from, types.Universe.Names()...)
	}
	best, distance := "", len(name)/3+1
	for _, n := range from {
		if d := editDistance(strings.ToLower(n), strings.ToLower(name), distance); d < distance || d == distance && best != "" && n < best {
			best, distance = n, d
		}
	}
	if best == "" || best == name {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// editDistance counts the letters to change, add, drop or swap, up to limit+1.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}
