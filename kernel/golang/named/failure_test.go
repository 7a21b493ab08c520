package named

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"
)

// The errors are those of compiled code: same type, same text, equal where Go's are.
func TestErrorsAreTheRuntimesOwn(t *testing.T) {
	eachError(t, func(t *testing.T, made, want any) {
		if reflect.TypeOf(made) != reflect.TypeOf(want) || fmt.Sprint(made) != fmt.Sprint(want) {
			t.Errorf("%T %v, of compiled code %T %v", made, made, want, want)
		}
	})
}

// Where the runtime's errors lie in memory in a way that is not known, they have
// their texts.
func TestErrorsOfAnotherLayout(t *testing.T) {
	if !knownErrors {
		t.Fatal("the layout of this release's errors is not known")
	}
	knownErrors = false
	defer func() { knownErrors = true }()
	eachError(t, func(t *testing.T, made, want any) {
		e, ok := made.(runtime.Error)
		if _, own := made.(otherError); !own || !ok || e.Error() != fmt.Sprint(want) {
			t.Errorf("%T %v, of compiled code %T %v", made, made, want, want)
		}
	})
}

// The check tells other layouts.
func TestErrorsLayoutIsChecked(t *testing.T) {
	for name, other := range map[string]bool{
		"bounds of another size": knownBounds(reflect.TypeFor[struct{ x, y int64 }]()),
		"bounds in another order": knownBounds(reflect.TypeFor[struct {
			y      int
			signed bool
			code   Bounds
			x      int64
		}]()),
		"bounds with x and y changed": knownBounds(reflect.TypeFor[struct {
			y      int
			x      int64
			signed bool
			code   Bounds
		}]()),
		"bounds that are no struct": knownBounds(reflect.TypeFor[int]()),
		"assertion without a name":  knownAssertion(reflect.TypeFor[struct{ a, b, c *abiType }]()),
		"text that is a struct":     knownText(reflect.TypeFor[struct{ text string }]()),
		"text that is no error":     knownText(reflect.TypeFor[string]()),
	} {
		if other {
			t.Errorf("%s: taken for what is known", name)
		}
	}
	if !knownBounds(boundsErrorType) || !knownAssertion(reflect.TypeFor[runtime.TypeAssertionError]()) {
		t.Error("this release's are not known")
	}
}

// eachError compares what is made, as knownErrors says, with what compiled code
// panics with.
func eachError(t *testing.T, compare func(t *testing.T, made, want any)) {
	t.Helper()
	s, text, zero := make([]int, 2, 5), "abc", 0
	array := &[4]int{}
	five, minus, one := 5+zero, -1+zero, 1+zero
	var e any = "x"
	var none any
	var stringer fmt.Stringer
	for name, c := range map[string]struct {
		made   any
		native func()
	}{
		"index":               {BoundsError(BoundsIndex, 5, 2), func() { _ = s[five] }},
		"negative index":      {BoundsError(BoundsIndex, -1, 2), func() { _ = s[minus] }},
		"high of a string":    {BoundsError(BoundsSliceAlen, 5, 3), func() { _ = text[:five] }},
		"high of a slice":     {BoundsError(BoundsSliceAcap, 6, 5), func() { _ = s[:five+1] }},
		"negative high":       {BoundsError(BoundsSliceAcap, -1, 5), func() { _ = s[:minus] }},
		"low":                 {BoundsError(BoundsSliceB, 5, 2), func() { _ = s[five:] }},
		"negative low":        {BoundsError(BoundsSliceB, -1, 2), func() { _ = s[minus:] }},
		"limit of an array":   {BoundsError(BoundsSlice3Alen, 5, 4), func() { _ = array[:one:five] }},
		"limit of a slice":    {BoundsError(BoundsSlice3Acap, 6, 5), func() { _ = s[: one : five+1] }},
		"high above limit":    {BoundsError(BoundsSlice3B, 5, 1), func() { _ = s[:five:one] }},
		"low above high":      {BoundsError(BoundsSlice3C, 5, 1), func() { _ = s[five:one:five] }},
		"slice to array":      {BoundsError(BoundsConvert, 5, 2), func() { _ = [5]int(s) }},
		"nil":                 {RuntimeError("invalid memory address or nil pointer dereference"), func() { _ = *(*int)(nil) }},
		"shift":               {RuntimeError("negative shift amount"), func() { _ = 1 << minus }},
		"makeslice":           {RuntimeError("makeslice: len out of range"), func() { _ = make([]int, minus) }},
		"makechan":            {PlainError("makechan: size out of range"), func() { _ = make(chan int, minus) }},
		"assertion":           {AssertionError("interface {}", reflect.TypeFor[string](), reflect.TypeFor[int]()), func() { _ = e.(int) }},
		"assertion of nil":    {AssertionError("interface {}", nil, reflect.TypeFor[int]()), func() { _ = none.(int) }},
		"assertion of a name": {AssertionError("fmt.Stringer", nil, reflect.TypeFor[*fmtStringer]()), func() { _ = stringer.(*fmtStringer) }},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				want := recover()
				if want == nil {
					t.Fatal("compiled code does not panic")
				}
				compare(t, c.made, want)
			}()
			c.native()
		})
	}
}

type fmtStringer struct{}

func (*fmtStringer) String() string { return "" }
