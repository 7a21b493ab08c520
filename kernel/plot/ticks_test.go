package plot

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// An axis has about five numbers, all of them round, and no two alike.
func TestTicksAreRound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		low := (r.Float64() - 0.3) * math.Pow(10, float64(r.IntN(12)-6))
		high := low + (r.Float64()+1e-3)*math.Pow(10, float64(r.IntN(12)-6))
		if high-low < 1e-9*math.Abs(low) {
			continue
		}
		first, step := ticks(low, high, false)
		mantissa, _, _ := strings.Cut(strconv.FormatFloat(step, 'e', 6, 64), "e")
		if m, _ := strconv.ParseFloat(mantissa, 64); m != 1 && m != 2 && m != 2.5 && m != 5 {
			t.Fatalf("%g to %g: a step of %g", low, high, step)
		}
		if n := math.Floor((high-first)/step+1e-9) + 1; n < 4 || n > 8 || first < low-step*1e-6 {
			t.Fatalf("%g to %g: %g numbers from %g by %g", low, high, n, first, step)
		}
		seen := map[string]bool{}
		for _, k := range (roundTicks{}).Ticks(low, high) {
			if math.Abs(low) < 1e3*(high-low) && seen[k.Label] {
				t.Fatalf("%g to %g: %s twice", low, high, k.Label)
			}
			seen[k.Label] = true
		}
	}
	for _, high := range []float64{1, 2, 3, 7, 15, 63, 1023} {
		for _, k := range (roundTicks{whole: true}).Ticks(0, high) {
			if v, err := strconv.Atoi(k.Label); err != nil || float64(v) != k.Value {
				t.Errorf("0 to %g: %q at %g", high, k.Label, k.Value)
			}
		}
	}
}
