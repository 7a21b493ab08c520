package main

import (
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

func main() {
	s, err := jsonschema.CompileString("s.json", `{"type":"object","required":["a"],"properties":{"a":{"type":"integer","minimum":3}}}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Validate(map[string]any{"a": 5.0}))
	err = s.Validate(map[string]any{"a": 1.0})
	fmt.Println(err != nil && strings.Contains(err.Error(), "must be >= 3"))
}
