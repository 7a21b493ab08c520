package main

import (
	"errors"
	"fmt"
	"sync"
)

var mu sync.Mutex

func safe(n int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New(fmt.Sprint(r))
		}
	}()
	mu.Lock()
	defer mu.Unlock()
	for i := range n {
		defer fmt.Println("deferred", i)
	}
	if n > 2 {
		return nil
	}
	panic("small")
}

func twice() (int, string) {
	defer println("done")
	return 1, "x"
}

func main() {
	fmt.Println(safe(1))
	fmt.Println(twice())
	m := map[int]int{}
	defer delete(m, 1)
	defer recover()
}
