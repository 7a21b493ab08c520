package main

type point struct {
	x, y int
	next *point
}

func two() (int, error) { return 1, nil }

func main() {
	a, b := 1, "b"
	a, b = 2, b+"c"
	a += 3
	a <<= 2
	a++
	var c, d int8 = 4, 5
	c, d = d, c
	n, err := two()
	_, err = two()
	m := map[string]int{"a": 1}
	m["a"] += n
	v, ok := m["b"]
	list := []int{1, 2, 3}
	i := 1
	list[i], i = i, list[i]
	list[two1()] = two1()
	p := &point{x: 1}
	p.x, p.next = 2, p
	p.next.next.y--
	_, _, _, _, _, _, _, _ = a, b, c, d, err, v, ok, *p
	var array [3]point
	array[i].x = a
	q := &array[1].y
	*q = 4
}

func two1() int { return 2 }
