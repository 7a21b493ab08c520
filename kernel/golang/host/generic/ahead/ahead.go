// Package ahead has instances of the generic functions of the standard library, compiled
// with the binary: those of slices, maps and cmp over numbers, strings and bools. Cells
// call them in place of the source that package generic has, which is interpreted and
// takes 100 to 1000 times as long.
//
// A defined type, such as type Celsius float64, is what its underlying type is in the code
// that cells are lowered to, so an instance serves these types too.
package ahead

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"sync"
)

// key is a function, and the type of an instance of it.
type key struct {
	name string // such as slices.Sort
	typ  reflect.Type
}

type table map[key]reflect.Value

var instances = sync.OnceValue(func() table {
	t := make(table)
	ordered[int](t)
	ordered[int8](t)
	ordered[int16](t)
	ordered[int32](t)
	ordered[int64](t)
	ordered[uint](t)
	ordered[uint8](t)
	ordered[uint16](t)
	ordered[uint32](t)
	ordered[uint64](t)
	ordered[uintptr](t)
	ordered[float32](t)
	ordered[float64](t)
	ordered[string](t)
	equal[bool](t)
	keys[int](t)
	keys[int32](t)
	keys[int64](t)
	keys[uint64](t)
	keys[float64](t)
	keys[string](t)
	return t
})

// Find returns the instance of a function whose type is typ; false: there is none.
func Find(name string, typ reflect.Type) (f reflect.Value, ok bool) {
	f, ok = instances()[key{name, typ}]
	return f, ok
}

func (t table) add(name string, f any) {
	v := reflect.ValueOf(f)
	t[key{name, v.Type()}] = v
}

// The results of type iter.Seq are plain functions here, as they are in lowered code.
type (
	seq[E any]     = func(yield func(E) bool)
	seq2[K, V any] = func(yield func(K, V) bool)
)

// ordered adds what takes elements that have an order.
func ordered[E cmp.Ordered](t table) {
	equal[E](t)
	t.add("cmp.Compare", cmp.Compare[E])
	t.add("cmp.Less", cmp.Less[E])
	t.add("slices.BinarySearch", slices.BinarySearch[[]E])
	t.add("slices.Compare", slices.Compare[[]E])
	t.add("slices.IsSorted", slices.IsSorted[[]E])
	t.add("slices.Max", slices.Max[[]E])
	t.add("slices.Min", slices.Min[[]E])
	t.add("slices.Sort", slices.Sort[[]E])
	t.add("slices.Sorted", func(s seq[E]) []E { return slices.Sorted(s) })
}

// equal adds what takes elements that can be compared.
func equal[E comparable](t table) {
	t.add("slices.All", func(s []E) seq2[int, E] { return slices.All(s) })
	t.add("slices.Collect", func(s seq[E]) []E { return slices.Collect(s) })
	t.add("slices.Compact", slices.Compact[[]E])
	t.add("slices.Contains", slices.Contains[[]E])
	t.add("slices.Equal", slices.Equal[[]E])
	t.add("slices.Index", slices.Index[[]E])
	t.add("slices.Repeat", slices.Repeat[[]E])
	t.add("slices.Reverse", slices.Reverse[[]E])
	t.add("slices.Values", func(s []E) seq[E] { return slices.Values(s) })
}

// keys adds what takes maps with such keys.
func keys[K comparable](t table) {
	pairs[K, bool](t)
	pairs[K, int](t)
	pairs[K, int64](t)
	pairs[K, float64](t)
	pairs[K, string](t)
	of[K, struct{}](t)
	of[K, any](t)
	of[K, []int](t)
	of[K, []string](t)
}

// pairs adds what takes maps whose values can be compared.
func pairs[K, V comparable](t table) {
	of[K, V](t)
	t.add("maps.Equal", maps.Equal[map[K]V, map[K]V])
}

// of adds what takes maps.
func of[K comparable, V any](t table) {
	t.add("maps.Clone", maps.Clone[map[K]V])
	t.add("maps.Copy", maps.Copy[map[K]V, map[K]V])
	t.add("maps.Keys", func(m map[K]V) seq[K] { return maps.Keys(m) })
	t.add("maps.Values", func(m map[K]V) seq[V] { return maps.Values(m) })
}
