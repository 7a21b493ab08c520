package main

import (
	"fmt"
	"github.com/hashicorp/go-memdb"
)

type Person struct {
	Email, Name string
	Age         int
}

func main() {
	schema := &memdb.DBSchema{Tables: map[string]*memdb.TableSchema{"person": {Name: "person", Indexes: map[string]*memdb.IndexSchema{
		"id":  {Name: "id", Unique: true, Indexer: &memdb.StringFieldIndex{Field: "Email"}},
		"age": {Name: "age", Indexer: &memdb.IntFieldIndex{Field: "Age"}},
	}}}}
	db, err := memdb.NewMemDB(schema)
	if err != nil {
		panic(err)
	}
	txn := db.Txn(true)
	for _, p := range []*Person{{"joe@x", "Joe", 30}, {"lucy@x", "Lucy", 35}, {"tariq@x", "Tariq", 21}} {
		if err := txn.Insert("person", p); err != nil {
			panic(err)
		}
	}
	txn.Commit()
	txn = db.Txn(false)
	raw, err := txn.First("person", "id", "joe@x")
	fmt.Println(raw.(*Person).Name, err)
	it, err := txn.LowerBound("person", "age", 25)
	for o := it.Next(); o != nil; o = it.Next() {
		fmt.Println(*o.(*Person), err)
	}
}
