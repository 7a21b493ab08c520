package main

// The interfaces that errors, io, os, fs, sort, the containers, context, flag, sql,
// slog, http, rand, rpc and others ask a program's types for.

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"container/heap"
	"container/list"
	"container/ring"
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"expvar"
	"flag"
	"fmt"
	"hash"
	"image"
	"image/color"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"math/rand"
	randv2 "math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/rpc"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing/fstest"
	"testing/iotest"
	"time"
)

type E struct{ code int }

func (e *E) Error() string        { return fmt.Sprint("E", e.code) }
func (e *E) Timeout() bool        { return e.code == 1 }
func (e *E) Temporary() bool      { return e.code == 2 }
func (e *E) Is(target error) bool { return e.code == 3 && target == fs.ErrExist }
func (e *E) As(target any) bool {
	if s, ok := target.(*Str); ok {
		*s = "as"
		return true
	}
	return false
}

type Str string

func (s Str) Error() string { return string(s) }

type Many []error

func (m Many) Error() string   { return fmt.Sprint(len(m), " errors") }
func (m Many) Unwrap() []error { return m }

type Wrap struct{ err error }

func (w Wrap) Error() string { return "wrap " + w.err.Error() }
func (w Wrap) Unwrap() error { return w.err }

type coder interface {
	error
	Timeout() bool
}

type R struct{ s string }

func (r *R) Read(p []byte) (int, error) {
	if r.s == "" {
		return 0, io.EOF
	}
	n := copy(p, r.s)
	r.s = r.s[n:]
	return n, nil
}

type RW struct{ R }

func (r *RW) WriteTo(w io.Writer) (int64, error) {
	fmt.Print("[WriteTo]")
	n, err := io.WriteString(w, r.s)
	return int64(n), err
}

type W struct{ b strings.Builder }

func (w *W) Write(p []byte) (int, error) { return w.b.Write(p) }

type WF struct{ W }

func (w *WF) ReadFrom(r io.Reader) (int64, error) {
	fmt.Print("[ReadFrom]")
	return io.Copy(&w.b, r)
}

type WS struct{ W }

func (w *WS) WriteString(s string) (int, error) {
	fmt.Print("[WriteString]")
	return w.b.WriteString(s)
}

type C struct{ n *int }

func (c C) Close() error { *c.n++; return nil }

type FS struct{ fstest.MapFS }

func (f FS) ReadFile(name string) ([]byte, error) { return []byte("own " + name), nil }
func (f FS) Stat(name string) (fs.FileInfo, error) {
	return nil, &fs.PathError{Op: "own", Path: name, Err: fs.ErrNotExist}
}
func (f FS) Glob(pattern string) ([]string, error)      { return []string{"glob " + pattern}, nil }
func (f FS) ReadDir(name string) ([]fs.DirEntry, error) { return nil, errors.New("own dir") }

type By []string

func (b By) Len() int           { return len(b) }
func (b By) Less(i, j int) bool { return len(b[i]) < len(b[j]) }
func (b By) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

type PQ struct{ By }

func (p *PQ) Push(x any) { p.By = append(p.By, x.(string)) }
func (p *PQ) Pop() any {
	x := p.By[len(p.By)-1]
	p.By = p.By[:len(p.By)-1]
	return x
}

type key struct{ name string }
type Val struct{ a, b int }

type Flag []string

func (f *Flag) String() string     { return strings.Join(*f, "+") }
func (f *Flag) Set(s string) error { *f = append(*f, s); return nil }

type BoolFlag bool

func (b *BoolFlag) String() string     { return fmt.Sprint(bool(*b)) }
func (b *BoolFlag) Set(s string) error { *b = s == "true"; return nil }
func (b *BoolFlag) IsBoolFlag() bool   { return true }

type Text struct{ s string }

func (t Text) MarshalText() ([]byte, error)  { return []byte("<" + t.s + ">"), nil }
func (t *Text) UnmarshalText(b []byte) error { t.s = "(" + string(b) + ")"; return nil }

type Secret string

func (Secret) LogValue() slog.Value { return slog.StringValue("***") }

type Handler struct{ slog.Handler }

func (h Handler) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		fmt.Printf("[%s %v %T]", a.Key, a.Value.Resolve(), a.Value.Any())
		return true
	})
	fmt.Println(r.Message)
	return nil
}
func (h Handler) Enabled(context.Context, slog.Level) bool { return true }

type Src struct{ n uint64 }

func (s *Src) Int63() int64   { s.n++; return int64(s.n) }
func (s *Src) Seed(n int64)   { s.n = uint64(n) }
func (s *Src) Uint64() uint64 { s.n += 1 << 40; return s.n }

type Arith struct{ calls int }
type Args struct{ A, B int }

