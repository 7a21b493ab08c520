package main

import (
	"bytes"
	"filippo.io/age"
	"fmt"
	"io"
)

func main() {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		panic(err)
	}
	var b bytes.Buffer
	w, err := age.Encrypt(&b, id.Recipient())
	fmt.Println(err)
	io.WriteString(w, "secret text")
	w.Close()
	r, err := age.Decrypt(&b, id)
	fmt.Println(err)
	out, err := io.ReadAll(r)
	fmt.Println(string(out), err)
	_, err = age.ParseX25519Identity("nope")
	fmt.Println(err)
}
