package main

import (
	"context"
	"database/sql"
	"fmt"
	"github.com/DATA-DOG/go-sqlmock"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
)

type User struct {
	bun.BaseModel `bun:"table:users,alias:u"`
	ID            int64 `bun:",pk,autoincrement"`
	Name          string
	Emails        []string
}

func main() {
	sqldb, mock, err := sqlmock.New(sqlmock.QueryMatcherOption(sqlmock.QueryMatcherEqual))
	if err != nil {
		panic(err)
	}
	db := bun.NewDB(sqldb, pgdialect.New())
	fmt.Println(db.NewSelect().Model((*User)(nil)).Where("id > ?", 3).Where("? = ?", bun.Ident("name"), "x'y").Limit(2).String())
	fmt.Println(db.NewCreateTable().Model((*User)(nil)).IfNotExists().String())
	mock.ExpectQuery(`SELECT "u"."id", "u"."name", "u"."emails" FROM "users" AS "u"`).WillReturnRows(sqlmock.NewRows([]string{"id", "name", "emails"}).AddRow(1, "a", `["q"]`))
	var us []User
	fmt.Println(db.NewSelect().Model(&us).Scan(context.Background()), us)
	var _ *sql.DB = db.DB
}
