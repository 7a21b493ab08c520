package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

func main() {
	text := bytes.Repeat([]byte("hello "), 50)
	e, _ := zstd.NewWriter(nil)
	d, _ := zstd.NewReader(nil)
	c := e.EncodeAll(text, nil)
	back, err := d.DecodeAll(c, nil)
	fmt.Println(len(c) < len(text), bytes.Equal(back, text), err)
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(text)
	w.Close()
	r, _ := gzip.NewReader(&b)
	back, err = io.ReadAll(r)
	fmt.Println(bytes.Equal(back, text), err)
	back, err = s2.Decode(nil, s2.Encode(nil, text))
	fmt.Println(bytes.Equal(back, text), err)
}
