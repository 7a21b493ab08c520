package main

import (
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/robfig/cron/v3"
)

func main() {
	s, err := cron.ParseStandard("*/15 3 * * 1-5")
	t := time.Date(2024, 3, 1, 3, 20, 0, 0, time.UTC)
	fmt.Println(err, s.Next(t), s.Next(s.Next(t)))
	_, err = cron.ParseStandard("x")
	fmt.Println(err)
	n := 0
	err = backoff.Retry(func() error {
		n++
		if n < 3 {
			return fmt.Errorf("try %d", n)
		}
		return nil
	}, backoff.WithMaxRetries(backoff.NewConstantBackOff(time.Millisecond), 5))
	fmt.Println(n, err)
}
