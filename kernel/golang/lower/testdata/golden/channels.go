package main

import "fmt"

type msgs chan string

func main() {
	c, m, done := make(chan int, 1), make(msgs, 1), make(chan struct{})
	c <- 1
	m <- "a"
	x, ok := <-c
	<-m
	go func() { done <- struct{}{} }()
	select {
	case v := <-c:
		fmt.Println(v)
	case s, ok := <-m:
		fmt.Println(s, ok)
	case c <- x:
	case <-done:
	default:
	}
	select {
	case x = <-c:
	case m <- "b":
	}
	fmt.Println(ok, <-c+1)
}
