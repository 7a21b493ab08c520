package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/golang/snappy"
	"github.com/pierrec/lz4/v4"
)

func main() {
	text := bytes.Repeat([]byte("hello "), 50)
	back, err := snappy.Decode(nil, snappy.Encode(nil, text))
	fmt.Println(bytes.Equal(back, text), err)
	var b bytes.Buffer
	w := lz4.NewWriter(&b)
	w.Write(text)
	fmt.Println(w.Close())
	back, err = io.ReadAll(lz4.NewReader(&b))
	fmt.Println(bytes.Equal(back, text), err)
}
