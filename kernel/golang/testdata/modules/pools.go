package main

import (
	"context"
	"fmt"
	"github.com/alitto/pond"
	"github.com/looplab/fsm"
	"sync/atomic"
)

func main() {
	p := pond.New(4, 100)
	var n atomic.Int64
	for i := range 50 {
		p.Submit(func() { n.Add(int64(i)) })
	}
	p.StopAndWait()
	fmt.Println(n.Load(), p.SubmittedTasks())
	f := fsm.NewFSM("closed", fsm.Events{{Name: "open", Src: []string{"closed"}, Dst: "open"}, {Name: "close", Src: []string{"open"}, Dst: "closed"}},
		fsm.Callbacks{"enter_state": func(_ context.Context, e *fsm.Event) { fmt.Println("to", e.Dst) }})
	fmt.Println(f.Event(context.Background(), "open"), f.Current())
	fmt.Println(f.Event(context.Background(), "open"))
	fmt.Println(fsm.Visualize(f))
}
