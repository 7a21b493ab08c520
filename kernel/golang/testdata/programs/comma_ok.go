package main

import "fmt"

func main() {
	ms := []map[string]string{{"k": "a"}, nil, {"j": "b"}}
	for _, m := range ms {
		v, ok := m["k"]
		fmt.Println(v, ok)
	}
	ns := []map[string]int{{"k": 7}, nil, {"j": 1}}
	for _, m := range ns {
		v, ok := m["k"]
		fmt.Println(v, ok)
		w := m["k"]
		fmt.Println(w)
		var x int = 5
		x, ok = m["k"]
		fmt.Println(x, ok)
	}
	for _, a := range []any{1, "s", nil} {
		v, ok := a.(int)
		fmt.Println(v, ok)
	}
	c := make(chan int, 1)
	c <- 3
	for range 2 {
		v, ok := <-c
		fmt.Println(v, ok)
		if ok {
			close(c)
		}
	}
}
