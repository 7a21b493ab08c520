package main

import (
	"errors"
	"fmt"
	"io"
)

type shape interface{ area() int }

type square struct{ side int }

func (s square) area() int { return s.side * s.side }

type num int

func (n *num) area() int     { return int(*n) }
func (n num) String() string { return "num" }

func measure(s shape) int { return s.area() }

func main() {
	n := num(2)
	var s shape = square{3}
	list := []shape{s, &n}
	var x any = s
	fmt.Println(measure(s), measure(&n), x, n, list)
	sq := x.(square)
	sh, ok := x.(shape)
	str, ok := x.(fmt.Stringer)
	i, ok := x.(int)
	e := x.(error)
	var r io.Reader
	r, _ = x.(io.Reader)
	var target *num
	fmt.Println(sq, sh, str, i, e, r == nil, s == x, ok, errors.As(nil, &target))
	f := s.area
	fmt.Println(f(), shape.area(s))
	x = func() square { return sq }
}
