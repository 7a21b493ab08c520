package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

type claims struct {
	User string `json:"user"`
	jwt.RegisteredClaims
}

func main() {
	key := []byte("secret")
	c := claims{"ann", jwt.RegisteredClaims{ExpiresAt: jwt.NewNumericDate(time.Unix(4000000000, 0)), Subject: "s"}}
	s, err := jwt.NewWithClaims(jwt.SigningMethodHS256, c).SignedString(key)
	fmt.Println(s, err)
	t, err := jwt.ParseWithClaims(s, &claims{}, func(t *jwt.Token) (any, error) { return key, nil })
	fmt.Println(t.Valid, err, t.Claims.(*claims).User)
	_, err = jwt.Parse(s, func(t *jwt.Token) (any, error) { return []byte("other"), nil })
	fmt.Println(err, errors.Is(err, jwt.ErrTokenSignatureInvalid))
}
