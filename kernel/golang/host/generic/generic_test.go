package generic_test

import (
	"cmp"
	"crypto/hkdf"
	"crypto/pbkdf2"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math"
	"math/rand"
	"reflect"
	"slices"
	"testing"

	"gocuda/kernel/golang/host/generic"
	ourcmp "gocuda/kernel/golang/host/generic/cmp"
	ourerrors "gocuda/kernel/golang/host/generic/errors"
	ourhkdf "gocuda/kernel/golang/host/generic/hkdf"
	ouriter "gocuda/kernel/golang/host/generic/iter"
	ourmaps "gocuda/kernel/golang/host/generic/maps"
	ourpbkdf2 "gocuda/kernel/golang/host/generic/pbkdf2"
	ourslices "gocuda/kernel/golang/host/generic/slices"
)

type pair struct{ key, place int }

func byKey(a, b pair) int { return cmp.Compare(a.key, b.key) }

// result runs f and returns what it gives, or its panic.
func result(f func() any) (r any) {
	defer func() {
		if p := recover(); p != nil {
			r = "panic"
		}
	}()
	return f()
}

// TestSlices compares each function with the standard one on random slices.
func TestSlices(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 300 {
		n := r.Intn(60)
		s := make([]int, n, n+r.Intn(8))
		pairs := make([]pair, n)
		floats := make([]float64, n)
		for i := range s {
			s[i] = r.Intn(12)
			pairs[i] = pair{s[i], i}
			floats[i] = float64(r.Intn(5))
			if r.Intn(6) == 0 {
				floats[i] = math.NaN()
			}
		}
		i, j, v := r.Intn(n+2), r.Intn(n+2), r.Intn(12)
		extra := []int{7, 8, 9}[:r.Intn(4)]
		even := func(x int) bool { return x%2 == 0 }
		c := func() []int { return append(make([]int, 0, cap(s)), s...) }
		whole := func(s, r []int) any { return fmt.Sprint(r, s[:cap(s)]) } // what is left behind counts
		for name, f := range map[string][2]func() any{
			"Insert":           {func() any { return slices.Insert(c(), i, extra...) }, func() any { return ourslices.Insert(c(), i, extra...) }},
			"Insert of itself": {func() any { s := c(); return slices.Insert(s, i, s...) }, func() any { s := c(); return ourslices.Insert(s, i, s...) }},
			"Delete":           {func() any { s := c(); return whole(s, slices.Delete(s, i, j)) }, func() any { s := c(); return whole(s, ourslices.Delete(s, i, j)) }},
			"DeleteFunc":       {func() any { s := c(); return whole(s, slices.DeleteFunc(s, even)) }, func() any { s := c(); return whole(s, ourslices.DeleteFunc(s, even)) }},
			"Replace":          {func() any { return slices.Replace(c(), i, j, extra...) }, func() any { return ourslices.Replace(c(), i, j, extra...) }},
			"Compact":          {func() any { s := c(); return whole(s, slices.Compact(s)) }, func() any { s := c(); return whole(s, ourslices.Compact(s)) }},
			"CompactFunc":      {func() any { return slices.CompactFunc(c(), func(a, b int) bool { return a == b+1 }) }, func() any { return ourslices.CompactFunc(c(), func(a, b int) bool { return a == b+1 }) }},
			"Sort":             {func() any { s := c(); slices.Sort(s); return s }, func() any { s := c(); ourslices.Sort(s); return s }},
			"Sort floats":      {func() any { f := slices.Clone(floats); slices.Sort(f); return fmt.Sprint(f) }, func() any { f := slices.Clone(floats); ourslices.Sort(f); return fmt.Sprint(f) }},
			"SortStableFunc":   {func() any { p := slices.Clone(pairs); slices.SortStableFunc(p, byKey); return p }, func() any { p := slices.Clone(pairs); ourslices.SortStableFunc(p, byKey); return p }},
			"BinarySearch":     {func() any { s := c(); slices.Sort(s); k, ok := slices.BinarySearch(s, v); return [2]any{k, ok} }, func() any { s := c(); slices.Sort(s); k, ok := ourslices.BinarySearch(s, v); return [2]any{k, ok} }},
			"Min":              {func() any { return fmt.Sprint(slices.Min(floats)) }, func() any { return fmt.Sprint(ourslices.Min(floats)) }},
			"Max":              {func() any { return fmt.Sprint(slices.Max(floats)) }, func() any { return fmt.Sprint(ourslices.Max(floats)) }},
			"MinFunc":          {func() any { return slices.MinFunc(pairs, byKey) }, func() any { return ourslices.MinFunc(pairs, byKey) }},
			"MaxFunc":          {func() any { return slices.MaxFunc(pairs, byKey) }, func() any { return ourslices.MaxFunc(pairs, byKey) }},
			"Index":            {func() any { return slices.Index(s, v) }, func() any { return ourslices.Index(s, v) }},
			"Compare":          {func() any { return slices.Compare(s, extra) }, func() any { return ourslices.Compare(s, extra) }},
			"Equal":            {func() any { return slices.Equal(s, c()) && !slices.Equal(s, extra) }, func() any { return ourslices.Equal(s, c()) && !ourslices.Equal(s, extra) }},
			"Reverse":          {func() any { s := c(); slices.Reverse(s); return s }, func() any { s := c(); ourslices.Reverse(s); return s }},
			"Concat":           {func() any { return slices.Concat(s, extra, s) }, func() any { return ourslices.Concat(s, extra, s) }},
			"Repeat":           {func() any { return slices.Repeat(s, i-1) }, func() any { return ourslices.Repeat(s, i-1) }},
			"Grow":             {func() any { g := slices.Grow(c(), i); return fmt.Sprint(g, cap(g)-len(g) >= i) }, func() any { g := ourslices.Grow(c(), i); return fmt.Sprint(g, cap(g)-len(g) >= i) }},
			"Chunk":            {func() any { return fmt.Sprint(slices.Collect(slices.Chunk(s, i))) }, func() any { return fmt.Sprint(ourslices.Collect(ourslices.Chunk(s, i))) }},
			"Backward":         {func() any { return maps.Collect(slices.Backward(s)) }, func() any { return ourmaps.Collect(ourslices.Backward(s)) }},
			"Sorted":           {func() any { return slices.Sorted(slices.Values(s)) }, func() any { return ourslices.Sorted(ourslices.Values(s)) }},
			"IsSorted":         {func() any { return slices.IsSorted(s) }, func() any { return ourslices.IsSorted(s) }},
		} {
			if want, got := result(f[0]), result(f[1]); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s of %v (i %d, j %d, v %d, extra %v): got %v, want %v", name, s, i, j, v, extra, got, want)
			}
		}
	}
}

