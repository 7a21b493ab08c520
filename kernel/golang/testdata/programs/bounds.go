package main

import "fmt"

func fails(f func()) {
	defer func() { fmt.Println(recover()) }()
	f()
}

func yes() bool { return true }

func count(a ...int) int { return len(a) }

func at(i int) int {
	fmt.Print("at ", i, ": ")
	return i
}

func main() {
	w, n := []int{1, 2, 3, 4}, 7
	var a any = 4

	// In a case of a switch.
	fails(func() {
		switch n {
		case w[n]:
		}
	})
	fails(func() {
		switch n {
		case count(w[:n]...), 3:
		}
	})
	fails(func() {
		switch n {
		case 4, count(w[:2:2][:n]...):
		}
	})
	fails(func() {
		switch n {
		case a.(int), count(w[:][:1][:2:2][:3]...):
		}
	})
	fails(func() {
		switch {
		case yes() && count(w[:2:2][:n]...) == 1:
		}
	})

	// After && and ||.
	fails(func() { fmt.Println(yes() && w[n] == 1) })
	fails(func() { fmt.Println(n < 0 || w[n] == 1) })
	fails(func() { fmt.Println(yes() && count(w[:n]...) == 1) })
	fails(func() { fmt.Println(n > 0 && w[at(n)] == 1) })
	fails(func() { fmt.Println(w[0] == 1 && w[1] == 2 && w[at(n)] == 1 && w[9] == 1) })
	fails(func() {
		fmt.Println(0 <= n && n < len(w) && w[n] == 1, n < len(w) && w[n] == 1, n >= len(w) || w[n] == 1)
	})
	fails(func() { i := -1; fmt.Println(i < len(w) && w[i] == 1) })
	fails(func() { i := -1; fmt.Println(!(0 <= i && i < len(w)) || w[i] == 1, i >= len(w) || w[i] == 1) })
	fails(func() { fmt.Println(n > len(w) && len(w) < n && w[n] == 1) })

	// Left of a call, and in the last part of a for statement.
	fails(func() { w[n] = at(1) })
	fails(func() { w[n-8] = at(2) })
	fails(func() { w[:2][n-4] = at(3) })
	fails(func() {
		for i := 0; ; w[i]++ {
			i += 2
		}
	})
	fails(func() {
		for i := 0; i < len(w) && w[i] > 0; i++ {
		}
		for i := len(w) - 1; w[i] > 0; i-- {
		}
	})
}
