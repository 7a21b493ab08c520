package display

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"math"
	"math/big"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
	"unsafe"
)

type point struct{ X, Y int }

type shape2 struct {
	Name string
	Any  any
	Next *shape2
	own  int //lint:ignore U1000 to be shown
}

type chain struct {
	V    int
	Next *chain
}

type stringer struct{ S string }

func (s stringer) String() string { return "<" + s.S + ">" }

type nilStringer struct{ s string }

func (s *nilStringer) String() string { return s.s }

type panicker struct{}

func (panicker) String() string { panic("no text") }

type celsius float64

type verbs int

func (verbs) Format(s fmt.State, _ rune) { fmt.Fprint(s, "formatted") }

func TestFormat(t *testing.T) {
	five, loop := 5, &chain{V: 1}
	loop.Next = &chain{2, loop}
	selfSlice := []any{1, nil}
	selfSlice[1] = selfSlice
	selfMap := map[string]any{}
	selfMap["self"] = selfMap
	var selfPointer any
	selfPointer = &selfPointer
	twice := &point{1, 2}
	queue := make(chan string, 3)
	queue <- "a"
	for _, test := range []struct {
		value any
		want  string
	}{
		{nil, "nil"},
		{42, "42"},
		{uint8(7), "7"},
		{uintptr(255), "0xff"},
		{'x', "120"},
		{true, "true"},
		{1.5, "1.5"},
		{1e30, "1e+30"},
		{float32(0.1), "0.1"},
		{math.NaN(), "NaN"},
		{math.Inf(-1), "-Inf"},
		{1 + 2i, "(1+2i)"},
		{celsius(21.5), "21.5"},
		{"hello", `"hello"`},
		{"a\tb\x00", `"a\tb\x00"`},
		{"two\nlines", "`two\nlines`"},
		{"tick`\nlines", `"tick` + "`" + `\nlines"`},
		{"\xff", `"\xff"`},
		{[]int{1, 2}, "[]int{1, 2}"},
		{[]int{}, "[]int{}"},
		{[]int(nil), "[]int(nil)"},
		{[2]bool{}, "[2]bool{false, false}"},
		{map[string]int(nil), "map[string]int(nil)"},
		{map[string]int{"b": 1, "a": 2}, `map[string]int{"a": 2, "b": 1}`},
		{map[any]int{1: 2, "a": 3, nil: 4, 2.5: 1, true: 0}, `map[any]int{nil: 4, true: 0, 1: 2, 2.5: 1, "a": 3}`},
		{map[point]string{{2, 1}: "a", {1, 9}: "b"}, `map[display.point]string{{X: 1, Y: 9}: "b", {X: 2, Y: 1}: "a"}`},
		{point{1, 2}, "display.point{X: 1, Y: 2}"},
		{twice, "&display.point{X: 1, Y: 2}"},
		{[]*point{twice, twice, nil}, "[]*display.point{&{X: 1, Y: 2}, &{X: 1, Y: 2}, nil}"},
		{[]any{point{1, 2}, nil, 1, "x", []string{"a"}}, `[]any{display.point{X: 1, Y: 2}, nil, 1, "x", []string{"a"}}`},
		{[][]int{{1}, nil, {}}, "[][]int{{1}, nil, {}}"},
		{struct{}{}, "struct{}{}"},
		{struct {
			A int
			b string
		}{1, "x"}, `struct { A int; b string }{A: 1, b: "x"}`},
		{&five, "&5"},
		{(*int)(nil), "nil"},
		{(func())(nil), "nil"},
		{(chan int)(nil), "nil"},
		{[]any{(*int)(nil), (func())(nil), []int(nil)}, "[]any{(*int)(nil), (func())(nil), []int(nil)}"},
		{func(int, ...string) (int, error) { return 0, nil }, "func(int, ...string) (int, error)"},
		{fmt.Sprint, "func(...any) string"},
		{make(chan int), "chan int (unbuffered)"},
		{queue, "chan string (1 of 3 queued)"},
		{(<-chan string)(queue), "<-chan string (1 of 3 queued)"},
		{unsafe.Pointer(nil), "unsafe.Pointer(0x0)"},
		{loop, "&display.chain{\n    V: 1,\n    Next: &display.chain{V: 2, Next: (cycle to *display.chain)},\n}"},
		{selfSlice, "[]any{1, (cycle to []any)}"},
		{selfMap, `map[string]any{"self": (cycle to map[string]any)}`},
		{selfPointer, "&(cycle to *any)"},
		{[]byte("hi\n"), `[]byte("hi\n")`},
		{[]byte{0, 1, 255}, "[]byte{0x00, 0x01, 0xff}"},
		{[]byte{}, "[]byte{}"},
		{[2]byte{1, 2}, "[2]byte{0x01, 0x02}"},
		{time.Second, "1s"},
		{[]time.Duration{1, 2e9}, "[]time.Duration{1ns, 2s}"},
		{time.Unix(0, 0).UTC(), "1970-01-01 00:00:00 +0000 UTC"},
		{errors.New("boom"), "boom"},
		{[]error{errors.New("a b"), nil}, `[]error{error("a b"), nil}`},
		{stringer{"s"}, "<s>"},
		{[]stringer{{"s"}, {"two\nlines"}}, `[]display.stringer{<s>, {S: "two\nlines"}}`},
		{(*nilStringer)(nil), "<nil>"},
		{[]any{(*nilStringer)(nil)}, "[]any{(*display.nilStringer)(nil)}"},
		{panicker{}, "%!v(PANIC=String method: no text)"},
		{verbs(1), "formatted"},
		{big.NewInt(5), "5"},
		{bytes.NewBufferString("q"), "q"},
		{image.NewGray(image.Rect(0, 0, 3, 4)), "*image.Gray, 3 x 4 pixels"},
		{reflect.ValueOf(point{}), "display.point{X: 0, Y: 0}"},
		{reflect.Value{}, "nil"},
		{reflect.TypeFor[int](), "int"},
		{Text("a"), ""},
		{[]Bundle{Text("a")}, `[]display.Bundle{"a"}`},
		{shape2{Name: "n"}, `display.shape2{Name: "n", Any: nil, Next: nil, …}`},
		{&sync.Mutex{}, "&sync.Mutex{…}"},
		{struct {
			Name  string
			At    point
			To    *point
			f     func(int) string
			Err   error
			Any   any
			m     map[string][]float64
			begin time.Time
			took  time.Duration
			own   stringer
		}{Name: "n", To: twice, f: func(int) string { return "" }, Err: errors.New("e"), Any: point{}, took: 5, own: stringer{"h"},
			m: map[string][]float64{"b": {1}, "a": nil}}, strings.Join([]string{
			"struct {…}{",
			`    Name: "n",`,
			"    At: display.point{X: 0, Y: 0},",
			"    To: &display.point{X: 1, Y: 2},",
			"    f: func(int) string,",
			`    Err: error("e"),`,
			"    Any: display.point{X: 0, Y: 0},",
			`    m: map[string][]float64{"a": nil, "b": {1}},`,
			"    begin: 0001-01-01 00:00:00 +0000 UTC,",
			"    took: 5ns,",
			"    own: display.stringer{S: \"h\"},",
			"}"}, "\n")},
	} {
		if _, ok := test.value.(Bundle); ok {
			continue // stands for itself: see TestOf
		}
		if got := Format(test.value); got != test.want {
			t.Errorf("%T: got\n%s\nwant\n%s", test.value, got, test.want)
		}
	}
}

