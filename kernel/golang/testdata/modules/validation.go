package main

import (
	"fmt"
	"github.com/asaskevich/govalidator"
	validation "github.com/go-ozzo/ozzo-validation/v4"
	"github.com/go-ozzo/ozzo-validation/v4/is"
)

type Address struct{ Street, City, Zip string }

func (a Address) Validate() error {
	return validation.ValidateStruct(&a, validation.Field(&a.Street, validation.Required, validation.Length(5, 50)),
		validation.Field(&a.City, validation.Required, validation.Length(5, 50)), validation.Field(&a.Zip, validation.In("1", "2")))
}

func main() {
	a := Address{"Street 1", "Xy", "12"}
	fmt.Println(a.Validate())
	fmt.Println(validation.Validate("example", validation.Required, validation.Length(5, 100), is.URL))
	type V struct {
		Email string `valid:"email,required"`
		Age   string `valid:"int~age must be int"`
	}
	ok, err := govalidator.ValidateStruct(V{"a@b.c", "x"})
	fmt.Println(ok, err)
	fmt.Println(govalidator.IsURL("http://a.b"), govalidator.IsIPv4("1.2.3.4"), govalidator.CamelCaseToUnderscore("MyFunc"))
}
