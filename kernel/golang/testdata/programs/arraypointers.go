package main

import (
	"fmt"
	"unsafe"
)

type U struct{ id [16]byte }

func (u *U) ID() *[16]byte { return &u.id }
func get() *[16]byte       { return &[16]byte{1, 2} }
func val() [4]byte         { return [4]byte{9, 8} }

func main() {
	u := &U{}
	fmt.Println(u.ID()[:3], get()[:2], len(get()[1:]))
	copy(u.ID()[:], []byte("hello"))
	s := get()[:]
	s[0] = 7
	fmt.Println(string(u.id[:5]), s[:2])
	x := uint32(258)
	b := (*[4]byte)(unsafe.Pointer(&x))[:]
	fmt.Println(b, (*(*[4]byte)(unsafe.Pointer(&x)))[:2])
	p := (*[16]byte)(make([]byte, 16))
	p[3] = 4
	fmt.Println(p[:4], *(*[2]byte)(p[:]), val()[0])
	var q = [...]*[2]int{{1, 2}, {3, 4}}
	fmt.Println(q[1][:], q[0][1:])
	for i := range get() {
		if i > 13 {
			fmt.Print(i)
		}
	}
	m := map[string]*[2]int{"a": {5, 6}}
	fmt.Println(m["a"][:1], (&u.id)[:1], (*get())[1:2])
	nils(nil, nil)
}

type holder struct{ n [3]int }

// An array that is not there: its length is known, its elements are not.
func nils(p *[3]int, h *holder) {
	try := func(f func()) {
		defer func() { fmt.Println(recover()) }()
		f()
	}
	n := 0
	try(func() {
		for i := range p {
			n += i
		}
		for i, _ := range p {
			n += i
		}
		for i := range h.n {
			n += i
		}
	})
	fmt.Println(n)
	try(func() {
		for i, v := range p {
			n += i + v
		}
	})
	try(func() {
		for i, _ := range h.n {
			n += i
		}
	})
	try(func() {
		for _, v := range &h.n {
			n += v
		}
	})
	fmt.Println(n)
}
