package main

import (
	"fmt"
	badger "github.com/dgraph-io/badger/v4"
)

func main() {
	db, err := badger.Open(badger.DefaultOptions("").WithInMemory(true).WithLogger(nil))
	if err != nil {
		panic(err)
	}
	defer db.Close()
	fmt.Println(db.Update(func(txn *badger.Txn) error {
		for i := range 3 {
			if err := txn.Set(fmt.Appendf(nil, "k%d", i), fmt.Appendf(nil, "v%d", i)); err != nil {
				return err
			}
		}
		return nil
	}))
	db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			it.Item().Value(func(v []byte) error { fmt.Printf("%s=%s\n", it.Item().Key(), v); return nil })
		}
		_, err := txn.Get([]byte("none"))
		fmt.Println(err)
		return nil
	})
}
