package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

type ctxKey struct{}
type key string

func producer(ctx context.Context, n int) <-chan int {
	c := make(chan int)
	go func() {
		defer close(c)
		for i := range n {
			select {
			case c <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	return c
}

func worker(id int, jobs <-chan int, results chan<- [2]int, wg *sync.WaitGroup) {
	defer wg.Done()
	for j := range jobs {
		results <- [2]int{j, j * j}
	}
}

func order() {
	defer fmt.Println("1")
	defer func() {
		fmt.Println("2", recover())
	}()
	defer func() {
		defer func() { fmt.Println("inner", recover()) }()
		panic("second")
	}()
	for i := 0; i < 2; i++ {
		defer fmt.Println("loop", i)
	}
	panic("first")
}

func named() (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("caught: %v", r)
			n = -1
		}
	}()
	var m map[string]int
	m["a"] = 1
	return 5, nil
}

func divide(a, b int) (q int, err error) {
	defer func() {
		if e, ok := recover().(error); ok {
			err = e
		}
	}()
	return a / b, nil
}

func index(s []int, i int) (v int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(error)
		}
	}()
	return s[i], nil
}

func helper() any { return recover() }

func indirect() (s string) {
	defer func() {
		r := recover()
		s = fmt.Sprint("outer ", r)
	}()
	defer func() {
		helper()
	}()
	panic("P")
}

func direct() (s string) {
	defer helper()
	s = "x"
	panic("direct")
}

func rethrow() (err error) {
	defer func() {
		err = fmt.Errorf("final %v", recover())
	}()
	defer func() {
		r := recover()
		panic(fmt.Sprint("re-", r))
	}()
	panic("orig")
}

type MyErr struct{ n int }

func (e MyErr) Error() string { return fmt.Sprint("myerr ", e.n) }

func panicErr() (err error) {
	defer func() {
		switch r := recover().(type) {
		case MyErr:
			err = r
		case error:
			err = errors.Join(r)
		}
	}()
	panic(MyErr{4})
}

func args() {
	x := 1
	defer fmt.Println("deferred x", x)
	x = 2
	defer func(v int) { fmt.Println("v", v, "x", x) }(x)
	x = 3
}

type res struct{ name string }

func (r *res) Close() error { fmt.Println("close", r.name); return nil }

func open() (err error) {
	a, b := &res{"a"}, &res{"b"}
	defer a.Close()
	defer b.Close()
	b.name = "b2"
	b = &res{"c"}
	return nil
}

func main() {
	order()
	fmt.Println(named())
	fmt.Println(divide(1, 0))
	fmt.Println(index([]int{1}, 5))
	fmt.Println(indirect())
	fmt.Println(direct())
	fmt.Println(rethrow())
	fmt.Println(panicErr())
	args()
	open()
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), ctxKey{}, "val"))
	ctx = context.WithValue(ctx, key("k"), 7)
	fmt.Println(ctx.Value(ctxKey{}), ctx.Value(key("k")), ctx.Value("k"))
	sum := 0
	for v := range producer(ctx, 100) {
		if sum += v; v == 10 {
			cancel()
			break
		}
	}
	fmt.Println(sum, ctx.Err(), context.Cause(ctx))
	tctx, c2 := context.WithTimeout(context.Background(), 5*time.Millisecond)
	<-tctx.Done()
	fmt.Println(tctx.Err(), errors.Is(tctx.Err(), context.DeadlineExceeded))
	c2()
	jobs, results := make(chan int, 10), make(chan [2]int, 10)
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Add(1)
		go worker(i, jobs, results, &wg)
	}
	for i := range 5 {
		jobs <- i
	}
	close(jobs)
	go func() { wg.Wait(); close(results) }()
	tot := 0
	for r := range results {
		tot += r[1]
	}
	fmt.Println(tot)
	var once sync.Once
	for range 3 {
		once.Do(func() { fmt.Println("once") })
	}
	var n atomic.Int64
	var g sync.WaitGroup
	for range 20 {
		g.Go(func() { n.Add(2) })
	}
	g.Wait()
	fmt.Println(n.Load())
	ch := make(chan string)
	select {
	case s := <-ch:
		fmt.Println(s)
	case <-time.After(2 * time.Millisecond):
		fmt.Println("timeout")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for s := range ch {
			fmt.Print(s, " ")
		}
		fmt.Println()
	}()
	for _, s := range []string{"a", "b"} {
		ch <- s
	}
	close(ch)
	<-done
	v, ok := <-ch
	fmt.Printf("%q %v\n", v, ok)
	var nilch chan int
	select {
	case <-nilch:
	default:
		fmt.Println("default")
	}
	cond := sync.NewCond(&sync.Mutex{})
	ready := false
	go func() { cond.L.Lock(); ready = true; cond.L.Unlock(); cond.Broadcast() }()
	cond.L.Lock()
	for !ready {
		cond.Wait()
	}
	cond.L.Unlock()
	fmt.Println("ready")
	pool := sync.Pool{New: func() any { return &res{"new"} }}
	fmt.Println(pool.Get().(*res).name)
	var sm sync.Map
	sm.Store("a", res{"x"})
	vv, _ := sm.Load("a")
	fmt.Println(vv.(res).name)
	sm.Range(func(k, v any) bool { fmt.Println(k, v); return true })
	tick := time.NewTicker(time.Millisecond)
	cnt := 0
	for range tick.C {
		if cnt++; cnt == 3 {
			tick.Stop()
			break
		}
	}
	fmt.Println(cnt)
	f := sync.OnceValue(func() int { fmt.Println("computing"); return 42 })
	fmt.Println(f(), f())
	errc := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				errc <- fmt.Errorf("goroutine: %v", r)
			}
		}()
		var p *res
		fmt.Println(p.name)
	}()
	fmt.Println(<-errc)
	sem := make(chan struct{}, 2)
	var active, peak int32
	var w2 sync.WaitGroup
	for range 6 {
		w2.Add(1)
		go func() {
			defer w2.Done()
			sem <- struct{}{}
			defer func() { <-sem }()
			if a := atomic.AddInt32(&active, 1); a > atomic.LoadInt32(&peak) {
				atomic.StoreInt32(&peak, a)
			}
			time.Sleep(time.Millisecond)
			atomic.AddInt32(&active, -1)
		}()
	}
	w2.Wait()
	fmt.Println(peak <= 2)
	chans := []chan int{make(chan int, 1), make(chan int, 1)}
	chans[1] <- 5
	select {
	case v := <-chans[0]:
		fmt.Println(0, v)
	case chans[0] <- 1:
		fmt.Println("sent")
	}
	type msg struct {
		id    int
		reply chan string
	}
	reqs := make(chan msg)
	go func() {
		for m := range reqs {
			m.reply <- fmt.Sprint("r", m.id)
		}
	}()
	m := msg{3, make(chan string)}
	reqs <- m
	fmt.Println(<-m.reply)
	time.AfterFunc(time.Millisecond, func() { errc <- MyErr{9} })
	fmt.Println(<-errc)
	stop := context.AfterFunc(ctx, func() { errc <- context.Cause(ctx) })
	fmt.Println(<-errc, stop())
}
