package main

import (
	"fmt"

	"github.com/gocarina/gocsv"
)

type row struct {
	Name string `csv:"name"`
	N    int    `csv:"n"`
}

func main() {
	var l []*row
	fmt.Println(gocsv.UnmarshalString("name,n\nx,1\ny,2\n", &l), len(l), *l[0], *l[1])
	s, err := gocsv.MarshalString(&l)
	fmt.Print(s, err, "\n")
}
