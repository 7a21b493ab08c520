package main

import (
	"fmt"
	"github.com/Jeffail/gabs/v2"
	"github.com/buger/jsonparser"
	"github.com/valyala/fastjson"
)

func main() {
	data := []byte(`{"person":{"name":{"first":"Leo","n":[1,2,3]},"ok":true},"f":1.5}`)
	fmt.Println(jsonparser.GetString(data, "person", "name", "first"))
	jsonparser.ArrayEach(data, func(v []byte, t jsonparser.ValueType, off int, err error) { fmt.Println(string(v), t, off) }, "person", "name", "n")
	var p fastjson.Parser
	v, err := p.ParseBytes(data)
	fmt.Println(v.GetFloat64("f"), string(v.GetStringBytes("person", "name", "first")), v.Get("person"), err)
	g, err := gabs.ParseJSON(data)
	g.Set("new", "person", "extra", "deep")
	fmt.Println(g.Path("person.name.first").Data(), g.ExistsP("person.ok"), err)
	fmt.Println(g.StringIndent("", " "))
	_, err = fastjson.Parse(`{"a":`)
	fmt.Println(err)
}