func TestCmp(t *testing.T) {
	nan := math.NaN()
	for _, a := range []float64{nan, -1, 0, 1} {
		for _, b := range []float64{nan, -1, 0, 1} {
			if ourcmp.Compare(a, b) != cmp.Compare(a, b) || ourcmp.Less(a, b) != cmp.Less(a, b) {
				t.Errorf("%v and %v: got %d and %v", a, b, ourcmp.Compare(a, b), ourcmp.Less(a, b))
			}
		}
	}
	if ourcmp.Or(0, 3, 4) != 3 || ourcmp.Or("", "") != "" {
		t.Error("Or")
	}
}

func TestPull(t *testing.T) {
	closed := false
	seq := func(yield func(int) bool) {
		defer func() { closed = true }()
		for i := 0; yield(i) && i < 2; i++ {
		}
	}
	next, stop := ouriter.Pull(seq)
	for want := range 3 {
		if got, ok := next(); got != want || !ok {
			t.Errorf("got %d %v, want %d", got, ok, want)
		}
	}
	if got, ok := next(); got != 0 || ok || !closed {
		t.Errorf("after the end: %d %v, closed %v", got, ok, closed)
	}
	stop()
	closed = false
	next, stop = ouriter.Pull(seq)
	next()
	stop()
	stop()
	if _, ok := next(); ok || !closed {
		t.Error("stop does not stop")
	}
	_, stop = ouriter.Pull(seq)
	stop()
	next, _ = ouriter.Pull(func(func(int) bool) { panic("ouch") })
	if got := result(func() any { next(); return nil }); got != "panic" {
		t.Error("a panic of the sequence is lost")
	}
}

func TestOthers(t *testing.T) {
	err := fmt.Errorf("a: %w", errors.Join(errors.New("b"), &fs.PathError{Op: "open", Err: fs.ErrNotExist}))
	if e, ok := ourerrors.AsType[*fs.PathError](err); !ok || e.Op != "open" {
		t.Error("AsType")
	}
	if _, ok := ourerrors.AsType[*fs.PathError](errors.New("x")); ok {
		t.Error("AsType finds what is not there")
	}
	want, _ := hkdf.Key(sha256.New, []byte("secret"), nil, "info", 100)
	if got, err := ourhkdf.Key(sha256.New, []byte("secret"), nil, "info", 100); err != nil || string(got) != string(want) {
		t.Error("hkdf")
	}
	want, _ = pbkdf2.Key(sha256.New, "password", []byte("salt"), 3, 70)
	if got, err := ourpbkdf2.Key(sha256.New, "password", []byte("salt"), 3, 70); err != nil || string(got) != string(want) {
		t.Error("pbkdf2")
	}
	for _, p := range generic.Packages() {
		if len(generic.Source(p)) == 0 {
			t.Errorf("%s has no source", p)
		}
	}
	if generic.Source("fmt") != nil {
		t.Error("fmt has source")
	}
}

var _ iter.Seq[int]
