package ptx

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Number is a literal's value without its sign: an integer, or the bits of a float64, for
// 0f... and 0d... too.
func Number(text string) (bits uint64, float bool, err error) {
	bad := fmt.Errorf("%q is no number", text)
	if len(text) > 2 && text[0] == '0' {
		switch text[1] {
		case 'f', 'F':
			n, err := strconv.ParseUint(text[2:], 16, 32)
			if err != nil || len(text) != 10 {
				return 0, false, bad
			}
			return math.Float64bits(float64(math.Float32frombits(uint32(n)))), true, nil
		case 'd', 'D':
			n, err := strconv.ParseUint(text[2:], 16, 64)
			if err != nil || len(text) != 18 {
				return 0, false, bad
			}
			return n, true, nil
		}
	}
	hex := strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X")
	if !hex && strings.ContainsAny(text, ".eE") {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || strings.ContainsAny(text, "_xXpP") {
			return 0, false, bad
		}
		return math.Float64bits(v), true, nil
	}
	n, err := strconv.ParseUint(strings.TrimRight(text, "U"), 0, 64)
	if err != nil || strings.Contains(text, "_") {
		return 0, false, bad
	}
	return n, false, nil
}
