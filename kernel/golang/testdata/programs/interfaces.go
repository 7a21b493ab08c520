package main

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"container/list"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"text/tabwriter"
	"text/template"
)

type IntHeap []int

func (h IntHeap) Len() int           { return len(h) }
func (h IntHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h IntHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *IntHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *IntHeap) Pop() any {
	old := *h
	n := len(old)
	x := old[n-1]
	*h = old[:n-1]
	return x
}

type Item struct {
	name string
	prio int
	idx  int
}
type PQ []*Item

func (q PQ) Len() int           { return len(q) }
func (q PQ) Less(i, j int) bool { return q[i].prio > q[j].prio }
func (q PQ) Swap(i, j int)      { q[i], q[j] = q[j], q[i]; q[i].idx = i; q[j].idx = j }
func (q *PQ) Push(x any)        { it := x.(*Item); it.idx = len(*q); *q = append(*q, it) }
func (q *PQ) Pop() any          { o := *q; n := len(o); it := o[n-1]; *q = o[:n-1]; return it }

type rot13 struct{ r io.Reader }

func (r rot13) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	for i := range p[:n] {
		c := p[i]
		switch {
		case c >= 'a' && c <= 'z':
			p[i] = 'a' + (c-'a'+13)%26
		case c >= 'A' && c <= 'Z':
			p[i] = 'A' + (c-'A'+13)%26
		}
	}
	return n, err
}

type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) { c.n += len(p); return len(p), nil }

type Color int

func (c Color) MarshalJSON() ([]byte, error) { return json.Marshal(fmt.Sprintf("#%06x", int(c))) }
func (c *Color) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(s, "#"), 16, 64)
	*c = Color(n)
	return err
}

type Level int

func (l Level) MarshalText() ([]byte, error) { return []byte("L" + strconv.Itoa(int(l))), nil }
func (l *Level) UnmarshalText(b []byte) error {
	n, err := strconv.Atoi(string(b[1:]))
	*l = Level(n)
	return err
}

type Base struct {
	ID int `json:"id"`
}
type Person struct {
	Base
	Name    string           `json:"name" xml:"name,attr"`
	Age     int              `json:"age,omitempty"`
	Email   *string          `json:"email"`
	Fav     Color            `json:"fav"`
	Lv      Level            `json:"lv"`
	ByLevel map[Level]string `json:"byLevel,omitempty"`
	Extra   map[string]any   `json:"extra,omitempty"`
	Skip    string           `json:"-"`
	hidden  int
	Friends []Person `json:"friends,omitempty"`
}

func (p Person) Greet() string    { return "hi " + p.Name }
func (p Person) Add(a, b int) int { return a + b }

type byAge []Person

func (b byAge) Len() int           { return len(b) }
func (b byAge) Less(i, j int) bool { return b[i].Age < b[j].Age }
func (b byAge) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

type Scan struct{ a, b int }

func (s *Scan) Scan(st fmt.ScanState, verb rune) error {
	_, err := fmt.Fscanf(st, "%d-%d", &s.a, &s.b)
	return err
}

type fakeFile struct{ *strings.Reader }

func (fakeFile) Close() error { fmt.Println("closed"); return nil }

