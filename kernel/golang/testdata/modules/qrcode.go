package main

import (
	"crypto/sha256"
	"fmt"
	"github.com/skip2/go-qrcode"
)

func main() {
	q, err := qrcode.New("https://example.org", qrcode.Medium)
	fmt.Println(err)
	fmt.Println(q.ToSmallString(false))
	png, err := q.PNG(64)
	fmt.Printf("%x %v\n", sha256.Sum256(png), err)
}
