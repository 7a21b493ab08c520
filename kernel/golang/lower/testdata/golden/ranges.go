package main

import "fmt"

type seq func(yield func(int) bool)

func upTo(n int) seq {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func find(want int) int {
	for i := range upTo(10) {
		if i < 2 {
			continue
		}
		if i == 5 {
			break
		}
		if i == want {
			return i
		}
	}
	return -1
}

func main() {
	list, array := []string{"a"}, [2]int{1, 2}
	for i, s := range list {
		fmt.Println(i, s)
	}
	for range list {
	}
	for i := range array {
		array[i]++
	}
	for i, x := range &array {
		fmt.Println(i, x)
	}
	for k, v := range map[string]int{"a": 1} {
		fmt.Println(k, v)
	}
	for i, r := range "añb" {
		fmt.Println(i, r)
	}
	c := make(chan int)
	for x := range c {
		fmt.Println(x)
	}
	var k int8
	for k = range 3 {
	}
	fmt.Println(k, find(3))
}
