package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"sync"
	"time"
)

type Animal interface {
	Sound() string
	Name() string
}
type Base struct{ name string }

func (b Base) Name() string     { return b.name }
func (b *Base) Rename(n string) { b.name = n }
func (b Base) Describe() string { return "I am " + b.Name() }

type Dog struct {
	Base
	Age int
}

func (d Dog) Sound() string { return "Woof" }

type Puppy struct {
	*Dog
	Toys []string
}

func (p Puppy) Sound() string { return "Yip " + p.Dog.Sound() }

type Logger struct {
	io.Writer
	prefix string
}

func (l Logger) Logf(f string, a ...any) { fmt.Fprintf(l, l.prefix+f+"\n", a...) }

type Counter struct {
	sync.Mutex
	m map[string]int
}

func (c *Counter) Inc(k string) int {
	c.Lock()
	defer c.Unlock()
	c.m[k]++
	return c.m[k]
}

type RW struct {
	sync.RWMutex
	time.Time
	n int
}

type ByAge []Dog

func (b ByAge) Len() int           { return len(b) }
func (b ByAge) Less(i, j int) bool { return b[i].Age < b[j].Age }
func (b ByAge) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

type upper struct{ r io.Reader }

func (u upper) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	copy(p, strings.ToUpper(string(p[:n])))
	return n, err
}

type ReadWriter interface {
	io.Reader
	io.Writer
	fmt.Stringer
}
type buf struct{ strings.Builder }

func (b *buf) Read(p []byte) (int, error) { return copy(p, b.String()), io.EOF }

type NotFound struct{ Key string }

func (e *NotFound) Error() string        { return "not found: " + e.Key }
func (e *NotFound) Is(target error) bool { return target == os.ErrNotExist }

type Code int

func (c Code) Error() string { return fmt.Sprintf("code %d", int(c)) }

type Wrapped struct {
	Op  string
	Err error
}

func (w Wrapped) Error() string { return w.Op + ": " + w.Err.Error() }
func (w Wrapped) Unwrap() error { return w.Err }

func fail(n int) error {
	switch n {
	case 1:
		return &NotFound{"k"}
	case 2:
		return fmt.Errorf("wrap: %w", &NotFound{"w"})
	case 3:
		return Wrapped{"open", Code(3)}
	case 4:
		return errors.Join(Code(1), Wrapped{"x", &NotFound{"j"}})
	case 5:
		return fmt.Errorf("two: %w and %w", Code(5), io.EOF)
	}
	return nil
}

type Weekday int

const (
	Sunday Weekday = iota
	Monday
	Tuesday
)

func (d Weekday) String() string { return [...]string{"Sun", "Mon", "Tue"}[d] }

type Point struct{ X, Y int }

func (p Point) String() string    { return fmt.Sprintf("(%d,%d)", p.X, p.Y) }
func (p *Point) Move(dx, dy int)  { p.X += dx; p.Y += dy }
func (p Point) Add(q Point) Point { return Point{p.X + q.X, p.Y + q.Y} }

type Temp float64

func (t Temp) Format(s fmt.State, verb rune) { fmt.Fprintf(s, "T[%c %.1f]", verb, float64(t)) }

type GoS struct{ a int }

func (g GoS) GoString() string { return "GoS!" }

type Inner struct {
	Day  Weekday
	P    *Point
	M    map[string]Point
	priv []Weekday
	E    error
	F    func()
	C    chan int
	A    any
}

type Person struct {
	Name    string         `json:"name"`
	Age     int            `json:"age,omitempty"`
	Email   *string        `json:"email"`
	Tags    []string       `json:"tags"`
	Meta    map[string]any `json:"meta,omitempty"`
	Day     Weekday        `json:"day"`
	secret  int
	Skip    int `json:"-"`
	Address `json:"address"`
	Extra
}
type Address struct{ Street, City string }
type Extra struct{ Zip string }

func (w Weekday) MarshalText() ([]byte, error) { return []byte(w.String()), nil }
func (w *Weekday) UnmarshalText(b []byte) error {
	for i, n := range []string{"Sun", "Mon", "Tue"} {
		if n == string(b) {
			*w = Weekday(i)
			return nil
		}
	}
	return fmt.Errorf("bad day %q", b)
}

