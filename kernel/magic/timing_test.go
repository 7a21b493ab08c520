package magic

import "testing"

func TestDigits(t *testing.T) {
	for seconds, want := range map[float64]string{
		999.6e-9: "1 µs", 999.4e-9: "999 ns", 1e-6: "1 µs", 99.96e-6: "100 µs", 999.7e-6: "1 ms", 0.9996: "1 s", 1.234: "1.23 s", 0: "0 ns",
	} {
		if got := digits(seconds); got != want {
			t.Errorf("%g is %s, want %s", seconds, got, want)
		}
	}
}
