package main

import (
	"fmt"

	"dario.cat/mergo"
	"github.com/huandu/xstrings"
	"github.com/iancoleman/strcase"
	"github.com/jinzhu/copier"
	"github.com/jinzhu/inflection"
	"github.com/mitchellh/copystructure"
)

type A struct {
	Name string
	N    int
}

type B struct {
	Name string
	N    int64
}

func main() {
	var b B
	fmt.Println(copier.Copy(&b, A{"x", 3}), b)
	fmt.Println(inflection.Plural("person"), strcase.ToSnake("HelloWorld"), xstrings.Reverse("abc"))
	d := A{Name: "keep"}
	fmt.Println(mergo.Merge(&d, A{"other", 7}), d)
	c, err := copystructure.Copy(map[string][]int{"a": {1}})
	fmt.Println(c, err)
}
