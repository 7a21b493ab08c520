package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/time/rate"
)

func main() {
	l := rate.NewLimiter(rate.Every(time.Hour), 2)
	fmt.Println(l.Allow(), l.Allow(), l.Allow(), l.Burst())
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	fmt.Println(l.Wait(ctx) != nil)
}
