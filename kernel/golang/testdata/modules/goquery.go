package main

import (
	"fmt"
	"strings"

	"github.com/PuerkitoBio/goquery"
)

func main() {
	d, err := goquery.NewDocumentFromReader(strings.NewReader(`<ul><li class="a">1</li><li>2 <b>x</b></li></ul>`))
	fmt.Println(err)
	d.Find("li").Each(func(i int, s *goquery.Selection) { fmt.Println(i, s.Text(), s.HasClass("a")) })
	h, _ := d.Find("ul > li:last-child").Html()
	fmt.Println(h)
}
