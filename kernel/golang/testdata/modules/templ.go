package main

import (
	"fmt"

	"github.com/aymerick/raymond"
	"github.com/cbroglie/mustache"
	"github.com/flosch/pongo2/v6"
)

func main() {
	t, err := pongo2.FromString("Hello {{ name|capfirst }}{% for i in l %} {{ i }}{% endfor %}")
	fmt.Println(err)
	fmt.Println(t.Execute(pongo2.Context{"name": "ann", "l": []int{1, 2}}))
	fmt.Println(mustache.Render("{{#l}}<{{.}}>{{/l}}{{x}}", map[string]any{"l": []string{"a"}, "x": 3}))
	fmt.Println(raymond.Render("{{#each l}}{{this}},{{/each}}{{x}}", map[string]any{"l": []int{1, 2}, "x": "y"}))
}
