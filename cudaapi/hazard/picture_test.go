package hazard

import (
	"strings"
	"testing"
)

// A line is shortened to what is around the memory's name, however long that is and
// wherever it stands.
func TestPicturesOfLongNames(t *testing.T) {
	for _, before := range []string{"", "f(", "cuda.MemcpyAsync(", strings.Repeat("é", 30), strings.Repeat("x, ", 40)} {
		for _, n := range []int{1, 24, 35, 60, 200} {
			name := strings.Repeat("n", n)
			line := before + name + ", x, count, stream) // and more"
			r := Report{First: Operation{Source: line}, Memory: name + "[0:4]"}
			if svg := r.SVG(); !strings.Contains(svg, strings.Repeat("n", min(n, 20))) {
				t.Errorf("%q: no %q in %s", line, name, svg)
			}
		}
	}
}
