package main

import (
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

func main() {
	type t struct {
		A int    `cbor:"1,keyasint"`
		B string `cbor:"b"`
	}
	b, err := cbor.Marshal(t{5, "x"})
	fmt.Printf("%x %v\n", b, err)
	var v t
	fmt.Println(cbor.Unmarshal(b, &v), v)
	s, err := cbor.Diagnose(b)
	fmt.Println(s, err)
}
