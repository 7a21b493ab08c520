package plot

import (
	"unicode/utf8"

	gonum "gonum.org/v1/plot"
)

// placeLegend puts the legend into a corner where it hides none of the lines, the
// upper right one if it can. Where there is none, the legend belongs beside the chart.
func (a Axes) placeLegend(p *gonum.Plot, series []Series) (beside bool) {
	names, longest := 0, 0
	for _, s := range series {
		if s.Name != "" {
			names, longest = names+1, max(longest, utf8.RuneCountInString(s.Name))
		}
	}
	width, height := a.legendShare(names, longest)

	least := -1
	for _, corner := range []struct{ left, bottom bool }{{}, {left: true}, {bottom: true}, {left: true, bottom: true}} {
		hidden := 0
		for _, s := range series {
			for i := range s.X {
				const pieces = 32
				j := min(i+1, len(s.X)-1)
				x0, y0, x1, y1 := p.X.Norm(s.X[i]), p.Y.Norm(s.Y[i]), p.X.Norm(s.X[j]), p.Y.Norm(s.Y[j])
				for k := range pieces {
					t := float64(k) / pieces
					x, y := x0+(x1-x0)*t, y0+(y1-y0)*t
					if corner.left {
						x = 1 - x
					}
					if corner.bottom {
						y = 1 - y
					}
					if x > 1-width && y > 1-height {
						hidden++
					}
				}
			}
		}
		if least < 0 || hidden < least {
			least = hidden
			p.Legend.Left, p.Legend.Top = corner.left, !corner.bottom
		}
	}
	return least > 0 && names > 0
}

// legendShare is how much of the width and the height of the area inside the
// axes a legend takes, by the size of its letters.
func (a Axes) legendShare(names, longest int) (width, height float64) {
	w, h := a.size()
	return (9*float64(longest) + 50) / max(1, float64(w)-80), (20*float64(names) + 5) / max(1, float64(h)-80)
}
