package main

import (
	"fmt"
	"time"
)

type point struct{ X, y int }

type line struct {
	point
	ends []*point
	at   time.Time
	_    int
}

type names map[string][]string

func f() int { return 1 }

func main() {
	p := point{1, f()}
	q := &point{y: 2}
	l := line{point: p, ends: []*point{q, {3, 4}, {}}}
	list := []int{2: 5, f(), 0: p.X}
	m := map[point]names{{1, 2}: {"a": {"b"}}, p: nil}
	a := [...]string{"x", "y"}
	keys := map[any]int{1: 1, "1": f()}
	d := &[]int{1}
	var z struct{}
	fmt.Println(l, list, m, a, keys, d, z, struct{}{}, time.Duration(f())*time.Second)
	fmt.Println(1, -1, 1.5, 'a', "a\n\"", 1i, true, int8(-3), float32(0.1), uint64(1)<<63, nil)
}
