package main

import (
	"fmt"

	"github.com/evanphx/json-patch/v5"
)

func main() {
	p, err := jsonpatch.DecodePatch([]byte(`[{"op":"replace","path":"/a","value":2},{"op":"add","path":"/l/-","value":3}]`))
	fmt.Println(err)
	b, err := p.Apply([]byte(`{"a":1,"l":[1]}`))
	fmt.Println(string(b), err)
	m, err := jsonpatch.CreateMergePatch([]byte(`{"a":1,"b":2}`), []byte(`{"a":1,"b":3}`))
	fmt.Println(string(m), err)
}
