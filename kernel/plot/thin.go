package plot

import "math"

// A picture has fewer columns than a long series has points. What cannot be seen is left
// out, so that drawing takes as long as the picture is wide; peaks stay.

// finer is how many columns, and rows, a pixel counts as: pictures are enlarged.
const finer = 2

// extent is the rectangle that all series lie in.
type extent struct {
	some         bool
	left, right  float64
	lower, upper float64
}

func (e *extent) add(s Series) {
	if !e.some {
		*e = extent{true, s.X[0], s.X[0], s.Y[0], s.Y[0]}
	}
	for i, x := range s.X {
		e.left, e.right = min(e.left, x), max(e.right, x)
		e.lower, e.upper = min(e.lower, s.Y[i]), max(e.upper, s.Y[i])
	}
}

// steps gives the function that says in which of n parts of an axis a value lies.
func steps(low, high float64, log bool, n int) func(v float64) int {
	if log {
		low, high = math.Log(low), math.Log(high)
	}
	scale := float64(n) / (high - low)
	if math.IsInf(scale, 0) || math.IsNaN(scale) || scale == 0 {
		return func(float64) int { return 0 }
	}
	return func(v float64) int {
		if log {
			v = math.Log(v)
		}
		return int((v - low) * scale)
	}
}

// thinned is a series without points that make no difference to its picture. Of points of a
// line that follow each other in a column it keeps the first, the last, the lowest and
// the highest; of points without a line, one at each place.
func (a Axes) thinned(s Series, all extent) Series {
	w, h := a.size()
	if len(s.X) <= 8*w {
		return s
	}
	column := steps(all.left, all.right, a.LogX, finer*w)
	if s.Scattered {
		row := steps(all.lower, all.upper, a.LogY, finer*h)
		seen := make(map[[2]int]bool)
		return s.only(func(keep func(i int)) {
			for i, x := range s.X {
				if at := [2]int{column(x), row(s.Y[i])}; !seen[at] {
					seen[at] = true
					keep(i)
				}
			}
		})
	}
	return s.only(func(keep func(i int)) {
		for first := 0; first < len(s.X); {
			in, low, high, last := column(s.X[first]), first, first, first
			for last+1 < len(s.X) && column(s.X[last+1]) == in {
				last++
				if s.Y[last] < s.Y[low] {
					low = last
				}
				if s.Y[last] > s.Y[high] {
					high = last
				}
			}
			before := -1
			for _, i := range [...]int{first, min(low, high), max(low, high), last} {
				if i > before {
					keep(i)
					before = i
				}
			}
			first = last + 1
		}
	})
}

// only has the points that choose keeps.
func (s Series) only(choose func(keep func(i int))) Series {
	x, y := s.X, s.Y
	s.X, s.Y = nil, nil
	choose(func(i int) { s.X, s.Y = append(s.X, x[i]), append(s.Y, y[i]) })
	return s
}
