package main

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/gosimple/slug"
)

func main() {
	fmt.Println(humanize.Bytes(82854982), humanize.Comma(1234567), humanize.Ordinal(3), humanize.SI(0.0022, "F"))
	t := time.Now()
	fmt.Println(humanize.RelTime(t, t.Add(3*time.Hour), "ago", "later"), slug.Make("Hellö Wörld & co"))
}
