package main

type big [100]int

func n() int { return 4 }

func main() {
	var s []int
	s = append(s, 1)
	s = append(s, n(), 2)
	s = append(s, s...)
	b := append([]byte("x"), "yz"...)
	copy(b, "ab")
	k := copy(s, s[1:])
	m := make(map[string]int, 3)
	delete(m, "a")
	clear(m)
	c := make(chan int, n())
	close(c)
	var r <-chan int = make(<-chan int)
	t := make([]string, n())
	w := make([]big, 1, n())
	p := new(int)
	q := new(n())
	println(len(s), cap(s), len("text"), k, len(b), len(w), len(t), len(r), *p, *q)
	var a big
	println(len(a), len(&a), len([2]int{n(), 1}))
	defer print("end")
	panic(n())
}
