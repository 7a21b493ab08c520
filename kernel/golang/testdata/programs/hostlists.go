// The same of compiled packages' types.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

type h struct {
	req *http.Request
	f   []*os.File
	ts  []time.Time
	u   [2]url.URL
	b   [2]bytes.Buffer
	err []error
}

func all(xs ...fmt.Stringer) (s []string) {
	for _, x := range xs {
		s = append(s, x.String())
	}
	return
}
func first(es ...error) error {
	for _, e := range es {
		if e != nil {
			return e
		}
	}
	return nil
}
func times(ts ...time.Time) int { return len(ts) }
func main() {
	var v h
	x := &v
	x.req = &http.Request{Header: http.Header{"A": {"1", "2"}}, URL: &url.URL{Host: "h", Path: "/p"}, TransferEncoding: []string{"t"}}
	x.ts = []time.Time{time.Unix(5, 0).UTC(), time.Unix(6, 0).UTC()}
	for range 2 {
		f, err := os.CreateTemp("", "y")
		if err != nil {
			panic(err)
		}
		x.f = append(x.f, f)
	}
	func() {
		v.u[1].Host = "two"
		v.b[0].WriteString("buf")
		x.err = append(x.err, nil, errors.New("one"))
		x = &v
	}()
	fmt.Println(all(x.ts[0], v.ts[1], x.req.URL, &x.u[1], &v.b[0], x.ts[0].Sub(v.ts[1]), x.ts[0].Month(), (*x).ts[1].Weekday()))
	fmt.Println(first(x.err[0], (*x).err[1], v.err[1]), first(x.f[0].Close(), v.f[1].Close(), (*x).f[0].Sync()) != nil, errors.Join(os.Remove(x.f[0].Name()), os.Remove((*x).f[1].Name())))
	fmt.Println(times(x.ts[0], v.ts[1].Add(5), x.ts[0].UTC(), (*x).ts[1]), []time.Time{x.ts[0], v.ts[1].Truncate(time.Minute)}[1].Unix())
	fmt.Println(strings.Join([]string{x.req.Header.Get("A"), x.req.Header["A"][1], x.req.URL.Path, v.req.URL.String(), x.req.TransferEncoding[0], x.u[1].Host, v.b[0].String(), strings.ToUpper(x.u[1].Host)}, ","))
	fmt.Println([]*url.URL{x.req.URL, &v.u[0], &x.u[1]}[2].Host, []url.URL{*x.req.URL, x.u[1], v.u[0]}[0].Path, [][]string{x.req.Header["A"], x.req.TransferEncoding, x.req.Header["A"][:1], strings.Split(x.u[1].Host, "w")})
	fmt.Println([][]byte{v.b[0].Bytes(), []byte(x.u[1].Host), x.b[0].Bytes()[1:]}, filepath.Join(x.u[1].Host, "a", x.req.URL.Path), append([]byte("z"), x.b[0].Bytes()[0], v.b[0].Bytes()[1]))
	ws := io.MultiWriter(&v.b[0], &x.b[1])
	fmt.Fprint(ws, "!", x.ts[0].Year())
	rs := io.MultiReader(strings.NewReader("q"), &x.b[0], &v.b[1], bytes.NewReader(x.b[1].Bytes()))
	d, _ := io.ReadAll(rs)
	fmt.Println(string(d))
	fmt.Println(slices.Max([]time.Duration{x.ts[0].Sub(x.ts[1]), 3}), max(x.ts[0].Unix(), v.ts[1].Unix(), (*x).ts[0].Unix()), min(len(x.ts), cap(v.err), len((*x).f[0].Name())))
	var wg sync.WaitGroup
	res := make([]error, 2)
	for i := range x.f {
		wg.Add(1)
		go func() { defer wg.Done(); res[i] = errors.Join(x.f[i].Close(), v.f[i].Close()) }()
	}
	wg.Wait()
	fmt.Println(res[0] != nil, res[1] != nil)
	log.New(&v.b[0], "", 0).Println(x.ts[0].Year(), x.u[1].Host)
	fmt.Print(v.b[0].String())
	ds := []struct {
		t time.Time
		u *url.URL
		e error
	}{{x.ts[0], &x.u[1], x.err[1]}, {v.ts[1].Add(1), x.req.URL, x.f[0].Close()}}
	ds[0].u.Host = "three"
	fmt.Println(ds[0].t.Unix(), v.u[1].Host, ds[0].e, ds[1].e != nil)
}
