package main

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
	"weak"
)

type T struct {
	n   int
	pad [100]int
}

var done [4]atomic.Int64

var cleanup = func(i int) { done[i].Add(1) }
var cleanupAny = func(x any) { done[2].Add(int64(len(fmt.Sprint(x)))) }
var final = func(t *T) { done[t.n].Add(1) }

func withCleanup()            { runtime.AddCleanup(new(T), cleanup, 0) }
func withElement()            { s := make([]int, 100); runtime.AddCleanup(&s[0], cleanup, 1) }
func withAny()                { runtime.AddCleanup(new(T), cleanupAny, any("four")) }
func withFinalizer()          { runtime.SetFinalizer(&T{n: 3}, final) }
func weakly() weak.Pointer[T] { return weak.Make(new(T)) }

func wait(name string, gone func() bool) {
	for range 600 {
		runtime.GC()
		if gone() {
			fmt.Println(name, "is gone")
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	fmt.Println(name, "stays")
}

func main() {
	withCleanup()
	withElement()
	withAny()
	withFinalizer()
	w := weakly()
	wait("weak", func() bool { return w.Value() == nil })
	for i := range done {
		wait(fmt.Sprint(i), func() bool { return done[i].Load() > 0 })
	}
	for i := range done {
		fmt.Println(done[i].Load())
	}
}
