package main

import (
	"fmt"
	"github.com/osteele/liquid"
)

func main() {
	e := liquid.NewEngine()
	out, err := e.ParseAndRenderString(`<h1>{{ page.title | upcase }}</h1>{% for x in xs %}{{ forloop.index }}:{{ x }},{% endfor %}{% if n > 3 %}big{% else %}small{% endif %}`,
		map[string]any{"page": map[string]string{"title": "Intro"}, "xs": []int{5, 6}, "n": 4})
	fmt.Println(out, err)
	_, err = e.ParseAndRenderString("{% for %}", nil)
	fmt.Println(err)
}
