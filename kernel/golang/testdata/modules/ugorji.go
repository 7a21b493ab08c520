package main

import (
	"fmt"

	"github.com/ugorji/go/codec"
)

func main() {
	var h codec.MsgpackHandle
	var b []byte
	fmt.Println(codec.NewEncoderBytes(&b, &h).Encode(map[string]int{"a": 1}))
	var m map[string]int
	fmt.Println(codec.NewDecoderBytes(b, &h).Decode(&m), m)
}
