package main

import (
	"fmt"
	"github.com/cockroachdb/apd/v3"
	"github.com/hashicorp/go-version"
	"github.com/holiman/uint256"
)

func main() {
	a, _ := uint256.FromHex("0xffffffffffffffffffffffff")
	b := uint256.NewInt(1e18)
	fmt.Println(new(uint256.Int).Mul(a, b), new(uint256.Int).Div(a, b).Dec(), a.Gt(b), new(uint256.Int).Exp(b, uint256.NewInt(3)))
	c := apd.BaseContext.WithPrecision(30)
	d := new(apd.Decimal)
	_, err := c.Quo(d, apd.New(1, 0), apd.New(3, 0))
	fmt.Println(d, err)
	c.Sqrt(d, apd.New(2, 0))
	fmt.Println(d)
	v1, _ := version.NewVersion("1.2.3-beta")
	cs, _ := version.NewConstraint(">= 1.0, < 1.4")
	v2 := version.Must(version.NewVersion("1.3"))
	fmt.Println(v1.LessThan(v2), cs.Check(v2), v1.Segments(), v1)
}
