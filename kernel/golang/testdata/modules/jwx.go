package main

import (
	"fmt"
	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwt"
)

func main() {
	tok, err := jwt.NewBuilder().Issuer("me").Claim("n", 5).Build()
	fmt.Println(err)
	signed, err := jwt.Sign(tok, jwt.WithKey(jwa.HS256, []byte("secret")))
	fmt.Println(string(signed), err)
	v, err := jwt.Parse(signed, jwt.WithKey(jwa.HS256, []byte("secret")))
	fmt.Println(v.Issuer(), err)
	_, err = jwt.Parse(signed, jwt.WithKey(jwa.HS256, []byte("wrong")))
	fmt.Println(err)
}
