package main

import (
	"fmt"
	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
	"github.com/tdewolff/minify/v2/html"
	"github.com/tdewolff/minify/v2/js"
)

func main() {
	m := minify.New()
	m.AddFunc("text/css", css.Minify)
	m.AddFunc("text/html", html.Minify)
	m.AddFunc("application/javascript", js.Minify)
	fmt.Println(m.String("text/css", "body { color: #ff0000; margin: 0px 0px; }"))
	fmt.Println(m.String("text/html", "<html>  <body> <p> a  b </p> <style> p { color : red } </style></body></html>"))
	fmt.Println(m.String("application/javascript", "function f ( a ) { var x = 1 + 2 ; return x ; } // c"))
	_, err := m.String("text/none", "x")
	fmt.Println(err)
}
