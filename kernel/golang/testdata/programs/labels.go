package main

import "fmt"

func scan(n int) (string, int) {
	s := ""
	if n == 0 {
		goto exponent
	}
	if n == 1 {
		switch n + 1 {
		case 2:
			goto hexadecimal
		}
	}
	if n == 2 {
		goto octal
	}
	s += "plain "
exponent:
	s += "exp "
hexadecimal:
octal:
	if n > 3 {
		return s + "big", n
	}
	return s, -n
}

func loop(n int) (r []int) {
a:
b:
	for i := range 5 {
		for j := range 5 {
			if j == n {
				continue b
			}
			if i == n {
				break b
			}
			r = append(r, i*10+j)
		}
	}
	if len(r) < 3 {
		r = append(r, 99)
		goto a
	}
	return
}

func main() {
	for i := range 6 {
		fmt.Println(scan(i))
		fmt.Println(loop(i))
	}
}
