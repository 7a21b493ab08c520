package main

import (
	"fmt"

	"github.com/google/uuid"
)

func main() {
	u := uuid.NewSHA1(uuid.NameSpaceDNS, []byte("example.com"))
	fmt.Println(u, u.Version(), u.Variant())
	_, err := uuid.Parse("zzz")
	fmt.Println(err)
	fmt.Println(len(uuid.NewString()))
	b, _ := u.MarshalText()
	fmt.Printf("%s %v\n", b, uuid.MustParse(string(b)) == u)
}
