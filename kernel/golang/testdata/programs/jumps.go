// Jumps: returns that several ways lead to, labels on what falls through.
package main

import "fmt"

var c = make(chan int, 1)

func ifElse(a int) {
	fmt.Print("ifElse ")
	if a == 1 {
		fmt.Println("one")
		return
	} else {
		return
	}
}

func labels(a int) {
	if a == 1 {
		fmt.Println("one")
		goto end
	}
	if a == 2 {
		fmt.Println("two")
		goto end
	}
	fmt.Println("other")
end:
	return
}

func back(a int) {
again:
	for a > 0 {
		a--
		if a == 2 {
			goto again
		}
		if a == 1 {
			return
		}
	}
	return
}

func cases(a int) {
	switch {
	case a == 1:
		fmt.Println("one")
		fallthrough
	case a == 2:
		return
	case a == 3:
		fmt.Println("three")
		fallthrough
	default:
		return
	}
}

func labelled(a int) {
	switch a {
	case 1:
		if a < len(c) {
			goto next
		}
		fmt.Println("one")
		break
	next:
		fallthrough
	case 2:
		fmt.Println("two")
		if a == 2 {
			goto third
		}
		fmt.Println("not two")
	third:
		fallthrough
	case 3:
		fmt.Println("three")
	default:
		fmt.Println("other")
	}
}

func lists(a int) {
	switch a {
	case 1, 2:
		return
	case 3:
		fallthrough
	case 4, 5:
		return
	}
	fmt.Println("end of lists", a)
}

func types(x any) {
	switch x.(type) {
	case int:
		return
	case string, bool:
		return
	}
	fmt.Println("end of types", x)
}

func selects() {
	select {
	case <-c:
		return
	default:
		return
	}
}

func named(a int) (n int, err error) {
	n = a
	if a == 1 {
		goto end
	}
	if (a == 2) || a == 3 {
		return
	} else if !(a == 4) {
		n++
		goto end
	} else {
		return
	}
end:
	return
}

func constant(a int) int8 {
	if a == 1 {
		goto end
	} else if a == 2 {
		fmt.Println("two")
		goto end
	}
	return -1
end:
	return int8(7)
}

func deferred(a int) (s string) {
	defer func() { s += "!" }()
	if a == 1 {
		s = "one"
		return
	} else {
		return
	}
}

func loops(a int) {
	for range a {
		if a > 1 {
			continue
		}
		return
	}
	for a < 3 {
		return
	}
	for {
		return
	}
}

func main() {
	for a := range 7 {
		ifElse(a)
		labels(a)
		back(a)
		cases(a)
		labelled(a)
		lists(a)
		types(a)
		fmt.Println(named(a))
		fmt.Println(constant(a), deferred(a))
		loops(a)
	}
	types("x")
	types(1.5)
	selects()
	c <- 1
	selects()
	func() {
		if len(c) == 0 {
			return
		} else {
			return
		}
	}()
}
