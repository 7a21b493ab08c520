package main

import (
	"fmt"

	"github.com/alecthomas/participle/v2"
)

type Expr struct {
	Props []*Prop `@@*`
}

type Prop struct {
	Key   string `@Ident "="`
	Value int    `@Int`
}

func main() {
	parser, err := participle.Build[Expr]()
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := parser.ParseString("", "a = 1 b = 2")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range e.Props {
		fmt.Println(p.Key, p.Value)
	}
}
