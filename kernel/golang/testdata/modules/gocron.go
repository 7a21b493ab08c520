package main

import (
	"fmt"
	"github.com/go-co-op/gocron/v2"
	"time"
)

func main() {
	s, err := gocron.NewScheduler()
	if err != nil {
		panic(err)
	}
	done := make(chan string, 10)
	j, err := s.NewJob(gocron.DurationJob(20*time.Millisecond), gocron.NewTask(func(a string, b int) { done <- fmt.Sprint(a, b) }, "hello", 1))
	fmt.Println(err, j.ID().String() != "", j.Name() != "")
	s.Start()
	fmt.Println(<-done, <-done)
	fmt.Println(s.Shutdown())
}
