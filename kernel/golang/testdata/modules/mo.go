package main

import (
	"fmt"
	"github.com/samber/mo"
)

func main() {
	a := mo.Some(42)
	b := mo.None[int]()
	fmt.Println(a.OrElse(1), b.OrElse(1), a.Map(func(x int) (int, bool) { return x * 2, true }))
	r := mo.Try(func() (int, error) { return 0, fmt.Errorf("bad") })
	fmt.Println(r.IsError(), r.Error(), r.OrElse(7))
	e := mo.Left[string, int]("left")
	fmt.Println(e.IsLeft(), e.MustLeft())
	j, err := a.MarshalJSON()
	fmt.Println(string(j), err)
	f := mo.NewFuture(func(resolve func(string), reject func(error)) { resolve("done") })
	fmt.Println(f.Collect())
}