func TestFormatBreaksLines(t *testing.T) {
	numbers := make([]int, 30)
	for i := range numbers {
		numbers[i] = 1000 + i
	}
	want := `[]int{
    1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011,
    1012, 1013, 1014, 1015, 1016, 1017, 1018, 1019, 1020, 1021, 1022, 1023,
    1024, 1025, 1026, 1027, 1028, 1029,
}`
	if got := Format(numbers); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want = `map[string]display.point{
    "a key that is rather long": {X: 100000000, Y: 200000000},
    "another key that is as long": {X: 1, Y: 2},
}`
	if got := Format(map[string]point{"a key that is rather long": {1e8, 2e8}, "another key that is as long": {1, 2}}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFormatLimits(t *testing.T) {
	long := make([]int, 1000)
	for i := range long {
		long[i] = i
	}
	text := Format(long)
	for _, part := range []string{" 49, … 900 more …, 950,", " 999,"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), strings.TrimSpace(part)) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	if text := Format(long[:100]); strings.Contains(text, "…") {
		t.Errorf("100 elements are cut:\n%s", text)
	}
	many := map[int]int{}
	for i := range 150 {
		many[i] = i
	}
	if text := Format(many); !strings.Contains(text, "99: 99,\n    … 50 more,\n}") {
		t.Errorf("a long map is not cut:\n%s", text)
	}
	var list *chain
	for i := range 50 {
		list = &chain{i, list}
	}
	if text := Format(list); strings.Count(text, "V: ") != maxDepth || !strings.Contains(text, "Next: &display.chain{…}") {
		t.Errorf("a long chain:\n%s", text)
	}
	if text := Format([]string{strings.Repeat("é", 1e5)}); len(text) > 2*maxString || !strings.Contains(text, "(200000 bytes)") || !utf8.ValidString(text) {
		t.Errorf("a long string: %d bytes, %.50s", len(text), text)
	}
	if text := Format(strings.Repeat("x", 1e6)); len(text) > 2*maxText || !strings.Contains(text, "(1000000 bytes)") {
		t.Errorf("a very long string: %d bytes", len(text))
	}
	if text := Format(bytes.Repeat([]byte("x"), 1e6)); len(text) > 2*maxString || !strings.Contains(text, "(1000000 bytes)") {
		t.Errorf("long bytes: %d bytes", len(text))
	}
	var deepSlice, deepMap any = 1, 1
	for range 20 {
		deepSlice, deepMap = []any{deepSlice}, map[string]any{"k": deepMap}
	}
	if text := Format(deepSlice); strings.Count(text, "[]any{") != maxDepth+1 || !strings.Contains(text, "[]any{…}") {
		t.Errorf("deep slices:\n%s", text)
	}
	if text := Format(deepMap); strings.Count(text, "map[") != maxDepth+1 || !strings.Contains(text, "any{…}") {
		t.Errorf("deep maps:\n%s", text)
	}
	// Wide and deep: all the limits by depth together are still too many.
	var wide any = 1
	for range 8 {
		row := make([]any, 50)
		for i := range row {
			row[i] = wide
		}
		wide = row
	}
	if text := Format(wide); len(text) > 1<<20 {
		t.Errorf("a bushy value makes %d bytes", len(text))
	}
}

func TestTypeNames(t *testing.T) {
	type recursive []map[string]*recursive
	for _, test := range []struct {
		typ  reflect.Type
		want string
	}{
		{reflect.TypeFor[map[string][]*point](), "map[string][]*display.point"},
		{reflect.TypeFor[chan<- (<-chan int)](), "chan<- <-chan int"},
		{reflect.TypeFor[chan (<-chan int)](), "chan (<-chan int)"},
		{reflect.TypeFor[func() func(any)](), "func() func(any)"},
		{reflect.TypeFor[interface{ M() }](), "interface { M() }"},
		{reflect.TypeFor[struct {
			A, B, C, D, E, F, G, H, I int
		}](), "struct {…}"},
		{reflect.TypeFor[*****int](), "****…"},
		{reflect.TypeFor[recursive](), "display.recursive"},
	} {
		if got := typeName(test.typ); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}
