// Pointers to arrays that are larger than the memory behind them.
package main

import (
	"fmt"
	"unsafe"
)

const most = 0xFFFFFFFFFFFF

func bytes(base unsafe.Pointer, i, j int) []byte {
	return (*[most]byte)(base)[i:j:j]
}

func page(b []byte, n int) *[most]byte {
	return (*[most]byte)(unsafe.Pointer(&b[n]))
}

type db struct {
	data *[most]byte
	ref  []byte
}

var mapped *[1 << 20]int32

func main() {
	b := []byte("hello world")
	fmt.Println(string(bytes(unsafe.Pointer(&b[0]), 2, 5)))
	p := page(b, 3)
	fmt.Println(p[0], p[2], len(p))
	p[1] = 'X'
	p[2]++
	p[3], p[4] = p[4], p[3]
	fmt.Println(string(b), string(p[:4]))
	d := &db{ref: b}
	d.data = (*[most]byte)(unsafe.Pointer(&b[0]))
	fmt.Println(d.data[4], string(d.data[1:3]))
	for i := range (*[most]byte)(unsafe.Pointer(&b[0])) {
		if i > 2 {
			break
		}
		fmt.Println(i)
	}
	q := &d.data[2]
	*q = 'Q'
	fmt.Println(string(b), p == nil)
	func() {
		p[0] = 'c'
	}()
	fmt.Println(string(b))
	func() {
		defer func() { fmt.Println(recover()) }()
		mapped[3] = 1
	}()
	func() {
		defer func() { fmt.Println(recover()) }()
		n := len(mapped)
		fmt.Println(n, len(mapped[:0]))
		fmt.Println(mapped[n])
	}()
	mapped = new([1 << 20]int32)
	mapped[5]--
	n := len(mapped)
	func() {
		defer func() { fmt.Println(recover()) }()
		fmt.Println(mapped[n])
	}()
	fmt.Println(mapped[5], mapped[n-1], cap(mapped[5:10:20]))
}