func main() {
	h := &IntHeap{5, 2, 8}
	heap.Init(h)
	heap.Push(h, 3)
	for h.Len() > 0 {
		fmt.Print(heap.Pop(h), " ")
	}
	fmt.Println()
	q := &PQ{}
	heap.Push(q, &Item{name: "a", prio: 2})
	heap.Push(q, &Item{name: "b", prio: 5})
	it := &Item{name: "c", prio: 1}
	heap.Push(q, it)
	it.prio = 9
	heap.Fix(q, it.idx)
	for q.Len() > 0 {
		fmt.Print(heap.Pop(q).(*Item).name, " ")
	}
	fmt.Println()
	io.Copy(os.Stdout, rot13{strings.NewReader("Uryyb, Jbeyq!\n")})
	c := &counter{}
	fmt.Fprintf(c, "hello %d", 5)
	fmt.Println(c.n)
	bw := bufio.NewWriter(io.MultiWriter(c, os.Stdout))
	bw.WriteString("buffered\n")
	bw.Flush()
	fmt.Println(c.n)
	sc := bufio.NewScanner(rot13{strings.NewReader("nop qrs\ntuv")})
	for sc.Scan() {
		fmt.Println(sc.Text())
	}
	em := "x@y"
	p := Person{Base: Base{7}, Name: "Ann", Age: 3, Email: &em, Fav: 0xff00ff, Lv: 4, ByLevel: map[Level]string{1: "one"}, Extra: map[string]any{"k": []int{1}}, Friends: []Person{{Name: "Bob"}}}
	b, err := json.MarshalIndent(p, "", " ")
	fmt.Println(string(b), err)
	var p2 Person
	err = json.Unmarshal(b, &p2)
	fmt.Println(err, p2.Name, p2.ID, p2.Fav == p.Fav, p2.Lv, *p2.Email, p2.ByLevel, p2.Extra, p2.Friends[0].Name)
	var ute *json.UnmarshalTypeError
	err = json.Unmarshal([]byte(`{"age":"x"}`), &p2)
	fmt.Println(err, errors.As(err, &ute))
	type xp struct {
		XMLName xml.Name `xml:"person"`
		Name    string   `xml:"name,attr"`
		Kids    []string `xml:"kids>kid"`
	}
	xb, err := xml.MarshalIndent(xp{Name: "Ann", Kids: []string{"a", "b"}}, "", " ")
	fmt.Println(string(xb), err)
	ps := []Person{{Name: "b", Age: 3}, {Name: "a", Age: 1}, {Name: "c", Age: 2}}
	sort.Sort(byAge(ps))
	fmt.Println(ps[0].Name, ps[1].Name, ps[2].Name)
	sort.Sort(sort.Reverse(byAge(ps)))
	fmt.Println(ps[0].Name)
	sort.Slice(ps, func(i, j int) bool { return ps[i].Name < ps[j].Name })
	fmt.Println(ps[0].Name)
	slices.SortFunc(ps, func(a, b Person) int { return cmp.Compare(b.Name, a.Name) })
	fmt.Println(ps[0].Name, slices.Sorted(maps.Keys(map[string]int{"z": 1, "y": 2})))
	t := template.Must(template.New("t").Parse("{{range .}}{{.Name}} is {{.Age}}{{if gt .Age 1}}!{{end}}\n{{end}}"))
	fmt.Println(t.Execute(os.Stdout, ps))
	t2 := template.Must(template.New("t").Funcs(template.FuncMap{"up": strings.ToUpper}).Parse("{{.Name | up}}\n"))
	fmt.Println(t2.Execute(os.Stdout, p))
	var sv Scan
	n, err := fmt.Sscan("3-4", &sv)
	fmt.Println(n, err, sv)
	tw := tabwriter.NewWriter(os.Stdout, 0, 8, 1, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "a\tb\tc\t")
	fmt.Fprintln(tw, "aaaa\tbbbb\tc\t")
	tw.Flush()
	l := list.New()
	l.PushBack(p.Name)
	l.PushFront(3)
	for e := l.Front(); e != nil; e = e.Next() {
		fmt.Println(e.Value)
	}
	var rc io.ReadCloser = fakeFile{strings.NewReader("data")}
	all, _ := io.ReadAll(rc)
	fmt.Println(string(all))
	rc.Close()
	if _, ok := rc.(io.Seeker); ok {
		fmt.Println("seeker")
	}
	rnd := rand.New(rand.NewSource(1))
	fmt.Println(rnd.Intn(100), rnd.Perm(5))
	var buf bytes.Buffer
	json.NewEncoder(&buf).Encode(map[string]any{"p": Color(255), "q": &p.Lv})
	fmt.Print(buf.String())
	dec := json.NewDecoder(strings.NewReader(`{"A":1}{"A":2}`))
	for {
		var v struct{ A int }
		if err := dec.Decode(&v); err == io.EOF {
			break
		}
		fmt.Println(v)
	}
}
