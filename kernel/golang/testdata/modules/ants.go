package main

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/panjf2000/ants/v2"
	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/pool"
)

func main() {
	var n atomic.Int64
	var wg sync.WaitGroup
	p, err := ants.NewPool(3)
	fmt.Println(err)
	for i := range 10 {
		wg.Add(1)
		p.Submit(func() { defer wg.Done(); n.Add(int64(i)) })
	}
	wg.Wait()
	p.Release()
	fmt.Println(n.Load())
	var w conc.WaitGroup
	w.Go(func() { panic("boom") })
	fmt.Println(w.WaitAndRecover().Value)
	q := pool.NewWithResults[int]()
	q.Go(func() int { return 4 })
	fmt.Println(q.Wait())
}
