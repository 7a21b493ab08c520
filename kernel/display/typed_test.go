package display

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// kind is a Type that is put together by hand, as an interpreter would know it.
type kind struct {
	name      string
	elem, key *kind
	fields    []string
	types     []*kind
	methods   func(reflect.Value) any
	open      func(reflect.Value) reflect.Value
}

func (k *kind) orNil() Type {
	if k == nil {
		return nil
	}
	return k
}

func (k *kind) Name() string { return k.name }
func (k *kind) Elem() Type   { return k.elem.orNil() }
func (k *kind) Key() Type    { return k.key.orNil() }
func (k *kind) Field(i int) (string, Type) {
	return k.fields[i], k.types[i].orNil()
}

func (k *kind) Open(v reflect.Value) reflect.Value {
	if k.open != nil {
		return k.open(v)
	}
	return v
}

func (k *kind) Methods(v reflect.Value) any {
	if k.methods != nil {
		return k.methods(v)
	}
	return nil
}

// boxed is a value in the hands of an interpreter. Like GOLANG's, it can print
// itself, which must not count.
type boxed struct {
	t *kind
	v any
}

func (b boxed) Typed() (reflect.Value, Type)  { return reflect.ValueOf(b.v), b.t.orNil() }
func (b boxed) Format(s fmt.State, verb rune) { fmt.Fprint(s, "boxed") }

type shown struct{ html string }

func (s shown) HTML() string { return s.html }

func TestTyped(t *testing.T) {
	celsius := &kind{name: "Celsius", methods: func(v reflect.Value) any { return stringer{fmt.Sprint(v.Float(), "°")} }}
	point := &kind{name: "Point", fields: []string{"x", "Temp"}, types: []*kind{nil, celsius}}
	points := &kind{name: "[]Point", elem: point}
	pointer := &kind{name: "*Point", elem: point}
	table := &kind{name: "map[Celsius]Point", key: celsius, elem: point}
	list := &kind{name: "List", fields: []string{"v", "next"}}
	next := &kind{name: "*List", elem: list, open: func(v reflect.Value) reflect.Value {
		if v.Kind() == reflect.Interface { // a pointer to its own type lies in an any
			v = v.Elem()
		}
		return v
	}}
	list.types = []*kind{nil, next}
	page := &kind{name: "Page", methods: func(v reflect.Value) any { return shown{v.String()} }}
	failure := &kind{name: "Failure", methods: func(v reflect.Value) any { return fmt.Errorf("code %d", v.Int()) }}

	type repPoint = struct {
		Xx   int
		Temp float64
	}
	type repList = struct {
		Xv    int
		Xnext any
	}
	loop := &repList{Xv: 1}
	loop.Xnext = loop
	a, b := repPoint{1, 20.5}, repPoint{2, 30}
	for _, test := range []struct {
		value any
		want  string
	}{
		{boxed{point, a}, "Point{x: 1, Temp: <20.5°>}"},
		{boxed{pointer, &a}, "&Point{x: 1, Temp: <20.5°>}"},
		{boxed{pointer, (*repPoint)(nil)}, "nil"},
		{boxed{points, []repPoint{a, b}}, "[]Point{{x: 1, Temp: <20.5°>}, {x: 2, Temp: <30°>}}"},
		{boxed{points, []repPoint(nil)}, "[]Point(nil)"},
		{boxed{table, map[float64]repPoint{2: b, 1: a}}, "map[Celsius]Point{<1°>: {x: 1, Temp: <20.5°>}, <2°>: {x: 2, Temp: <30°>}}"},
		{boxed{celsius, 21.5}, "<21.5°>"},
		{[]any{boxed{point, a}, boxed{celsius, 1.0}, boxed{failure, 3}}, `[]any{Point{x: 1, Temp: <20.5°>}, <1°>, error("code 3")}`},
		{map[any]int{boxed{celsius, 2.0}: 2, boxed{celsius, 1.0}: 1}, "map[any]int{<1°>: 1, <2°>: 2}"},
		{boxed{list, repList{1, &repList{2, nil}}}, "List{v: 1, next: &List{v: 2, next: nil}}"},
		{boxed{next, loop}, "&List{v: 1, next: (cycle to *List)}"},
		{boxed{failure, 4}, "code 4"},
		{boxed{page, "<p>"}, `"<p>"`},
		{boxed{&kind{name: "Timed", fields: []string{"took", "mu"}, types: []*kind{{name: "wrong"}, {name: "wrong"}}},
			struct {
				Xtook time.Duration
				Xmu   sync.Mutex
			}{Xtook: 5}}, "Timed{took: 5ns, mu: sync.Mutex{…}}"},
		{boxed{nil, 5}, "5"},
		{boxed{point, nil}, "nil"},
	} {
		if got := Format(test.value); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
		if got := Of(test.value).Data["text/plain"]; got != test.want {
			t.Errorf("Of gives %s", got)
		}
	}
	if got := Of(boxed{page, "<p>"}).Data["text/html"]; got != "<p>" {
		t.Errorf("its methods are not used: %v", got)
	}
	want := "x     Temp\n─  ───────\n1  <20.5°>\n2    <30°>"
	if got := Table(boxed{points, []repPoint{a, b}}).text(); got != want {
		t.Errorf("table\n%s\nwant\n%s", got, want)
	}
	if got := Table([]any{boxed{pointer, &a}, boxed{point, b}}).text(); got != want {
		t.Errorf("table of pointers\n%s\nwant\n%s", got, want)
	}
	if got := Table(boxed{points, []repPoint{}}).text(); !strings.HasPrefix(got, "x  Temp\n") {
		t.Errorf("empty table\n%s", got)
	}
}
