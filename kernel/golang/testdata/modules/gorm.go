package main

import (
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/utils/tests"
)

type User struct {
	ID   uint
	Name string `gorm:"column:user_name"`
	Age  int
}

func main() {
	db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true, Logger: logger.Discard})
	if err != nil {
		fmt.Println(err)
		return
	}
	var us []User
	st := db.Where("age > ?", 3).Order("name").Limit(2).Find(&us).Statement
	fmt.Println(st.SQL.String(), st.Vars)
	st = db.Create(&User{Name: "a", Age: 4}).Statement
	fmt.Println(st.SQL.String(), len(st.Vars))
}
