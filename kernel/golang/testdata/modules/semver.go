package main

import (
	"fmt"
	"sort"

	"github.com/Masterminds/semver/v3"
)

func main() {
	v := semver.MustParse("1.2.3-beta.1")
	c, err := semver.NewConstraint(">= 1.2, < 2.0.0 || ^3")
	fmt.Println(v.Major(), v.Prerelease(), err, c.Check(semver.MustParse("1.5.0")), c.Check(semver.MustParse("2.1.0")))
	l := semver.Collection{semver.MustParse("1.10.0"), semver.MustParse("1.9.0"), v}
	sort.Sort(l)
	fmt.Println(l[0], l[1], l[2], v.IncMinor())
	_, err = semver.NewVersion("x")
	fmt.Println(err)
}
