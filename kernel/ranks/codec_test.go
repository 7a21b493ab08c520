package ranks

import (
	"math"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"gocuda/cudaapi/cuda"
)

type pair struct {
	Name  string
	Count map[string][]int32
}

// unpacked is what a value becomes in another process.
func unpacked(t *testing.T, value any) any {
	t.Helper()
	c, err := pack(value)
	if err != nil {
		t.Fatalf("%T: %v", value, err)
	}
	if c, err = parseEncoded(c.bytes()); err != nil {
		t.Fatalf("%T: %v", value, err)
	}
	pointer := reflect.New(reflect.TypeOf(value))
	if err := c.unpack(pointer.Interface()); err != nil {
		t.Fatalf("%T: %v", value, err)
	}
	return pointer.Elem().Interface()
}

func TestValuesAreTheSameInAnotherProcess(t *testing.T) {
	for _, value := range []any{
		true, "text with \x00 and \xff", int8(-5), uint16(65535), -1 << 62, uint64(math.MaxUint64), float32(1.5), math.Inf(-1),
		complex64(1 + 2i), 3 - 4i, 'x', byte(7),
		[]int{1, -2, 3}, []float32{}, []float64(nil), []bool{true, false}, []string{"", "b"}, [][]int16{{1}, nil, {}},
		[3]complex128{1, 2i, 3}, [0]string{}, []struct{}{{}, {}}, struct{}{},
		map[string]int{"a": 1, "b": 2}, map[[2]int]bool{}, map[string]int(nil), map[struct{}]struct{}{{}: {}},
		pair{"x", map[string][]int32{"n": {1, 2}, "nil": nil}}, []pair{{}, {Name: "y"}},
		time.Second, []time.Duration{1, 2}, time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), *big.NewInt(1).Lsh(big.NewInt(1), 200),
		map[netip.Addr]time.Month{netip.MustParseAddr("::1"): time.May}, cuda.Float32, cuda.Grid(2, 3),
	} {
		if got := unpacked(t, value); !reflect.DeepEqual(got, value) {
			t.Errorf("%T: %#v became %#v", value, value, got)
		}
	}
	if got := unpacked(t, []float64{math.NaN(), math.Copysign(0, -1)}).([]float64); !math.IsNaN(got[0]) || !math.Signbit(got[1]) {
		t.Errorf("NaN and -0 became %v", got)
	}
}

func TestACopySharesNothing(t *testing.T) {
	value := []int{1, 2}
	got := unpacked(t, value).([]int)
	got[0] = 9
	if value[0] != 1 {
		t.Error("the copy is the original")
	}
}

type chain struct{ Next []chain }

func TestWhatCannotBeCarriedIsNamed(t *testing.T) {
	type private struct{ n int }
	for _, test := range []struct {
		value any
		want  string
	}{
		{nil, "nil has no type"},
		{make(chan int), "chan int is a channel"},
		{func() {}, "func() is a function"},
		{[]uintptr{1}, "an element of []uintptr is a memory address"},
		{&pair{}, "*ranks.pair is a pointer"},
		{[]error{nil}, "an element of []error is an interface"},
		{map[string]any{}, "an element of map[string]interface {} is an interface"},
		{map[chan int]int{}, "a key of map[chan int]int is a channel"},
		{struct{ A struct{ F func() } }{}, "field F of field A of struct"},
		{private{1}, "keeps fields to itself, such as n"},
		{chain{}, "contains itself"},
		{(*cuda.Buffer)(nil), "*cuda.Buffer is an object of this process's devices"},
	} {
		if _, err := pack(test.value); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%T: error %v, want one that says %q", test.value, err, test.want)
		}
	}
}

func TestTooMuchIsNotCarried(t *testing.T) {
	if testing.Short() {
		t.Skip("takes memory")
	}
	if _, err := pack(make([]byte, maxEncoded+1)); err == nil || !strings.Contains(err.Error(), "at most 128 MiB") {
		t.Errorf("error %v", err)
	}
}

func TestATypeWithOtherFieldsIsRefused(t *testing.T) {
	c, err := pack(struct{ X, Y int }{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.unpack(new(struct{ X, Z int })); err == nil || !strings.Contains(err.Error(), "declare it with the same fields") {
		t.Errorf("error %v", err)
	}
	if err := c.unpack(struct{ X, Y int }{}); err == nil || !strings.Contains(err.Error(), "not a pointer") {
		t.Errorf("error %v", err)
	}
}

// FuzzEncoded gives any bytes to a rank, as a value of each of some types: it
// must take them or say that they are damaged, and what it took must be
// written as it was.
func FuzzEncoded(f *testing.F) {
	kinds := []any{new(int8), new(bool), new(string), new([]float32), new([][]string), new(map[uint8][2]bool), new(pair),
		new([]struct{}), new(time.Time), new(map[struct{}][0]int)}
	for i, k := range kinds {
		c, err := pack(reflect.ValueOf(k).Elem().Interface())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), c.Bytes)
	}
	f.Add(uint8(3), []byte{255, 255, 255, 255, 255, 255, 255, 255, 127})
	f.Add(uint8(5), []byte{3, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 1})
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		parseEncoded(data)
		p := reflect.New(reflect.TypeOf(kinds[int(kind)%len(kinds)]).Elem())
		shape := p.Type().Elem().String()
		c := encoded{Type: shape, Shape: shape, Bytes: data}
		if c.unpack(p.Interface()) != nil {
			return
		}
		if got := unpacked(t, p.Elem().Interface()); !reflect.DeepEqual(got, p.Elem().Interface()) {
			if s, ok := got.([]float32); ok && len(s) == p.Elem().Len() {
				return // NaN differs from itself
			}
			if at, ok := got.(time.Time); ok && at.Equal(*p.Interface().(*time.Time)) {
				return // a zone that has been looked up differs from itself
			}
			t.Errorf("%#v became %#v", p.Elem().Interface(), got)
		}
	})
}
