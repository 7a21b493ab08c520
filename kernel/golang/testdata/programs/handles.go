package main

import (
	"database/sql"
	"fmt"
	"runtime"
	"time"
	"unique"
	"weak"
)

type pt struct {
	X int
	S string
}

func main() {
	a, b, c := unique.Make("x"+fmt.Sprint(1)), unique.Make("x1"), unique.Make("y")
	fmt.Println(a == b, a == c, a.Value())
	fmt.Println(unique.Make(pt{1, "a"}) == unique.Make(pt{1, "a"}), unique.Make(pt{1, "a"}) == unique.Make(pt{1, "b"}))
	var m = map[unique.Handle[int]]string{unique.Make(3): "three"}
	fmt.Println(m[unique.Make(3)])
	p := &pt{4, "q"}
	w := weak.Make(p)
	fmt.Println(w.Value() == p, w.Value().X, w == weak.Make(p))
	runtime.KeepAlive(p)
	var z weak.Pointer[int]
	fmt.Println(z.Value())
	var n sql.Null[int64]
	fmt.Println(n.Scan("42"), n)
	fmt.Println(n.Scan(nil), n)
	v, err := sql.Null[string]{V: "s", Valid: true}.Value()
	fmt.Println(v, err)
	var s sql.Null[time.Time]
	fmt.Println(s.Scan("x") != nil)
	p2 := &pt{5, "kept"}
	stop := runtime.AddCleanup(p2, func(s string) { fmt.Println("never", s) }, "x")
	stop.Stop()
	fmt.Println(p2.S)
}