func (a *Arith) Mul(args *Args, reply *int) error { a.calls++; *reply = args.A * args.B; return nil }
func (a *Arith) Div(args Args, reply *Val) error {
	if args.B == 0 {
		return &E{9}
	}
	reply.a = args.A / args.B
	return nil
}
func (a *Arith) hidden(int) {}

type Srv struct{ hits int }

func (s *Srv) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.hits++
	fmt.Fprint(w, "hit ", s.hits, r.URL.Path)
}

type RT func(*http.Request) (*http.Response, error)

func (f RT) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type RespW struct {
	http.ResponseWriter
	log *[]string
}

func (w RespW) Flush()                      { *w.log = append(*w.log, "flush") }
func (w RespW) Unwrap() http.ResponseWriter { return w.ResponseWriter }

type conn struct{ net.Conn }

func (conn) Close() error { return errors.New("conn closed") }

type drv struct{}

func (drv) Open(name string) (driver.Conn, error) { return dconn{name}, nil }

func (d drv) Connect(context.Context) (driver.Conn, error) { return d.Open("dsn") }
func (d drv) Driver() driver.Driver                        { return d }

type dconn struct{ name string }

func (c dconn) Prepare(q string) (driver.Stmt, error) { return stmt{q}, nil }
func (c dconn) Close() error                          { return nil }
func (c dconn) Begin() (driver.Tx, error)             { return nil, errors.New("no tx") }

type stmt struct{ q string }

func (s stmt) Close() error  { return nil }
func (s stmt) NumInput() int { return strings.Count(s.q, "?") }
func (s stmt) Exec(args []driver.Value) (driver.Result, error) {
	fmt.Printf("[exec %s %v]", s.q, args)
	return driver.RowsAffected(3), nil
}
func (s stmt) Query(args []driver.Value) (driver.Rows, error) { return &rows{args, 0}, nil }

type rows struct {
	args []driver.Value
	i    int
}

func (r *rows) Columns() []string { return []string{"v"} }
func (r *rows) Close() error      { return nil }
func (r *rows) Next(dest []driver.Value) error {
	if r.i == len(r.args) {
		return io.EOF
	}
	dest[0] = r.args[r.i]
	r.i++
	return nil
}

type Money struct{ cents int64 }

func (m Money) Value() (driver.Value, error) { return m.cents, nil }
func (m *Money) Scan(v any) error            { m.cents = v.(int64) * 10; return nil }

type sum struct {
	hash.Hash
	n int
}

func (s *sum) Write(p []byte) (int, error) { s.n += len(p); return s.Hash.Write(p) }

type Img struct{}

func (Img) ColorModel() color.Model { return color.GrayModel }
func (Img) Bounds() image.Rectangle { return image.Rect(0, 0, 2, 1) }
func (Img) At(x, y int) color.Color { return Gray(x * 100) }

type Gray uint8

func (g Gray) RGBA() (r, gg, b, a uint32) { v := uint32(g) * 0x101; return v, v, v, 0xffff }

type Var int

func (v Var) String() string { return fmt.Sprint("v", int(v)) }

type ctx struct{ context.Context }

func (c ctx) Value(k any) any {
	if k == (key{"own"}) {
		return Val{1, 2}
	}
	return c.Context.Value(k)
}

