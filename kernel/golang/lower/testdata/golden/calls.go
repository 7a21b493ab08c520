package main

import (
	"fmt"
	"os"
	"strings"
)

type counter struct{ n int }

func (c *counter) add(d int) int     { c.n += d; return c.n }
func (c counter) get() int           { return c.n }
func (c counter) all(x ...any) []any { return x }

type wrapper struct{ *counter }

func pair() (int, string)          { return 1, "a" }
func take(n int, s string)         {}
func many(s string, xs ...int) int { return len(xs) }

func main() {
	c, w := counter{}, wrapper{&counter{}}
	take(pair())
	many("none")
	many("one", c.add(1))
	many("list", []int{1, 2}...)
	fmt.Println(c.add(1), c.get(), w.add(2), w.get(), (&c).get())
	fmt.Println(pair())
	add, get := c.add, (*counter).add
	fmt.Println(add(1), get(&c, 2), counter.get(c), len(c.all()))
	up := strings.ToUpper
	b := new(strings.Builder)
	write := b.WriteString
	write(up("x"))
	f := func(xs ...string) int { return len(xs) }
	fmt.Println(f("a", b.String()), f())
	fs := map[string]func(int) int{"add": c.add}
	fmt.Println(fs["add"](3))
	go c.add(1)
	os.Exit(many("exit"))
}
