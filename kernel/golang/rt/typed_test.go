package rt

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"testing"
	"unsafe"

	"gocuda/kernel/display"
)

// program checks Go code; typ registers its types, as a session does.
func program(t *testing.T, source string) (typ func(expr string) *Type) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", "package main\n"+source, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := (&types.Config{}).Check("main", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := New(nil)
	known := map[string]*Type{}
	r.TypeFor = func(x types.Type) *Type { return known[x.String()] }
	return func(expr string) *Type {
		tv, err := types.Eval(fset, pkg, token.NoPos, expr)
		if err != nil {
			t.Fatal(err)
		}
		if known[tv.Type.String()] == nil {
			known[tv.Type.String()] = r.AddType(tv.Type, TypeString(tv.Type))
		}
		return known[tv.Type.String()]
	}
}

func TestDisplayOfBoxes(t *testing.T) {
	typ := program(t, `
type Point struct { x int; Label string }
type Celsius float64
func (Celsius) MarshalJSON() ([]byte, error) { return nil, nil }
type List struct { v Celsius; next *List; other any }
type Page struct { html string }
type Failure int
type Nest []Nest
type Deep map[string]Deep`)
	method := func(t *Type, name string, f any) {
		t.methods = map[string]reflect.Value{name: reflect.ValueOf(f)}
	}
	method(typ("Celsius"), "String", func(v any) string { return "21°" })
	method(typ("Page"), "HTML", func(v any) string { return "<p>" })
	method(typ("Failure"), "Error", func(v any) string { return "it failed" })

	type point = struct {
		Xx    int
		Label string
	}
	type list = struct {
		Xv     float64
		Xnext  unsafe.Pointer
		Xother any
	}
	second := &list{Xv: 2, Xother: Box{typ("Point"), point{3, "c"}}}
	first := &list{Xv: 1, Xnext: unsafe.Pointer(second)}
	for _, test := range []struct {
		box  Box
		want string
	}{
		{Box{typ("Point"), point{1, "a"}}, `Point{x: 1, Label: "a"}`},
		{Box{typ("*Point"), &point{1, "a"}}, `&Point{x: 1, Label: "a"}`},
		{Box{typ("[]Point"), []point{{1, "a"}}}, `[]Point{{x: 1, Label: "a"}}`},
		{Box{typ("map[string]*Point"), map[string]*point{"k": nil}}, `map[string]*Point{"k": nil}`},
		{Box{typ("Celsius"), 1.0}, `21°`},
		{Box{typ("[]Celsius"), []float64{1}}, `[]Celsius{21°}`},
		{Box{typ("Failure"), 1}, `it failed`},
		{Box{typ("[]any"), []any{Box{typ("Failure"), 1}, 2}}, `[]any{error("it failed"), 2}`},
		{Box{typ("Page"), struct{ Xhtml string }{"x"}}, `Page{html: "x"}`},
		{Box{typ("Nest"), []any{[]any{}, nil, []any(nil)}}, "Nest{{}, nil, nil}"},
		{Box{typ("Deep"), map[string]any{"a": map[string]any{"b": nil}}}, `Deep{"a": {"b": nil}}`},
		{Box{typ("*List"), first}, "&List{\n    v: 21°,\n    next: &List{v: 21°, next: nil, other: Point{x: 3, Label: \"c\"}},\n    other: nil,\n}"},
	} {
		if got := display.Format(test.box); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
	method(typ("Celsius"), "MarshalJSON", func(v any) ([]byte, error) { return []byte(`"warm"`), nil })
	data := display.JSON([]any{Box{typ("Point"), point{1, "a"}}, Box{typ("Celsius"), 1.0}, Box{typ("Failure"), 3}}).Data["application/json"]
	if want := `[{"Xx":1,"Label":"a"},"warm",3]`; fmt.Sprintf("%s", data) != want {
		t.Errorf("JSON is %s, want %s", data, want)
	}
	if got := display.Of(Box{typ("Page"), struct{ Xhtml string }{"x"}}).Data["text/html"]; got != "<p>" {
		t.Errorf("HTML gives %v", got)
	}
	if got := display.Table(Box{typ("[]Point"), []point{{1, "a"}}}).Data["text/plain"]; got != "x  Label\n─  ─────\n1  a" {
		t.Errorf("table\n%s", got)
	}
}
