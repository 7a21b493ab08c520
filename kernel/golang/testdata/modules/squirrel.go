package main

import (
	"database/sql"
	"fmt"
	"github.com/DATA-DOG/go-sqlmock"
	sq "github.com/Masterminds/squirrel"
)

func main() {
	q, args, err := sq.Select("id", "name").From("users").Where(sq.Eq{"dept": []int{1, 2}}).Where(sq.Or{sq.Gt{"age": 30}, sq.Expr("x IS NULL")}).OrderBy("id").Limit(5).PlaceholderFormat(sq.Dollar).ToSql()
	fmt.Println(q, args, err)
	q, args, err = sq.Insert("t").Columns("a", "b").Values(1, "x").Suffix("RETURNING id").ToSql()
	fmt.Println(q, args, err)
	db, mock, err := sqlmock.New()
	if err != nil {
		panic(err)
	}
	defer db.Close()
	mock.ExpectQuery("SELECT name").WithArgs(1).WillReturnRows(sqlmock.NewRows([]string{"name", "n"}).AddRow("bo", 4).AddRow(nil, 5))
	rows, err := db.Query("SELECT name, n FROM t WHERE id = ?", 1)
	fmt.Println(err)
	for rows.Next() {
		var s sql.NullString
		var n int
		fmt.Println(rows.Scan(&s, &n), s, n)
	}
	fmt.Println(mock.ExpectationsWereMet())
	_, err = db.Exec("DELETE FROM t")
	fmt.Println(err)
}
