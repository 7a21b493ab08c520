package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"strings"
	"sync"
	"time"
)

type Color int

func (c Color) MarshalJSON() ([]byte, error) {
	if c < 0 {
		return nil, errors.New("negative color")
	}
	return json.Marshal(fmt.Sprintf("#%06x", int(c)))
}
func (c *Color) UnmarshalJSON(b []byte) error {
	_, err := fmt.Sscanf(string(b), "\"#%x\"", (*int)(c))
	return err
}

type Level int

func (l Level) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "L%d", int(l)), nil }
func (l *Level) UnmarshalText(b []byte) error {
	_, err := fmt.Sscanf(string(b), "L%d", (*int)(l))
	return err
}

type Shy struct{ n int }

func (s *Shy) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "[%d]", s.n), nil }
func (s *Shy) UnmarshalJSON(b []byte) error {
	_, err := fmt.Sscanf(string(b), "[%d]", &s.n)
	return err
}

type Base struct {
	ID   int `json:"id"`
	Made time.Time
}
type base2 struct{ Low int }
type Opt struct {
	Deep string `json:",omitempty"`
}
type Person struct {
	sync.Mutex
	Base
	base2
	*Opt
	Name    string          `json:"name"`
	Age     int             `json:"age,omitempty,string"`
	Fav     Color           `json:"fav,omitempty"`
	Lv      Level           `json:"lv,omitzero"`
	Shy     Shy             `json:"shy"`
	ShyP    *Shy            `json:"shyp,omitempty"`
	ByLevel map[Level]Color `json:"by,omitempty"`
	Extra   map[string]any  `json:"extra,omitempty"`
	Skip    Color           `json:"-"`
	hidden  Color
	Friends []Person `json:"friends,omitempty"`
	Boss    *Person  `json:"boss,omitempty"`
	Big     big.Int
	Raw     json.RawMessage
	Any     any
	Shape   Shape `json:",omitempty"`
	Grid    [2]Level
	Bytes   []byte
}
type Shape interface{ Area() float64 }
type Sq struct{ S float64 }

func (s Sq) Area() float64 { return s.S * s.S }

type Tree map[string]Tree
type Nest []Nest
type A struct {
	N int
	B *B `json:",omitempty"`
}
type B struct {
	M  Level
	As []A
	Up *A `json:",omitempty"`
}
type Pair[K comparable, V any] struct {
	Key K
	Val V
}
type Opaque struct{ Base }

func (o Opaque) String() string { return "opaque" }

func show(v any) {
	b, err := json.Marshal(v)
	fmt.Println(string(b), err)
}
func try[T any](text string) {
	var v T
	err := json.Unmarshal([]byte(text), &v)
	b, _ := json.Marshal(v)
	fmt.Println(string(b), err)
}

func main() {
	made := time.Date(2024, 2, 3, 4, 5, 6, 0, time.UTC)
	p := &Person{Name: "Ann <&>", Age: 3, Fav: 0xff00ff, Lv: 4, Shy: Shy{3}, ByLevel: map[Level]Color{2: 7, 1: 8},
		Extra: map[string]any{"c": Color(5), "l": []Level{1}, "p": &Sq{2}}, hidden: 3, Skip: 4,
		Any: []Color{1, 2}, Shape: Sq{3}, Bytes: []byte("hi"), Raw: json.RawMessage(`{"a": 1}`)}
	p.ID, p.Made, p.Low = 7, made, 9
	p.Big.SetString("123456789012345678901234567890", 10)
	p.Friends = []Person{{Name: "Bob", Lv: 1}}
	p.Boss = &Person{Name: "Cid", ShyP: &Shy{8}}
	p.Boss.Opt = &Opt{"deep"}
	b, err := json.MarshalIndent(p, "", " ")
	fmt.Println(string(b), err)
	var q Person
	q.Age = 77
	b, _ = json.Marshal(p)
	err = json.Unmarshal([]byte(strings.Replace(string(b), `"Shape"`, `"NoShape"`, 1)), &q)
	fmt.Println(err)
	b2, err := json.MarshalIndent(&q, "", " ")
	fmt.Println(strings.ReplaceAll(string(b2), "\n", ""), err)
	fmt.Println(q.Boss.Deep, q.Boss.Name, q.Friends[0].Lv, q.Low, q.ID, q.Made.Equal(made), q.ByLevel[1], q.Boss.ShyP.n, q.Big.String())
	show(Tree{"a": {"b": nil, "c": {}}})
	try[Tree](`{"a":{"b":null,"c":{"d":{}}}}`)
	try[Nest](`[[],[[],[[]]],null]`)
	try[A](`{"N":1,"B":{"M":"L4","As":[{"N":2},{"N":3,"B":{"As":null}}],"Up":{"N":9}}}`)
	try[B](`{"M":"L3","As":[{"B":{"Up":{"N":1,"B":{"M":"L8"}}}}]}`)
	try[*A](`null`)
	try[[]*A](`[null,{"N":4}]`)
	try[[3]Level](`["L1","L2"]`)
	try[map[Level][]Color](`{"L2":["#000001"],"L1":null}`)
	try[map[int]*Shy](`{"2":[5],"1":null}`)
	try[Pair[string, Level]](`{"Key":"k","Val":"L5"}`)
	try[Opaque](`{"id":5}`)
	try[Color](`"#0000ff"`)
	try[struct{ L Level }](`{"l":"L9"}`)
	show(Pair[Level, []Shy]{3, []Shy{{1}, {2}}})
	show(Pair[Level, Shy]{3, Shy{1}})
	show(&Pair[Level, Shy]{3, Shy{1}})
	show([]any{Color(1), Level(2), Sq{1}, &Sq{2}, nil, Opaque{}})
	show(map[Color]int{1: 2})
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	fmt.Println(e.Encode(Pair[string, Color]{"<b>", 3}), buf.String())
	fmt.Println(json.NewEncoder(os.Stdout).Encode(Pair[string, Color]{"<b>", 3}))
	d := json.NewDecoder(strings.NewReader(`{"Key":"a","Val":"L1"} {"Key":"b","Val":"L2"}`))
	for d.More() {
		var v Pair[string, Level]
		fmt.Println(d.Decode(&v), v.Key, int(v.Val))
	}
	var ute *json.UnmarshalTypeError
	err = json.Unmarshal([]byte(`{"name":5}`), &q)
	fmt.Println(err, errors.As(err, &ute), ute.Field)
	err = json.Unmarshal([]byte(`{"boss":{"friends":"x"}}`), &q)
	fmt.Println(errors.As(err, &ute), ute.Value)
	err = json.Unmarshal([]byte(`{"boss":`), &q)
	fmt.Println(err)
	var x any = &Pair[string, Level]{}
	fmt.Println(json.Unmarshal([]byte(`{"Val":"L6"}`), x), int(x.(*Pair[string, Level]).Val))
	c := 3
	fmt.Println(json.Unmarshal([]byte(`4`), &c), c)
	_, err = json.Marshal(Pair[string, Color]{"", -1})
	fmt.Println(strings.Contains(err.Error(), "json: error calling MarshalJSON for type main.Color: negative color"))
	for _, h := range []slog.Handler{slog.NewJSONHandler(os.Stdout, noTime), slog.NewTextHandler(os.Stdout, noTime)} {
		slog.New(h).Info("logged", "pair", Pair[string, Color]{"a", 1}, "error", fmt.Errorf("of %w", os.ErrExist), "sq", &Sq{1})
	}
}

var noTime = &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}}
