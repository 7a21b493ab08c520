package main

import (
	"fmt"
	"reflect"

	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"
)

type row struct {
	Name string `db:"name"`
	Age  int    `db:"age"`
}

func nil2() reflect.Type { return reflect.TypeOf(row{}) }

func main() {
	q, args, err := sqlx.In("SELECT * FROM t WHERE id IN (?) AND x = ?", []int{1, 2, 3}, "y")
	fmt.Println(q, args, err)
	fmt.Println(sqlx.Rebind(sqlx.DOLLAR, q))
	q, args, err = sqlx.Named("INSERT INTO t VALUES (:name, :age)", row{"a", 3})
	fmt.Println(q, args, err)
	m := reflectx.NewMapper("db")
	fmt.Println(len(m.TypeMap(nil2()).Index))
}
