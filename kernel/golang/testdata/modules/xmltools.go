package main

import (
	"fmt"
	"github.com/antchfx/htmlquery"
	"github.com/beevik/etree"
	"github.com/jszwec/csvutil"
	"os"
	"strings"
)

func main() {
	doc, err := htmlquery.Parse(strings.NewReader(`<ul><li class="a">one</li><li>two <b>x</b></li></ul>`))
	fmt.Println(err)
	for _, n := range htmlquery.Find(doc, "//li[@class='a']|//b") {
		fmt.Println(htmlquery.InnerText(n), htmlquery.OutputHTML(n, true))
	}
	d := etree.NewDocument()
	fmt.Println(d.ReadFromString(`<store><book cat="web"><title>X</title></book><book cat="k"><title>Y</title></book></store>`))
	for _, t := range d.FindElements("//book[@cat='web']/title") {
		fmt.Println(t.Text())
	}
	d.Root().CreateElement("new").CreateAttr("k", "v")
	d.Indent(2)
	d.WriteTo(os.Stdout)
	type U struct {
		Name string  `csv:"name"`
		X    float64 `csv:"x,omitempty"`
	}
	var us []U
	fmt.Println(csvutil.Unmarshal([]byte("name,x\njoe,1.5\nann,\n"), &us), us)
	b, err := csvutil.Marshal(us)
	fmt.Printf("%q %v\n", b, err)
}
