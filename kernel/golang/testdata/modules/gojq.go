package main

import (
	"fmt"
	"github.com/Knetic/govaluate"
	"github.com/itchyny/gojq"
)

func main() {
	q, err := gojq.Parse(`.foo | map(.a * 2) | {sum: add, max: max}`)
	if err != nil {
		panic(err)
	}
	it := q.Run(map[string]any{"foo": []any{map[string]any{"a": 1}, map[string]any{"a": 2.5}}})
	for v, ok := it.Next(); ok; v, ok = it.Next() {
		fmt.Println(v)
	}
	_, err = gojq.Parse(".a | [")
	fmt.Println(err)
	e, err := govaluate.NewEvaluableExpression("(requests * 2 > 100) && name =~ '^a'")
	fmt.Println(err)
	fmt.Println(e.Evaluate(map[string]any{"requests": 51, "name": "abc"}))
}
