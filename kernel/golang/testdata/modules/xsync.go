package main

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"
)

func main() {
	g, ctx := errgroup.WithContext(context.Background())
	for i := range 3 {
		g.Go(func() error {
			if i == 1 {
				return errors.New("one failed")
			}
			<-ctx.Done()
			return nil
		})
	}
	fmt.Println(g.Wait())
	s := semaphore.NewWeighted(2)
	fmt.Println(s.TryAcquire(2), s.TryAcquire(1))
	var f singleflight.Group
	v, err, shared := f.Do("k", func() (any, error) { return 42, nil })
	fmt.Println(v, err, shared)
}
