package rt

import (
	"fmt"
	"testing"
)

// testing is what lowered code calls in place of methods of *testing.T and its like:
// messages begin with the place of the cell's call, between two zero bytes. %test
// puts it where package testing has that of this package.
func (r *Runtime) testing() map[string]any {
	place := func(text string) string {
		for _, p := range r.places(ownStack()) {
			if _, helps := r.helpers.Load(p.fun); p.fun != nil && !helps {
				return fmt.Sprintf("\x00%s:%d: \x00%s", p.fun.File, p.pos>>12, text)
			}
		}
		return text
	}
	line := func(args []any) string { text := fmt.Sprintln(args...); return text[:len(text)-1] }
	return map[string]any{
		"TestError":  func(t testing.TB, args ...any) { t.Error(place(line(args))) },
		"TestErrorf": func(t testing.TB, format string, args ...any) { t.Error(place(fmt.Sprintf(format, args...))) },
		"TestFatal":  func(t testing.TB, args ...any) { t.Fatal(place(line(args))) },
		"TestFatalf": func(t testing.TB, format string, args ...any) { t.Fatal(place(fmt.Sprintf(format, args...))) },
		"TestLog":    func(t testing.TB, args ...any) { t.Log(place(line(args))) },
		"TestLogf":   func(t testing.TB, format string, args ...any) { t.Log(place(fmt.Sprintf(format, args...))) },
		"TestSkip":   func(t testing.TB, args ...any) { t.Skip(place(line(args))) },
		"TestSkipf":  func(t testing.TB, format string, args ...any) { t.Skip(place(fmt.Sprintf(format, args...))) },
		"TestHelper": func(t testing.TB) {
			for _, p := range r.places(ownStack()) {
				if p.fun != nil {
					r.helpers.Store(p.fun, true)
					break
				}
			}
			t.Helper()
		},
	}
}
