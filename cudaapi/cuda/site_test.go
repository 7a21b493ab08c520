package cuda_test

import (
	"reflect"
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
)

// leak is what Leaks says of the one allocation of that size.
func leak(bytes uint64) (string, bool) {
	for _, l := range cuda.Leaks() {
		if l.Bytes == bytes {
			return l.Where, true
		}
	}
	return "", false
}

func TestLeaksNameInterpretedCode(t *testing.T) {
	d := devices(t, 1)[0]
	cuda.SetCaller(func() string { return "In[7], line 3" })
	defer cuda.SetCaller(nil)
	const interpreted, compiled = 54321, 54322
	a := reflect.ValueOf(d.Alloc).Call([]reflect.Value{reflect.ValueOf(interpreted), reflect.ValueOf(cuda.Uint8)})[0].Interface().(*cuda.Buffer)
	b := must[*cuda.Buffer](t)(d.Alloc(compiled, cuda.Uint8))
	if where, _ := leak(interpreted); where != "In[7], line 3" {
		t.Errorf("%q", where)
	}
	if where, _ := leak(compiled); !strings.Contains(where, "TestLeaksNameInterpretedCode") {
		t.Errorf("%q", where)
	}
	ok(t, a.Free())
	ok(t, b.Free())
}

func TestPageableMemoryIsNoLeak(t *testing.T) {
	devices(t, 1)
	h := must[*cuda.HostBuffer](t)(cuda.AllocPageable(54323, cuda.Uint8))
	if where, listed := leak(54323); listed {
		t.Errorf("listed: %s", where)
	}
	h.Uint8s()[0] = 1
	ok(t, h.Free())
	refused(t, h.Free(), cuda.ErrInvalidValue, "freed before")
}
