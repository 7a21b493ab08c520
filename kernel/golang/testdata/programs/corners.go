package main

import "fmt"

func size() int {
	fmt.Println("size")
	return 4
}

// A method value of one interface, and one of another with the same method.
type both interface {
	M() int
	N()
}
type one interface{ M() int }
type A int

func (a A) M() int { return int(a) }
func (a A) N()     {}

type B int

func (b B) M() int { return int(b) * 10 }

// Fields whose names differ by what lowered code puts before one.
type fields struct{ X_a, a, XX_a int }

// A label in a literal in the body of a loop over a function, and one around it.
func seq(yield func() bool) {
	for yield() {
	}
}

func labels(v int) {
	for range seq {
		func() {
			i := 0
		end:
			if i < 2 {
				i++
				goto end
			}
			fmt.Println("x", i)
		}()
		if v == 1 {
			goto end
		}
		break
	}
	fmt.Println("broke")
end:
	fmt.Println("end")
}

// A deferred method of an embedded interface that is nil.
type embeds struct{ one }

func deferred() (n int) {
	defer func() { recover() }()
	n = 3
	var e embeds
	defer e.M()
	n = 4
	return
}

func main() {
	m := make(map[int]int, size())
	fmt.Println(len(m))
	var a both = A(1)
	var b one = B(2)
	f, g := a.M, b.M
	fmt.Println(f(), g())
	x := fields{1, 2, 3}
	x.a = 5
	p := &x
	p.X_a++
	fmt.Println(x, x.a, x.X_a, x.XX_a, x == fields{2, 5, 3})
	labels(0)
	labels(1)
	fmt.Println(deferred())
}
