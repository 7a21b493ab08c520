package named

import (
	"fmt"
	"reflect"
	"testing"
)

// The errors are those of compiled code: same type, same text, equal where Go's are.
func TestErrorsAreTheRuntimesOwn(t *testing.T) {
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
				if reflect.TypeOf(c.made) != reflect.TypeOf(want) || fmt.Sprint(c.made) != fmt.Sprint(want) {
					t.Errorf("%T %v, of compiled code %T %v", c.made, c.made, want, want)
				}
			}()
			c.native()
		})
	}
}

type fmtStringer struct{}

func (*fmtStringer) String() string { return "" }
