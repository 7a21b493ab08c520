package main

import (
	"bufio"
	"bytes"
	"container/heap"
	"container/list"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"log/slog"
	"maps"
	"math/big"
	"math/bits"
	"math/cmplx"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode"
)

type Item struct {
	value    string
	priority int
	index    int
}
type PQ []*Item

func (pq PQ) Len() int           { return len(pq) }
func (pq PQ) Less(i, j int) bool { return pq[i].priority > pq[j].priority }
func (pq PQ) Swap(i, j int)      { pq[i], pq[j] = pq[j], pq[i]; pq[i].index = i; pq[j].index = j }
func (pq *PQ) Push(x any)        { it := x.(*Item); it.index = len(*pq); *pq = append(*pq, it) }
func (pq *PQ) Pop() any {
	old := *pq
	n := len(old)
	it := old[n-1]
	old[n-1] = nil
	*pq = old[:n-1]
	return it
}

type IntHeap []int

func (h IntHeap) Len() int           { return len(h) }
func (h IntHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h IntHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *IntHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *IntHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

type server struct {
	mu   sync.RWMutex
	hits map[string]int
	mux  *http.ServeMux
}

func newServer() *server {
	s := &server{hits: map[string]int{}, mux: http.NewServeMux()}
	s.mux.HandleFunc("GET /hello/{name}", s.hello)
	s.mux.Handle("/static/", logging(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Error(w, "nope", http.StatusTeapot) })))
	return s
}
func (s *server) hello(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.hits[r.PathValue("name")]++
	s.mu.Unlock()
	fmt.Fprintf(w, "hello %s %s", r.PathValue("name"), r.URL.Query().Get("q"))
}
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }
func logging(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Log", r.Method)
		h.ServeHTTP(w, r)
	})
}

type rot13 struct{ r io.Reader }

func (r rot13) Read(p []byte) (n int, err error) {
	n, err = r.r.Read(p)
	for i, b := range p[:n] {
		switch {
		case b >= 'a' && b <= 'z':
			p[i] = 'a' + (b-'a'+13)%26
		case b >= 'A' && b <= 'Z':
			p[i] = 'A' + (b-'A'+13)%26
		}
	}
	return
}

type countWriter struct {
	io.Writer
	n int
}

func (c *countWriter) Write(p []byte) (int, error) { c.n += len(p); return c.Writer.Write(p) }

type Level int

func (l Level) LogValue() slog.Value { return slog.StringValue(fmt.Sprint("level-", int(l))) }

type Celsius float64
type Temp interface{ ~float64 }
type ErrNeg float64

func (e ErrNeg) Error() string { return fmt.Sprintf("cannot Sqrt negative number: %v", float64(e)) }
func Sqrt(x float64) (float64, error) {
	if x < 0 {
		return 0, ErrNeg(x)
	}
	z := 1.0
	for range 10 {
		z -= (z*z - x) / (2 * z)
	}
	return z, nil
}

type visitor func(depth int, name string) visitor

type Matrix [][]float64

func NewMatrix(r, c int) Matrix {
	m := make(Matrix, r)
	for i := range m {
		m[i] = make([]float64, c)
	}
	return m
}
func (m Matrix) T() Matrix {
	t := NewMatrix(len(m[0]), len(m))
	for i, row := range m {
		for j, v := range row {
			t[j][i] = v
		}
	}
	return t
}

type Stage func(<-chan int) <-chan int

func pipeline(src <-chan int, stages ...Stage) <-chan int {
	for _, s := range stages {
		src = s(src)
	}
	return src
}
func mapper(f func(int) int) Stage {
	return func(in <-chan int) <-chan int {
		out := make(chan int)
		go func() {
			defer close(out)
			for v := range in {
				out <- f(v)
			}
		}()
		return out
	}
}

type EventBus struct {
	mu   sync.Mutex
	subs map[string][]func(any)
}

func (b *EventBus) On(e string, f func(any)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.subs == nil {
		b.subs = make(map[string][]func(any))
	}
	b.subs[e] = append(b.subs[e], f)
}
func (b *EventBus) Emit(e string, v any) int {
	b.mu.Lock()
	fs := slices.Clone(b.subs[e])
	b.mu.Unlock()
	for _, f := range fs {
		f(v)
	}
	return len(fs)
}

type Bits uint8

const (
	F0 Bits = 1 << iota
	F1
	F2
)

