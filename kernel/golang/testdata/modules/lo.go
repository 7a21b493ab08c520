package main

import (
	"fmt"
	"strconv"

	"github.com/samber/lo"
)

func main() {
	fmt.Println(lo.Map([]int{1, 2}, func(x, _ int) string { return strconv.Itoa(x * 2) }), lo.Uniq([]int{1, 1, 2}), lo.Sum([]float64{1, 2}))
	fmt.Println(lo.GroupBy([]int{1, 2, 3}, func(i int) bool { return i%2 == 0 })[true], lo.Chunk([]int{1, 2, 3}, 2), lo.Reduce([]int{1, 2}, func(a, b, _ int) int { return a + b }, 0))
	v, ok := lo.Find([]string{"a", "b"}, func(s string) bool { return s > "a" })
	fmt.Println(v, ok, lo.Ternary(ok, 1, 2), lo.Must(strconv.Atoi("5")), lo.T2(1, "x"))
	fmt.Println(lo.Keys(map[string]int{"k": 1}), lo.FromPtr(lo.ToPtr(3)), lo.Flatten([][]int{{1}, {2}}), lo.CamelCase("foo bar"))
}
