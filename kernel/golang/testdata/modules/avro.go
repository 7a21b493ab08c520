package main

import (
	"fmt"
	"github.com/hamba/avro/v2"
)

func main() {
	schema := avro.MustParse(`{"type":"record","name":"simple","fields":[{"name":"a","type":"long"},{"name":"b","type":"string"},{"name":"c","type":{"type":"array","items":"double"}}]}`)
	type Rec struct {
		A int64     `avro:"a"`
		B string    `avro:"b"`
		C []float64 `avro:"c"`
	}
	data, err := avro.Marshal(schema, Rec{27, "foo", []float64{1.5}})
	fmt.Println(data, err)
	var out Rec
	fmt.Println(avro.Unmarshal(schema, data, &out), out)
	var m map[string]any
	fmt.Println(avro.Unmarshal(schema, data, &m), m)
}
