package main

import (
	"errors"
	"fmt"

	"github.com/avast/retry-go/v4"
	"github.com/benbjohnson/clock"
	"github.com/sony/gobreaker"
)

func main() {
	b := gobreaker.NewCircuitBreaker(gobreaker.Settings{Name: "x", ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures > 1 }})
	for range 4 {
		_, err := b.Execute(func() (any, error) { return nil, errors.New("bad") })
		fmt.Println(err, b.State())
	}
	c := clock.NewMock()
	t := c.Now()
	c.Add(5)
	fmt.Println(c.Now().Sub(t))
	n := 0
	fmt.Println(retry.Do(func() error {
		n++
		if n < 2 {
			return errors.New("x")
		}
		return nil
	}, retry.Delay(1)), n)
}
