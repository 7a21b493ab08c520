package main

import (
	"fmt"
	"time"

	"github.com/araddon/dateparse"
	"github.com/jinzhu/now"
)

func main() {
	t, err := dateparse.ParseAny("May 8, 2009 5:57:51 PM")
	fmt.Println(t, err)
	_, err = dateparse.ParseAny("nonsense")
	fmt.Println(err != nil)
	fmt.Println(now.With(time.Date(2024, 5, 15, 1, 2, 3, 0, time.UTC)).EndOfMonth())
}
