package main

import (
	"fmt"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/nats-io/nuid"
)

func main() {
	m := nats.NewMsg("foo.bar")
	m.Header.Add("X", "y")
	m.Data = []byte("hello")
	fmt.Println(m.Subject, m.Header, m.Size())
	_, err := nats.Connect("nats://127.0.0.1:1")
	fmt.Println(err)
	fmt.Println(len(nuid.Next()))
	u, err := nkeys.CreateUser()
	sig, err2 := u.Sign([]byte("x"))
	fmt.Println(err, err2, u.Verify([]byte("x"), sig))
}
