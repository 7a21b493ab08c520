package main

import (
	"fmt"

	"github.com/stretchr/objx"
	"github.com/stretchr/testify/mock"
)

type greeter struct{ mock.Mock }

func (g *greeter) Greet(name string) string { return g.Called(name).String(0) }

func main() {
	m := &greeter{}
	m.On("Greet", "ann").Return("hi ann")
	fmt.Println(m.Greet("ann"))
	fmt.Println(len(m.Calls), m.Calls[0].Method)
	fmt.Println(objx.MustFromJSON(`{"a":{"b":[1,2]}}`).Get("a.b[1]").Float64())
}
