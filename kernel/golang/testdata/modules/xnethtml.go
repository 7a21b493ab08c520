package main

import (
	"fmt"
	"strings"

	"golang.org/x/net/context"
	"golang.org/x/net/html"
	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

func main() {
	n, err := html.Parse(strings.NewReader("<p>a<b>b</b>&lt;<a href=x>l</a>"))
	fmt.Println(err, context.Background())
	var walk func(*html.Node, int)
	walk = func(n *html.Node, d int) {
		fmt.Println(strings.Repeat(" ", d), n.Type, n.Data, n.Attr)
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, d+1)
		}
	}
	walk(n, 0)
	s, err := idna.ToASCII("bücher.example")
	fmt.Println(s, err)
	fmt.Println(publicsuffix.EffectiveTLDPlusOne("www.example.co.uk"))
}
