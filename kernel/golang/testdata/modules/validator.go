package main

import (
	"fmt"

	"github.com/go-playground/validator/v10"
)

type user struct {
	Name  string   `validate:"required"`
	Email string   `validate:"required,email"`
	Age   int      `validate:"gte=0,lte=130"`
	Tags  []string `validate:"dive,required"`
}

func main() {
	v := validator.New()
	fmt.Println(v.Struct(user{"Ann", "a@b.c", 3, []string{"x"}}))
	err := v.Struct(user{"", "bad", 200, []string{""}})
	for _, e := range err.(validator.ValidationErrors) {
		fmt.Println(e.Namespace(), e.Tag(), e.Param(), e.Value())
	}
	fmt.Println(v.Var("x", "required,min=3"))
}
