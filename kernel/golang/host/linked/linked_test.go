package linked

import (
	"testing"
	"unsafe"
)

// TestFunctions: the functions are those of the runtime.
func TestFunctions(t *testing.T) {
	m := map[string]int{"a": 1}
	typ := (*[2]unsafe.Pointer)(unsafe.Pointer(&[]any{m}[0]))[0]
	key := "a"
	p := mapaccess(typ, *(*unsafe.Pointer)(unsafe.Pointer(&m)), unsafe.Pointer(&key))
	if p == nil || *(*int)(p) != 1 {
		t.Error("mapaccess finds nothing")
	}
	if first, again := stringHash("a", 1), stringHash("a", 1); first != again || stringHash("a", 1) == stringHash("b", 1) {
		t.Error("stringHash is no hash")
	}
	if a, b := nanotime(), nanotime(); b < a {
		t.Errorf("nanotime goes back: %d, %d", a, b)
	}
	for target := range functions {
		exported, typ, ok := Function(target)
		if s, has := Symbols()[exported]; !ok || !has || s.Type() != typ {
			t.Errorf("%s is not exported", target)
		}
	}
}
