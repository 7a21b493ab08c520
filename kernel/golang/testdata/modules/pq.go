package main

import (
	"fmt"

	"github.com/go-sql-driver/mysql"
	"github.com/lib/pq"
)

func main() {
	fmt.Println(pq.QuoteIdentifier(`a"b`), pq.QuoteLiteral("it's"))
	v, err := pq.Array([]string{"a", "b,c"}).Value()
	fmt.Println(v, err)
	var out []int64
	fmt.Println(pq.Array(&out).Scan("{1,2}"), out)
	c, err := mysql.ParseDSN("u:p@tcp(h:3306)/db?parseTime=true")
	fmt.Println(c.User, c.Addr, c.ParseTime, err)
	fmt.Println(c.FormatDSN())
}
