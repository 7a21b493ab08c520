// Package cmp has the generic part of the standard package cmp.
package cmp

// Ordered holds for the types whose values < orders.
type Ordered interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr |
		~float32 | ~float64 | ~string
}

// Less says whether x comes before y. A NaN comes before all else.
func Less[T Ordered](x, y T) bool {
	return x < y || x != x && y == y
}

// Compare returns -1, 0 or +1 as x comes before y, with it or after it. NaNs
// are equal, and before all else.
func Compare[T Ordered](x, y T) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return +1
	case x == y:
		return 0
	}
	if x == x {
		return +1
	}
	if y == y {
		return -1
	}
	return 0
}

// Or returns the first of vals that is not zero, or zero.
func Or[T comparable](vals ...T) T {
	var zero T
	for _, v := range vals {
		if v != zero {
			return v
		}
	}
	return zero
}
