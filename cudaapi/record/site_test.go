package record_test

import (
	"runtime"
	"strings"
	"testing"

	"gocuda/cudaapi/internal/callsite"
)

// small is inlined, as a program's function may be into the one that calls it.
func small() callsite.Site { return callsite.Here() }

//go:noinline
func large() (s callsite.Site) {
	defer func() { recover() }() //nolint:errcheck // so that it is a frame of its own
	return callsite.Here()
}

// A call's place is that of the function that makes it, and its caller that of the one
// that called this, whether the compiler has inlined them or not.
func TestHere(t *testing.T) {
	line := func() int {
		_, _, line, _ := runtime.Caller(1)
		return line
	}
	for range 2 { // the second time all is known
		begin := line()
		for i, s := range []callsite.Site{
			small(),
			large(),
			func() callsite.Site { return callsite.Here() }(),
		} {
			if want := begin + 2 + i; s.Caller.Line != want && i < 2 {
				t.Errorf("%d: called from %q, want line %d", i, s.Caller, want)
			}
			if s.File != "site_test.go" || !strings.HasSuffix(s.Path, "site_test.go") {
				t.Errorf("%d: the place is %+v", i, s)
			}
		}
	}
	deep(30, t)
}

// deep looks from far within.
func deep(n int, t *testing.T) {
	if n > 0 {
		deep(n-1, t)
		return
	}
	if s := callsite.Here(); s.File != "site_test.go" || s.Place == s.Caller {
		t.Errorf("the place is %+v", s)
	}
}

func BenchmarkHere(b *testing.B) {
	for b.Loop() {
		callsite.Here()
	}
}
