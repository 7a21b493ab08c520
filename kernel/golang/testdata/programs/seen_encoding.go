package main

// What the encodings see of a program's types.

import (
	"bytes"
	"encoding/ascii85"
	"encoding/asn1"
	"encoding/base64"
	"encoding/binary"
	"encoding/csv"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

type Level int

func (l Level) MarshalText() ([]byte, error) { return []byte("L" + strconv.Itoa(int(l))), nil }
func (l *Level) UnmarshalText(b []byte) error {
	if !bytes.HasPrefix(b, []byte("L")) {
		return fmt.Errorf("bad level %q", b)
	}
	n, err := strconv.Atoi(string(b[1:]))
	*l = Level(n)
	return err
}

type Temp float64

func (t Temp) MarshalJSON() ([]byte, error) { return []byte(fmt.Sprintf(`{"t":%v}`, float64(t))), nil }
func (t *Temp) UnmarshalJSON(b []byte) error {
	var v struct{ T float64 }
	err := json.Unmarshal(b, &v)
	*t = Temp(v.T)
	return err
}

type Base struct {
	ID   int `json:"id" xml:"id,attr"`
	Kind string
}
type Opt struct{ n int }

func (o Opt) IsZero() bool { return o.n == 0 }

type Node struct {
	XMLName xml.Name `json:"-"`
	Base
	Name   string           `json:"name" xml:"name"`
	Kids   []Node           `json:"kids,omitempty" xml:"kids>node"`
	Next   *Node            `json:"next" xml:"next"`
	M      map[string]*Node `json:"m,omitempty" xml:"-"`
	L      Level            `json:"l" xml:"l"`
	Ls     map[Level]Level  `json:"ls,omitempty" xml:"-"`
	T      Temp             `json:"t" xml:"-"`
	Any    any              `json:"any" xml:"-"`
	O      Opt              `json:"o,omitzero" xml:"-"`
	When   time.Time        `json:"when,omitzero" xml:"-"`
	Raw    json.RawMessage  `json:"raw,omitempty" xml:"-"`
	F      func(Node) Node  `json:"-" xml:"-"`
	C      chan Node        `json:"-" xml:"-"`
	Str    int              `json:",string" xml:"-"`
	B      []byte           `xml:"-"`
	hidden map[string][]Node
}
type Shape interface{ Area() float64 }
type Sq struct{ S float64 }

func (s Sq) Area() float64 { return s.S * s.S }

type Shapes struct{ List []Shape }
type Doc struct {
	XMLName xml.Name `xml:"doc"`
	Attr    Level    `xml:"a,attr"`
	Items   []Item   `xml:"item"`
	Text    string   `xml:",chardata"`
}
type Item struct {
	V    int    `xml:"v"`
	Item []Item `xml:"item"`
}

func (i Item) MarshalXMLAttr(name xml.Name) (xml.Attr, error) {
	return xml.Attr{Name: name, Value: "i"}, nil
}

type G struct {
	A    int
	S    Shape
	Kids []G
	M    map[string]Level
	P    *G
	own  int
}
type Bin struct {
	A uint16
	B [2]int8
	C struct{ X, Y float32 }
}
type Pt struct{ x, y int }

func (p Pt) MarshalBinary() ([]byte, error) { return []byte{byte(p.x), byte(p.y)}, nil }
func (p *Pt) UnmarshalBinary(b []byte) error {
	if len(b) != 2 {
		return errors.New("two bytes")
	}
	p.x, p.y = int(b[0]), int(b[1])
	return nil
}

type Strict struct {
	A int `json:"a"`
}
type Rec map[string]Rec
type List []List

func show(n int, b []byte, err error) { fmt.Println(n, string(b), err) }

func main() {
	n := Node{Base: Base{1, "k"}, Name: "a", Kids: []Node{{Name: "b", L: 3}}, Next: &Node{}, M: map[string]*Node{"x": nil},
		L: 2, Ls: map[Level]Level{1: 2}, T: 36.6, Any: Level(5), Str: 7, B: []byte("hi")}
	b, err := json.Marshal(n)
	show(1, b, err)
	var back Node
	fmt.Println(2, json.Unmarshal(b, &back), back.ID, back.Kids[0].Name, back.L, back.Ls, back.T, back.Any, back.Next.Name == "", back.Str, string(back.B), back.O)
	b, err = json.MarshalIndent(map[Level][]Temp{1: {2}}, "", " ")
	show(3, b, err)
	b, err = json.Marshal(struct {
		*Base
		Level
		x int
	}{&Base{ID: 4}, 6, 1})
	show(4, b, err)
	b, err = json.Marshal([]any{Level(1), Temp(2), Sq{3}, []Shape{Sq{4}}, &Sq{5}, nil, Rec{"a": {}}, List{{}, nil}})
	show(5, b, err)
	b, err = json.Marshal(n.F)
	show(6, b, err)
	b, err = json.Marshal(struct{ C chan Node }{})
	show(7, b, err)
	var s Shapes
	fmt.Println(8, json.Unmarshal([]byte(`{"List":[{"S":1}]}`), &s))
	s.List = []Shape{&Sq{}}
	fmt.Println(9, json.Unmarshal([]byte(`{"List":[{"S":1}]}`), &s), len(s.List))
	var l Level
	fmt.Println(10, json.Unmarshal([]byte(`"X1"`), &l), json.Unmarshal([]byte(`"L12"`), &l), l == 12)
	var st Strict
	d := json.NewDecoder(strings.NewReader(`{"a":1,"zz":2}`))
	d.DisallowUnknownFields()
	fmt.Println(11, d.Decode(&st), st)
	err = json.Unmarshal([]byte(`{"a":"x"}`), &st)
	var te *json.UnmarshalTypeError
	fmt.Println(12, err, errors.As(err, &te), te.Field, te.Type)
	var rec Rec
	fmt.Println(13, json.Unmarshal([]byte(`{"a":{"b":{}}}`), &rec), rec)
	var list List
	fmt.Println(14, json.Unmarshal([]byte(`[[],[[]]]`), &list), list)
	var into any = &Base{}
	fmt.Println(15, json.Unmarshal([]byte(`{"id":9}`), into), into.(*Base).ID)
	e := json.NewEncoder(os.Stdout)
	e.SetEscapeHTML(false)
	fmt.Println(16, e.Encode(map[string]Level{"<a>": 1}))
	var arr [2]Sq
	fmt.Println(17, json.Unmarshal([]byte(`[{"s":1},{"S":2},{"S":3}]`), &arr), arr)

	b, err = xml.MarshalIndent(n, "", " ")
	show(20, b, err)
	var xn Node
	fmt.Println(21, xml.Unmarshal(b, &xn), xn.ID, xn.Name, len(xn.Kids), xn.L, xn.XMLName.Local)
	b, err = xml.Marshal(Doc{Attr: 4, Items: []Item{{V: 1, Item: []Item{{V: 2}}}}, Text: "t"})
	show(22, b, err)
	var doc Doc
	fmt.Println(23, xml.Unmarshal(b, &doc), doc.Attr, doc.Items[0].Item[0].V, doc.Text)
	fmt.Println(24, xml.Unmarshal([]byte(`<doc a="Q"></doc>`), &doc))
	b, err = xml.Marshal([]Level{1, 2})
	show(25, b, err)
	b, err = xml.Marshal(struct {
		I Item `xml:"i,attr"`
	}{})
	show(26, b, err)
	b, err = xml.Marshal(map[string]int{})
	show(27, b, err)

	var buf bytes.Buffer
	gob.RegisterName(fmt.Sprintf("Sq %p", &buf), Sq{}) // once in a process
	g := G{A: 1, S: Sq{2}, Kids: []G{{A: 3, Kids: []G{{A: 4}}}}, M: map[string]Level{"a": 1}, P: &G{A: 5}}
	fmt.Println(30, gob.NewEncoder(&buf).Encode(g))
	var gb G
	fmt.Println(31, gob.NewDecoder(&buf).Decode(&gb), gb.S.Area(), gb.Kids[0].Kids[0].A, gb.M, gb.P.A)
	fmt.Println(32, gob.NewEncoder(&buf).Encode(Pt{1, 2}))
	var pt Pt
	fmt.Println(33, gob.NewDecoder(&buf).Decode(&pt), pt)
	fmt.Println(34, gob.NewEncoder(&buf).Encode(struct{ a int }{}))
	var wrong struct{ A string }
	buf.Reset()
	gob.NewEncoder(&buf).Encode(G{A: 1})
	fmt.Println(35, gob.NewDecoder(&buf).Decode(&wrong) != nil)
	type other struct {
		A  int
		Zz string
	}
	var o other
	buf.Reset()
	gob.NewEncoder(&buf).Encode(G{A: 8})
	fmt.Println(36, gob.NewDecoder(&buf).Decode(&o), o)
	buf.Reset()
	var shape Shape = Sq{7}
	fmt.Println(37, gob.NewEncoder(&buf).Encode(&shape))
	var shape2 Shape
	fmt.Println(38, gob.NewDecoder(&buf).Decode(&shape2), shape2)

	bin := Bin{A: 258, B: [2]int8{-1, 2}}
	bin.C.X = 1
	buf.Reset()
	fmt.Println(40, binary.Write(&buf, binary.BigEndian, bin), buf.Bytes(), binary.Size(bin))
	var bb Bin
	fmt.Println(41, binary.Read(&buf, binary.BigEndian, &bb), bb == bin)
	fmt.Println(42, binary.Write(io.Discard, binary.LittleEndian, G{}))
	out, err := binary.Append(nil, binary.LittleEndian, []Bin{bin})
	fmt.Println(43, len(out), err)
	order := binary.LittleEndian
	fmt.Println(44, order.Uint16([]byte{1, 2}), order, order.AppendUint16(nil, 3))
	type Cert struct {
		A int
		S string `asn1:"utf8"`
		L []int
	}
	der, err := asn1.Marshal(Cert{5, "x", []int{1}})
	fmt.Println(45, hex.EncodeToString(der), err)
	var cert Cert
	rest, err := asn1.Unmarshal(der, &cert)
	fmt.Println(46, rest, err, cert)
	type Key string
	fmt.Println(47, base64.StdEncoding.EncodeToString([]byte(Key("abc"))), hex.EncodeToString([]byte(Key("a"))))
	cw := csv.NewWriter(os.Stdout)
	fmt.Println(48, cw.Write([]string{string(Key("q")), fmt.Sprint(Level(2))}))
	cw.Flush()
	w := ascii85.NewEncoder(wr{})
	w.Write([]byte("abcd"))
	fmt.Println(49, w.Close())
	b, err = json.Marshal(wr{})
	show(50, b, err)
}

type wr struct{}

func (wr) Write(b []byte) (int, error) { fmt.Printf("wr %q\n", b); return len(b), nil }
