package main

import (
	"fmt"
	"sync"

	"go.uber.org/atomic"
)

func main() {
	var n atomic.Int64
	var wg sync.WaitGroup
	for range 10 {
		wg.Add(1)
		go func() { defer wg.Done(); n.Add(3) }()
	}
	wg.Wait()
	fmt.Println(n.Load(), n.String())
	b := atomic.NewBool(true)
	fmt.Println(b.Toggle(), b.Load(), atomic.NewString("s").Load(), atomic.NewDuration(5))
	e := atomic.NewError(nil)
	fmt.Println(e.Load())
}