func main() {
	d := Dog{Base{"Rex"}, 3}
	var a Animal = d
	fmt.Println(a.Sound(), a.Name(), d.Describe())
	d.Rename("Max")
	fmt.Println(d.Name(), a.Name(), d.name, d.Base.name)
	p := Puppy{&d, nil}
	a = p
	fmt.Println(a.Sound(), p.Age, p.Name())
	p.Rename("Tim")
	fmt.Println(d.Name())
	fmt.Printf("%v %+v %T\n", d, d, d)
	fmt.Printf("%#v\n", Base{"q"})
	l := Logger{os.Stdout, "log: "}
	l.Logf("%d items", 3)
	fmt.Fprintln(l, "direct")
	c := Counter{m: map[string]int{}}
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Add(1)
		go func() { defer wg.Done(); c.Inc(fmt.Sprint("k", i%2)) }()
	}
	wg.Wait()
	fmt.Println(c.m)
	var rw RW
	rw.Lock()
	rw.n++
	rw.Unlock()
	rw.RLock()
	fmt.Println(rw.n, rw.IsZero(), rw.Year())
	rw.RUnlock()
	dogs := ByAge{{Base{"a"}, 5}, {Base{"b"}, 2}, {Base{"c"}, 9}}
	sort.Sort(dogs)
	fmt.Println(dogs)
	sort.Sort(sort.Reverse(dogs))
	fmt.Println(dogs)
	b, err := io.ReadAll(upper{strings.NewReader("hello")})
	fmt.Println(string(b), err)
	var x ReadWriter = &buf{}
	fmt.Fprintf(x, "written %d", 5)
	fmt.Println(x.String())
	var nf *NotFound
	var code Code
	var w Wrapped
	for i := range 6 {
		e := fail(i)
		fmt.Println(i, e, errors.As(e, &nf), errors.As(e, &code), errors.As(e, &w), errors.Is(e, os.ErrNotExist), errors.Is(e, Code(3)), errors.Is(e, io.EOF), errors.Unwrap(e))
		fmt.Printf("%T %v %q\n", e, e, e)
	}
	fmt.Println(nf.Key, code, w.Op)
	fmt.Println(Monday, []Weekday{0, 1}, map[Weekday]int{Tuesday: 2}, struct{ D Weekday }{1})
	fmt.Printf("%v %d %s %+v %#v %T %x %q|%5s|%-5s|%5d\n", Monday, Monday, Monday, Monday, Monday, Monday, Monday, Monday, Monday, Monday, Monday)
	pt := Point{1, 2}
	move := pt.Move
	move(1, 1)
	add := Point.Add
	fmt.Println(pt, add(pt, Point{1, 1}), &pt, []Point{pt}, []*Point{}, map[string]Point{"a": pt})
	(*Point).Move(&pt, 5, 5)
	fmt.Printf("%v %+v %s %d %T %T\n", pt, pt, pt, pt, pt, &pt)
	fmt.Printf("%v %s %.3f\n", Temp(36.6), Temp(1), []Temp{2})
	fmt.Printf("%v %#v %#v\n", GoS{1}, GoS{1}, []GoS{{1}})
	in := Inner{Day: Monday, M: map[string]Point{"o": {}}, priv: []Weekday{1}, E: Code(2), A: Tuesday}
	fmt.Printf("%v\n%+v\n", in, in)
	in.P = nil
	fmt.Println(in.M["o"])
	per := Person{Name: "Al", Day: Monday, Address: Address{"S", "C"}, Extra: Extra{"Z"}, Meta: map[string]any{"k": Tuesday, "p": Point{1, 2}}}
	js, err := json.Marshal(per)
	fmt.Println(string(js), err)
	js, err = json.MarshalIndent([]any{per.Address, pt, Monday, map[Weekday]int{Monday: 1}, nil, 1.5}, "", "  ")
	fmt.Println(string(js), err)
	var back Person
	err = json.Unmarshal([]byte(`{"name":"B","age":7,"email":"x@y","tags":["a","b"],"day":"Tue","address":{"Street":"Q"},"Zip":"9","meta":{"a":[1,"b",null]}}`), &back)
	fmt.Println(back.Name, back.Age, *back.Email, back.Tags, back.Day, back.Street, back.Zip, back.Meta, err)
	err = json.Unmarshal([]byte(`{"day":"Xyz"}`), &back)
	fmt.Println(err)
	err = json.Unmarshal([]byte(`{"age":"x"}`), &back)
	fmt.Println(err)
	var te *json.UnmarshalTypeError
	fmt.Println(errors.As(err, &te))
	dec := json.NewDecoder(strings.NewReader(`{"X":1,"Y":2} {"X":3,"Q":2}`))
	for {
		var q Point
		if err := dec.Decode(&q); err == io.EOF {
			break
		} else if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(q)
	}
	sort.SliceStable(dogs, func(i, j int) bool { return dogs[i].Name() < dogs[j].Name() })
	fmt.Println(dogs[0].Name())
	var e error = (*NotFound)(nil)
	fmt.Println(e == nil, e != nil)
	var an Animal
	_, ok := an.(Dog)
	fmt.Println(ok, an == nil)
	an = d
	if dd, ok := an.(Dog); ok {
		dd.Age = 100
		fmt.Println(dd.Age, d.Age)
	}
	if _, ok := an.(fmt.Stringer); !ok {
		fmt.Println("no stringer")
	}
	fmt.Println(an == Animal(d), any(pt) == any(Point{7, 8}))
	mp := map[Point]string{{1, 2}: "a"}
	mp[Point{3, 4}] = "b"
	fmt.Println(mp[Point{1, 2}], len(mp), mp)
	ma := map[any]int{Point{1, 2}: 1, "s": 2, 3: 3, Monday: 4}
	fmt.Println(ma[Point{1, 2}], ma[Monday], ma[1], ma[3])
	anon := []struct {
		Name string
		N    int
	}{{"a", 1}, {"b", 2}}
	for _, t := range anon {
		fmt.Print(t.Name, t.N, " ")
	}
	fmt.Printf("%v %+v %T\n", anon, anon, anon)
}
