package main

import (
	"fmt"

	"github.com/shopspring/decimal"
)

func main() {
	a := decimal.RequireFromString("0.1")
	b := decimal.NewFromFloat(0.2)
	fmt.Println(a.Add(b), a.Div(decimal.NewFromInt(3)), a.Cmp(b), decimal.NewFromInt(10).Pow(decimal.NewFromInt(3)))
	fmt.Println(decimal.Sum(a, b, b).StringFixed(3), a.Mul(b).Round(1))
	j, err := a.MarshalJSON()
	fmt.Println(string(j), err)
	_, err = decimal.NewFromString("x")
	fmt.Println(err)
}
