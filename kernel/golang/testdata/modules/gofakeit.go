package main

import (
	"fmt"
	"github.com/brianvoe/gofakeit/v7"
)

func main() {
	f := gofakeit.New(11)
	fmt.Println(f.Name(), f.Email(), f.IntRange(1, 10), f.Word())
	type Foo struct {
		Str  string   `fake:"{firstname}"`
		Int  int      `fake:"{number:1,10}"`
		List []string `fakesize:"2"`
	}
	var x Foo
	fmt.Println(f.Struct(&x), x.Str != "", x.Int > 0, len(x.List))
}