func main() {
	var e error = &E{1}
	var target *E
	var te interface{ Timeout() bool }
	var ne net.Error
	var co coder
	var s Str
	w := fmt.Errorf("w: %w", Wrap{e})
	fmt.Println(1, errors.As(w, &target), target == e, errors.As(w, &te), te.Timeout(), errors.As(w, &ne), ne.Temporary(), errors.As(w, &co), co.Error())
	fmt.Println(2, errors.Is(w, e), errors.Is(&E{3}, fs.ErrExist), errors.Is(Wrap{&E{3}}, fs.ErrExist), errors.Is(e, io.EOF))
	fmt.Println(3, errors.As(e, &s), s, errors.Unwrap(Wrap{e}) == e, errors.Unwrap(e))
	m := Many{io.EOF, Wrap{Str("x")}}
	fmt.Println(4, errors.Is(m, io.EOF), errors.Is(fmt.Errorf("%w and %w", e, m), Str("x")), errors.Unwrap(m))
	fmt.Println(5, os.IsTimeout(e), os.IsTimeout(&E{2}), os.IsExist(&fs.PathError{Err: fs.ErrExist}), os.IsNotExist(Wrap{fs.ErrNotExist}))
	fmt.Println(6, errors.Join(e, nil, m), error(Str("a")) == error(Str("a")), e == error(&E{1}))
	var unset *E
	var asErr error = unset
	fmt.Println(7, asErr == nil, unset == nil)

	var wr W
	n, err := io.Copy(&wr, &R{"plain"})
	fmt.Println(10, n, err, wr.b.String())
	var wf WF
	n, err = io.Copy(&wf, &R{"from"})
	fmt.Println(11, n, err, wf.b.String())
	n, err = io.Copy(&wr, &RW{R{"to"}})
	fmt.Println(12, n, err, wr.b.String())
	var ws WS
	io.WriteString(&ws, "direct")
	fmt.Println(13, ws.b.String())
	b, err := io.ReadAll(io.MultiReader(&R{"a"}, &R{"b"}, io.LimitReader(&R{"cde"}, 2)))
	fmt.Println(14, string(b), err)
	b, err = io.ReadAll(io.TeeReader(&R{"tee"}, &ws))
	fmt.Println(15, string(b), err, ws.b.String())
	sc := bufio.NewScanner(&R{"l1\nl2"})
	for sc.Scan() {
		fmt.Print(sc.Text(), ";")
	}
	bw := bufio.NewWriter(&wr)
	fmt.Fprintf(bw, "%d", 5)
	fmt.Println(16, bw.Flush(), wr.b.String())
	closed := 0
	rc := struct {
		io.Reader
		io.Closer
	}{&R{"rc"}, C{&closed}}
	b, _ = io.ReadAll(rc)
	fmt.Println(17, string(b), rc.Close(), closed)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.Copy(z, &R{strings.Repeat("z", 100)})
	z.Close()
	zr, _ := gzip.NewReader(&R{zipped.String()})
	b, err = io.ReadAll(zr)
	fmt.Println(18, len(b), err)
	fmt.Println(19, iotest.TestReader(&R{"data"}, []byte("data")), iotest.TestReader(struct{ io.Reader }{iotest.ErrReader(e)}, nil) != nil)
	h := &sum{Hash: sha256.New()}
	io.Copy(h, &R{"abc"})
	fmt.Println(20, h.n, hex.EncodeToString(h.Sum(nil))[:8], h.Size())

	f := FS{fstest.MapFS{"a.txt": {Data: []byte("map")}}}
	b, err = fs.ReadFile(f, "a.txt")
	fmt.Println(21, string(b), err)
	_, err = fs.Stat(f, "a.txt")
	fmt.Println(22, err, errors.Is(err, fs.ErrNotExist))
	g, err := fs.Glob(f, "*")
	fmt.Println(23, g, err)
	_, err = fs.ReadDir(f, ".")
	fmt.Println(24, err)
	fmt.Println(25, fs.WalkDir(fstest.MapFS{"x/y": {}}, ".", func(p string, d fs.DirEntry, err error) error { fmt.Print(filepath.Base(p), " "); return err }))

	by := By{"ccc", "a", "bb"}
	sort.Sort(sort.Reverse(by))
	fmt.Println(30, by, sort.IsSorted(by))
	sort.Stable(by)
	fmt.Println(31, by, sort.Search(len(by), func(i int) bool { return len(by[i]) >= 2 }))
	pq := &PQ{By{"zzz", "y"}}
	heap.Init(pq)
	heap.Push(pq, "xxxx")
	heap.Push(pq, "")
	fmt.Println(32, heap.Pop(pq).(string) == "", heap.Pop(pq), pq.Len())
	l := list.New()
	l.PushBack(Val{1, 2})
	l.PushFront(key{"k"})
	fmt.Println(33, l.Front().Value, l.Back().Value.(Val).b, l.Front().Value == any(key{"k"}))
	r := ring.New(2)
	r.Value = Val{3, 4}
	r.Next().Value = &Val{5, 6}
	r.Do(func(x any) { fmt.Printf("%T%v ", x, x) })
	fmt.Println(34)
	var sm sync.Map
	sm.Store(key{"a"}, Val{7, 8})
	v, ok := sm.Load(key{"a"})
	_, loaded := sm.LoadOrStore(key{"a"}, 1)
	fmt.Println(35, v.(Val).a, ok, loaded, sm.CompareAndSwap(key{"a"}, Val{7, 8}, Val{}))
	pool := sync.Pool{New: func() any { return &Val{9, 9} }}
	fmt.Println(36, pool.Get().(*Val).a)
	c := context.WithValue(ctx{context.Background()}, key{"x"}, Val{1, 1})
	fmt.Println(37, c.Value(key{"x"}), c.Value(key{"own"}).(Val).b, c.Value(key{"no"}))
	cc, cancel := context.WithCancelCause(c)
	cancel(&E{5})
	fmt.Println(38, context.Cause(cc), cc.Err(), cc.Value(key{"own"}))

	set := flag.NewFlagSet("t", flag.ContinueOnError)
	set.SetOutput(os.Stdout)
	var fl Flag
	var bf BoolFlag
	var tx Text
	set.Var(&fl, "f", "a flag")
	set.Var(&bf, "b", "a bool")
	set.TextVar(&tx, "t", Text{"def"}, "a text")
	fmt.Println(40, set.Parse([]string{"-f", "1", "-b", "-t", "x", "-f=2", "rest"}), fl, bf, tx, set.Args())
	set.PrintDefaults()
	set.VisitAll(func(f *flag.Flag) { fmt.Print(f.Name, "=", f.Value, " ") })
	fmt.Println(41)

	fmt.Println(42)
	logger := slog.New(Handler{})
	logger.Info("msg", "s", Secret("pw"), "e", e, "v", Val{1, 2})
	tl := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(g []string, a slog.Attr) slog.Attr {
		if a.Key == "time" {
			return slog.Attr{}
		}
		return a
	}}))
	tl.Info("43", "secret", Secret("pw"), "text", Text{"t"}, "err", e, "val", Val{3, 4}, slog.Group("g", "x", Var(1)))
	jl := slog.New(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(g []string, a slog.Attr) slog.Attr {
		if a.Key == "time" {
			return slog.Attr{}
		}
		return a
	}}))
	jl.Info("44", "secret", Secret("pw"), "text", Text{"t"}, "err", e, "list", []Text{{"a"}})

	rnd := rand.New(&Src{})
	rnd.Seed(5)
	fmt.Println(45, rnd.Int63(), rnd.Uint64(), rnd.Intn(10))
	r2 := randv2.New(&Src{})
	fmt.Println(46, r2.Uint64(), r2.IntN(7))

	log.SetOutput(io.Discard) // rpc logs with the time
	server := rpc.NewServer()
	fmt.Println(50, server.Register(&Arith{}), server.RegisterName("none", Val{}) != nil)
	a, z2 := net.Pipe()
	go server.ServeConn(a)
	client := rpc.NewClient(z2)
	var reply int
	fmt.Println(51, client.Call("Arith.Mul", &Args{6, 7}, &reply), reply)
	var val struct{ A int }
	fmt.Println(52, client.Call("Arith.Div", Args{6, 0}, &val))
	fmt.Println(53, client.Call("Arith.hidden", 1, nil))
	client.Close()

	srv := httptest.NewServer(&Srv{})
	defer srv.Close()
	for range 2 {
		resp, err := http.Get(srv.URL + "/p")
		if err != nil {
			fmt.Println(err)
			return
		}
		b, _ = io.ReadAll(resp.Body)
		resp.Body.Close()
		fmt.Println(54, string(b))
	}
	hc := http.Client{Transport: RT(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 418, Body: io.NopCloser(&R{r.Host}), Request: r}, nil
	})}
	resp, err := hc.Get("http://tea/")
	b, _ = io.ReadAll(resp.Body)
	fmt.Println(55, resp.StatusCode, string(b), err)
	hc.Transport = RT(func(r *http.Request) (*http.Response, error) { return nil, e })
	_, err = hc.Get("http://tea/")
	fmt.Println(56, errors.As(err, &target), err.(net.Error).Timeout())
	var flushed []string
	rec := httptest.NewRecorder()
	rw := RespW{rec, &flushed}
	fmt.Println(57, http.NewResponseController(rw).Flush(), flushed, http.NewResponseController(rw).SetReadDeadline(time.Now()) != nil)
	mux := http.NewServeMux()
	mux.Handle("/x/", http.StripPrefix("/x", &Srv{10}))
	mux.ServeHTTP(rec, httptest.NewRequest("GET", "/x/q", nil))
	fmt.Println(58, rec.Body.String(), http.NoBody)
	fmt.Println(59, conn{}.Close(), io.Closer(conn{}).Close())

	db := sql.OpenDB(drv{})
	fmt.Println(60, db.Driver())
	res, err := db.Exec("insert ?", Money{5})
	aff, _ := res.RowsAffected()
	fmt.Println(61, aff, err)
	var money Money
	fmt.Println(62, db.QueryRow("q ?", Money{7}).Scan(&money), money)
	var i int
	fmt.Println(63, db.QueryRow("q").Scan(&i), db.QueryRow("q ?", "x").Scan(&i) != nil)
	_, err = db.Begin()
	fmt.Println(65, err, db.Close())

	fmt.Println(70, color.GrayModel.Convert(Gray(9)), Img{}.At(1, 0), image.NewUniform(Gray(3)).At(0, 0))
	var vars expvar.Map
	vars.Set("v", Var(3))
	fmt.Println(71, vars.String(), vars.Get("v").(Var) == 3)
	once := sync.OnceValues(func() (Val, error) { return Val{1, 2}, e })
	ov, oe := once()
	fmt.Println(72, ov, oe)
	t := time.AfterFunc(time.Hour, func() {})
	fmt.Println(73, t.Stop(), fmt.Stringer(time.Second))
}
