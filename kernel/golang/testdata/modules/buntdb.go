package main

import (
	"fmt"
	"github.com/tidwall/buntdb"
)

func main() {
	db, err := buntdb.Open(":memory:")
	if err != nil {
		panic(err)
	}
	defer db.Close()
	db.CreateIndex("age", "*", buntdb.IndexJSON("age"))
	db.Update(func(tx *buntdb.Tx) error {
		tx.Set("1", `{"name":"Tom","age":38}`, nil)
		tx.Set("2", `{"name":"Janet","age":47}`, nil)
		tx.Set("3", `{"name":"Carol","age":5}`, nil)
		return nil
	})
	fmt.Println(db.View(func(tx *buntdb.Tx) error {
		tx.Ascend("age", func(k, v string) bool { fmt.Println(k, v); return true })
		v, err := tx.Get("9")
		fmt.Println(v, err)
		return nil
	}))
}