func (b *Bits) Set(f Bits)     { *b |= f }
func (b *Bits) Clear(f Bits)   { *b &^= f }
func (b Bits) Has(f Bits) bool { return b&f != 0 }

func main() {
	pq := PQ{}
	for i, w := range strings.Fields("b:2 a:5 c:1") {
		v, _, _ := strings.Cut(w, ":")
		heap.Push(&pq, &Item{value: v, priority: int(w[len(w)-1]-'0') + i*0})
	}
	pq[len(pq)-1].priority = 9
	heap.Fix(&pq, len(pq)-1)
	for pq.Len() > 0 {
		it := heap.Pop(&pq).(*Item)
		fmt.Print(it.value, it.priority, " ")
	}
	fmt.Println()
	h := &IntHeap{5, 2, 8}
	heap.Init(h)
	heap.Push(h, 3)
	fmt.Println((*h)[0], heap.Pop(h), heap.Pop(h), h)
	l := list.New()
	l.PushBack(Celsius(1))
	l.PushFront("x")
	for e := l.Front(); e != nil; e = e.Next() {
		fmt.Printf("%v %T;", e.Value, e.Value)
	}
	fmt.Println()
	fmt.Println(hex.EncodeToString(sha256.New().Sum(nil))[:8], base64.StdEncoding.EncodeToString([]byte("hi there")))
	buf := new(bytes.Buffer)
	binary.Write(buf, binary.LittleEndian, []uint16{1, 2})
	fmt.Println(buf.Bytes(), binary.BigEndian.Uint32([]byte{1, 2, 3, 4}))
	r := csv.NewReader(strings.NewReader("a,b\n1,\"x,y\"\n"))
	recs, err := r.ReadAll()
	fmt.Println(recs, len(recs), err)
	f := fnv.New32a()
	f.Write([]byte("abc"))
	fmt.Println(f.Sum32(), bits.OnesCount(255), bits.Reverse8(1), cmplx.Abs(3+4i))
	fac := big.NewInt(1)
	for i := int64(1); i <= 25; i++ {
		fac.Mul(fac, big.NewInt(i))
	}
	fmt.Println(fac, new(big.Rat).SetFrac64(3, 6))
	srv := httptest.NewServer(newServer())
	resp, err := http.Get(srv.URL + "/hello/bob?q=" + url.QueryEscape("a b"))
	if err != nil {
		fmt.Println(err)
	} else {
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		fmt.Println(resp.StatusCode, string(b))
	}
	resp, _ = http.Get(srv.URL + "/static/x")
	fmt.Println(resp.Status, resp.Header.Get("X-Log"))
	srv.Close()
	rec := httptest.NewRecorder()
	newServer().ServeHTTP(rec, httptest.NewRequest("GET", "/hello/al", nil))
	fmt.Println(rec.Code, rec.Body)
	io.Copy(os.Stdout, rot13{strings.NewReader("Uryyb!\n")})
	cw := &countWriter{Writer: io.Discard}
	fmt.Fprintf(cw, "%05d", 42)
	w := bufio.NewWriter(cw)
	w.WriteString("abc")
	w.Flush()
	fmt.Println(cw.n)
	lg := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(g []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	lg.Info("msg", "l", Level(3), "err", ErrNeg(-1), slog.Group("g", "a", 1))
	lg2 := log.New(os.Stdout, "[p] ", log.Lmsgprefix)
	lg2.Println("x", Celsius(2))
	fmt.Println(Sqrt(2))
	fmt.Println(Sqrt(-2))
	dir, _ := os.MkdirTemp("", "t")
	defer os.RemoveAll(dir)
	p := filepath.Join(dir, "a.txt")
	fmt.Println(os.WriteFile(p, []byte("l1\nl2\n"), 0o644))
	fl, _ := os.Open(p)
	for sc := bufio.NewScanner(fl); sc.Scan(); {
		fmt.Print(sc.Text(), ";")
	}
	fl.Close()
	_, err = os.Open(filepath.Join(dir, "none"))
	var pe *os.PathError
	fmt.Println(errors.As(err, &pe), errors.Is(err, os.ErrNotExist), pe.Op)
	re := regexp.MustCompile(`(\w+)@(\w+)\.com`)
	fmt.Println(re.FindAllStringSubmatch("a@b.com c@d.com", -1), re.ReplaceAllStringFunc("a@b.com", strings.ToUpper), re.ReplaceAllString("x@y.com", "$2:$1"))
	var depth []string
	var v visitor
	v = func(d int, n string) visitor { depth = append(depth, fmt.Sprint(d, n)); return v }
	v(0, "a")(1, "b")(2, "c")
	fmt.Println(depth)
	m := Matrix{{1, 2, 3}, {4, 5, 6}}
	fmt.Println(m.T(), len(m.T()))
	src := make(chan int)
	go func() {
		for i := range 4 {
			src <- i
		}
		close(src)
	}()
	for x := range pipeline(src, mapper(func(i int) int { return i * i }), mapper(func(i int) int { return -i })) {
		fmt.Print(x, " ")
	}
	fmt.Println()
	var bus EventBus
	var got []string
	bus.On("e", func(v any) { got = append(got, fmt.Sprintf("%v", v)) })
	bus.On("e", func(v any) {
		if c, ok := v.(Celsius); ok {
			got = append(got, fmt.Sprint("C", float64(c)))
		}
	})
	fmt.Println(bus.Emit("e", Celsius(3)), bus.Emit("none", 1), got)
	var b Bits
	b.Set(F0 | F2)
	b.Clear(F0)
	fmt.Printf("%03b %v %v\n", b, b.Has(F2), b.Has(F1))
	words := map[string]int{}
	for _, w := range strings.FieldsFunc("The cat, the dog. THE end", func(r rune) bool { return !unicode.IsLetter(r) }) {
		words[strings.ToLower(w)]++
	}
	type kv struct {
		k string
		v int
	}
	var kvs []kv
	for k, v := range words {
		kvs = append(kvs, kv{k, v})
	}
	sort.Slice(kvs, func(i, j int) bool { return kvs[i].v > kvs[j].v || kvs[i].v == kvs[j].v && kvs[i].k < kvs[j].k })
	fmt.Println(kvs)
	inv := map[int][]string{}
	for k, v := range words {
		inv[v] = append(inv[v], k)
	}
	for _, k := range slices.Sorted(maps.Keys(inv)) {
		slices.Sort(inv[k])
		fmt.Print(k, inv[k])
	}
	fmt.Println()
	var ops atomic.Uint64
	var wg sync.WaitGroup
	res := make([]int, 10)
	for i := range res {
		wg.Go(func() { res[i] = i * i; ops.Add(1) })
	}
	wg.Wait()
	fmt.Println(res, ops.Load())
	br := testing.AllocsPerRun(1, func() {})
	fmt.Println(br >= 0, runtime.GOOS != "")
	d, _ := time.ParseDuration("1h15m30s")
	fmt.Println(d.Minutes(), d.Round(time.Hour), d.Truncate(time.Minute))
	tm, err := time.Parse("2006-01-02 15:04", "2023-10-05 14:30")
	fmt.Println(tm.Unix(), tm.YearDay(), err, tm.Add(48*time.Hour).Format("Mon Jan 2"), tm.Before(tm.Add(1)))
	u, _ := url.Parse("https://u:p@h.com:8080/a/b?x=1&y=2#f")
	fmt.Println(u.Host, u.Port(), u.Path, u.Query()["x"], u.Fragment, u.User.Username())
	rep := strings.NewReplacer("<", "&lt;", ">", "&gt;")
	fmt.Println(rep.Replace("<b>"), strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return -1
		}
		return unicode.ToUpper(r)
	}, "aBcD"), strings.EqualFold("Go", "GO"), strings.Title("hello world"))
	a := [3][2]int{{1, 2}, {3, 4}, {5, 6}}
	for _, row := range a {
		row[0] = 100
	}
	for i := range a {
		a[i][1] *= 2
	}
	c := a
	c[0] = [2]int{9, 9}
	fmt.Println(a, c, a == c, len(a), cap(a[0][:1]))
	s := []int{1, 2, 3, 4, 5}
	s2 := s[1:3]
	s2 = append(s2, 99)
	fmt.Println(s, s2, cap(s2), slices.Insert(s[:2:2], 1, 7), slices.Delete(slices.Clone(s), 0, 2), slices.Index(s, 99))
	copy(s[2:], s)
	fmt.Println(s, slices.Max(s), slices.Contains(s, 5), slices.Compact([]int{1, 1, 2}) == nil)
}
