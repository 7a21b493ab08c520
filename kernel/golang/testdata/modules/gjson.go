package main

import (
	"fmt"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

func main() {
	j := `{"name":{"first":"Ann"},"kids":[{"n":1},{"n":2}],"x":1.5}`
	fmt.Println(gjson.Get(j, "name.first"), gjson.Get(j, "kids.#.n"), gjson.Get(j, "kids.#(n==2).n").Int(), gjson.Get(j, "x").Float(), gjson.Valid(j))
	gjson.Get(j, "kids").ForEach(func(k, v gjson.Result) bool { fmt.Println(k, v); return true })
	s, err := sjson.Set(j, "kids.1.n", 9)
	fmt.Println(s, err)
	s, _ = sjson.Delete(s, "name")
	fmt.Println(s)
}
