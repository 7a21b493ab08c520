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
	cuda.SetCaller(func() cuda.Place { return cuda.Place{Cell: "In[7]", Line: 3} }, "gocuda/cudaapi/cuda_test.adapter")
	defer cuda.SetCaller(nil)
	const interpreted, compiled, adapted = 54321, 54322, 54324
	a := reflect.ValueOf(d.Alloc).Call([]reflect.Value{reflect.ValueOf(interpreted), reflect.ValueOf(cuda.Uint8)})[0].Interface().(*cuda.Buffer)
	b := must[*cuda.Buffer](t)(d.Alloc(compiled, cuda.Uint8))
	if where, _ := leak(interpreted); where != "In[7], line 3" {
		t.Errorf("%q", where)
	}
	c := adapter(t, d, adapted)
	if where, _ := leak(adapted); where != "In[7], line 3" {
		t.Errorf("%q", where)
	}
	if where, _ := leak(compiled); !strings.Contains(where, "TestLeaksNameInterpretedCode") {
		t.Errorf("%q", where)
	}
	ok(t, a.Free())
	ok(t, b.Free())
	ok(t, c.Free())
}

//go:noinline
func adapter(t *testing.T, d *cuda.Device, n int) *cuda.Buffer {
	b, err := d.Alloc(n, cuda.Uint8)
	ok(t, err)
	return b
}

func TestPageableMemoryIsNoLeak(t *testing.T) {
	devices(t, 1)
	h := must[*cuda.HostBuffer](t)(cuda.AllocPageable(54323, cuda.Uint8))
	if where, listed := leak(54323); listed {
		t.Errorf("listed: %s", where)
	}
	must[[]byte](t)(h.Uint8s())[0] = 1
	ok(t, h.Free())
	refused(t, h.Free(), cuda.ErrInvalidValue, "freed before")
}
