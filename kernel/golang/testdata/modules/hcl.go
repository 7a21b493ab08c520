package main

import (
	"fmt"

	"github.com/hashicorp/hcl/v2/hclsimple"
	"github.com/zclconf/go-cty/cty"
)

func main() {
	var c struct {
		Name string `hcl:"name"`
		Svc  []struct {
			Kind string `hcl:"kind,label"`
			Port int    `hcl:"port"`
		} `hcl:"service,block"`
	}
	err := hclsimple.Decode("x.hcl", []byte("name = \"n${1+1}\"\nservice \"web\" {\n port = 80\n}\n"), nil, &c)
	fmt.Println(c, err)
	fmt.Println(cty.ObjectVal(map[string]cty.Value{"a": cty.NumberIntVal(1)}).GoString())
}
