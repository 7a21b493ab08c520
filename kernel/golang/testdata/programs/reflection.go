package main

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/gob"
	"encoding/xml"
	"flag"
	"fmt"
	"html/template"
	"log"
	"os"
	"reflect"
)

type Kind int

func (k Kind) String() string { return "K" + fmt.Sprint(int(k)) }

type User struct {
	Name  string `json:"name" db:"n"`
	Age   int
	email string
	K     Kind
	Addr
}
type Addr struct{ Street string }

func (u User) Hello() string     { return "hello " + u.Name }
func (u *User) SetName(n string) { u.Name = n }
func (u User) Plus(n int) int    { return u.Age + n }

type Set map[string]bool

func (s *Set) Set(v string) error {
	if *s == nil {
		*s = Set{}
	}
	(*s)[v] = true
	return nil
}
func (s *Set) String() string { return fmt.Sprint(len(*s)) }

func main() {
	u := User{"Al", 3, "e", 2, Addr{"S"}}
	t := reflect.TypeOf(u)
	fmt.Println(t, t.Name(), t.Kind(), t.NumField(), t.NumMethod())
	v := reflect.ValueOf(u)
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		fmt.Println(f.Name, f.Type, f.Tag.Get("json"), f.Anonymous, f.IsExported())
		if f.IsExported() {
			fmt.Println(v.Field(i).Interface())
		}
	}
	for i := 0; i < t.NumMethod(); i++ {
		fmt.Println(t.Method(i).Name, t.Method(i).Type)
	}
	fmt.Println(v.MethodByName("Hello").Call(nil)[0])
	fmt.Println(v.MethodByName("Plus").Call([]reflect.Value{reflect.ValueOf(4)})[0].Int())
	pv := reflect.ValueOf(&u)
	pv.MethodByName("SetName").Call([]reflect.Value{reflect.ValueOf("Bo")})
	pv.Elem().FieldByName("Age").SetInt(77)
	fmt.Println(u.Name, u.Age)
	fmt.Println(reflect.DeepEqual(u, User{"Bo", 77, "e", 2, Addr{"S"}}), reflect.DeepEqual([]Kind{1}, []Kind{1}), reflect.DeepEqual(Kind(1), 1))
	fmt.Println(reflect.TypeOf(Kind(1)), reflect.TypeOf([]User{}), reflect.TypeOf(map[Kind]*User{}), reflect.TypeOf(&u).Elem() == t)
	fmt.Println(reflect.TypeOf(Kind(1)).PkgPath(), reflect.ValueOf(Kind(3)).Kind(), reflect.ValueOf(Kind(3)))
	n := reflect.New(t).Elem()
	n.Field(0).SetString("new")
	fmt.Println(n.Interface().(User).Name)
	x, err := xml.Marshal(u)
	fmt.Println(string(x), err)
	var back User
	fmt.Println(xml.Unmarshal(x, &back), back.Name, back.Street)
	var b bytes.Buffer
	fmt.Println(gob.NewEncoder(&b).Encode(u))
	var g User
	fmt.Println(gob.NewDecoder(&b).Decode(&g), g.Name, g.K)
	tm := template.Must(template.New("x").Parse("{{.Hello}} {{.K}} {{.Plus 2}} {{.Addr.Street}} {{.Street}} {{if eq .Age 77}}yes{{end}}\n"))
	fmt.Println(tm.Execute(os.Stdout, u))
	log.SetFlags(0)
	log.SetOutput(os.Stdout)
	log.Printf("%v %+v", u, u)
	log.Println(u.K)
	var s Set
	fs := flag.NewFlagSet("f", flag.ContinueOnError)
	fs.Var(&s, "s", "usage")
	fmt.Println(fs.Parse([]string{"-s", "a", "-s=b"}), s)
	w := csv.NewWriter(os.Stdout)
	w.Write([]string{"a", u.Name})
	w.Flush()
	var hdr struct {
		A uint16
		B uint32
	}
	hdr.A = 7
	var bb bytes.Buffer
	fmt.Println(binary.Write(&bb, binary.BigEndian, hdr), bb.Bytes())
	fmt.Println(binary.Read(&bb, binary.BigEndian, &hdr), hdr)
	fmt.Printf("%v %+v %#v %T\n", u, u, u, u)
	fmt.Printf("%#v %#v %#v\n", &u, []Kind{1}, map[string]Addr{"a": {"q"}})
	fmt.Printf("%#v\n", struct {
		U any
		K *Kind
		E error
	}{U: u})
	switch any(u).(type) {
	case interface{ Hello() string }:
		fmt.Println("has Hello")
	}
	f := reflect.ValueOf(func(u User, n int) string { return u.Name + fmt.Sprint(n) })
	fmt.Println(f.Call([]reflect.Value{reflect.ValueOf(u), reflect.ValueOf(5)})[0], f.Type())
	fmt.Println(reflect.TypeFor[User](), reflect.TypeFor[fmt.Stringer](), reflect.TypeOf(Kind(0)).Implements(reflect.TypeFor[fmt.Stringer]()))
	fmt.Println(reflect.Zero(t).Interface() == any(User{}), reflect.ValueOf(&u).Elem().Type().Name())
	var e any = &u
	fmt.Println(reflect.TypeOf(e).Elem().Name(), reflect.Indirect(reflect.ValueOf(e)).Field(0))
}
