package plot

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Long series are drawn with what can be seen of them: the picture is small, and has the
// peaks; short ones are drawn whole.
func TestThinned(t *testing.T) {
	const n = 400_000
	random := rand.New(rand.NewPCG(1, 2))
	rising := Series{X: make([]float64, n), Y: make([]float64, n)}
	for i := range n {
		rising.X[i], rising.Y[i] = float64(i+1), 2+math.Sin(float64(i)/1000)+random.Float64()/10
	}
	rising.Y[n/3], rising.Y[n/2] = 50, 0.001
	circle := Series{X: make([]float64, n), Y: make([]float64, n)}
	for i := range n {
		circle.Y[i], circle.X[i] = math.Sincos(float64(i) / n * 2 * math.Pi)
	}
	cloud := Series{X: rising.X, Y: rising.Y, Scattered: true}
	for _, c := range []struct {
		name   string
		axes   Axes
		s      Series
		points int // at most
	}{
		{"rising", Axes{}, rising, 4 * finer * 640}, {"log", Axes{LogX: true, LogY: true}, rising, 4 * finer * 640},
		{"wide", Axes{Width: 1000}, rising, 4 * finer * 1000}, {"circle", Axes{}, circle, 8 * finer * 640},
		{"cloud", Axes{}, cloud, finer * finer * 640 * 360},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all extent
			all.add(c.s)
			got := c.axes.thinned(c.s, all)
			if len(got.X) > c.points || len(got.X) != len(got.Y) {
				t.Errorf("%d points are left, at most %d may", len(got.X), c.points)
			}
			if slices.Max(got.Y) != slices.Max(c.s.Y) || slices.Min(got.Y) != slices.Min(c.s.Y) {
				t.Errorf("from %v to %v, was from %v to %v", slices.Min(got.Y), slices.Max(got.Y), slices.Min(c.s.Y), slices.Max(c.s.Y))
			}
			// Every point lies between two that are left, in its column.
			w, h := c.axes.size()
			column, row := steps(all.left, all.right, c.axes.LogX, finer*w), steps(all.lower, all.upper, c.axes.LogY, finer*h)
			type span struct{ low, high int }
			spans := map[int]span{}
			for i, x := range got.X {
				at, y := column(x), row(got.Y[i])
				if s, ok := spans[at]; ok {
					spans[at] = span{min(s.low, y), max(s.high, y)}
				} else {
					spans[at] = span{y, y}
				}
			}
			for i, x := range c.s.X {
				if s, y := spans[column(x)], row(c.s.Y[i]); y < s.low || y > s.high {
					t.Fatalf("point %d is gone", i)
				}
			}
			b, err := Lines(c.axes, c.s)
			if err != nil {
				t.Fatal(err)
			}
			if svg := fmt.Sprint(b.Data["image/svg+xml"]); !c.s.Scattered && strings.Count(svg, "L") > 2*c.points {
				t.Errorf("the picture has %d bytes", len(svg))
			}
		})
	}
	short := Series{X: rising.X[:5000], Y: rising.Y[:5000]}
	if got := (Axes{}).thinned(short, extent{}); len(got.X) != 5000 {
		t.Errorf("%d points of a short series are left", len(got.X))
	}
	level := Series{X: make([]float64, n), Y: rising.Y}
	if b, err := Lines(Axes{}, level); err != nil || len(b.Data) == 0 {
		t.Errorf("all in one place: %v", err)
	}
}

func BenchmarkLines(b *testing.B) {
	const n = 5_000_000
	s := Series{X: make([]float64, n), Y: make([]float64, n)}
	for i := range n {
		s.X[i], s.Y[i] = float64(i), math.Sin(float64(i)/1e5)
	}
	for b.Loop() {
		if _, err := Lines(Axes{}, s); err != nil {
			b.Fatal(err)
		}
	}
}
