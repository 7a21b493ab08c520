package ahead

import (
	"reflect"
	"slices"
	"testing"
)

// Each instance is found by its name and type, and no other is.
func TestFind(t *testing.T) {
	f, ok := Find("slices.Sort", reflect.TypeFor[func([]int16)]())
	if !ok {
		t.Fatal("no slices.Sort of int16")
	}
	x := []int16{3, 1, 2}
	f.Interface().(func([]int16))(x)
	if !slices.Equal(x, []int16{1, 2, 3}) {
		t.Error(x)
	}
	if _, ok := Find("maps.Keys", reflect.TypeFor[func(map[string]int) func(func(string) bool)]()); !ok {
		t.Error("no maps.Keys: its result is not of type iter.Seq in lowered code")
	}
	for name, typ := range map[string]reflect.Type{"slices.Sort": reflect.TypeFor[func([]bool)](), "slices.Max": reflect.TypeFor[func([]int)]()} {
		if _, ok := Find(name, typ); ok {
			t.Errorf("%s has an instance of type %v", name, typ)
		}
	}
}
