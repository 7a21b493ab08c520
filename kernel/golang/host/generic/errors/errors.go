// Package errors has the generic part of the standard package errors.
package errors

// AsType finds the first error of type E in the tree of err.
func AsType[E error](err error) (E, bool) {
	var zero E
	if err == nil {
		return zero, false
	}
	if e, ok := err.(E); ok {
		return e, true
	}
	if as, ok := err.(interface{ As(any) bool }); ok {
		var e E
		if as.As(&e) {
			return e, true
		}
	}
	switch u := err.(type) {
	case interface{ Unwrap() error }:
		return AsType[E](u.Unwrap())
	case interface{ Unwrap() []error }:
		for _, err := range u.Unwrap() {
			if e, ok := AsType[E](err); ok {
				return e, true
			}
		}
	}
	return zero, false
}
