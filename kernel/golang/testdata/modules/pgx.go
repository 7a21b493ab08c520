package main

import (
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

func main() {
	c, err := pgx.ParseConfig("postgres://u:p@host:5433/db?sslmode=disable")
	fmt.Println(c.Host, c.Port, c.Database, err)
	m := pgtype.NewMap()
	b, err := m.Encode(pgtype.Int4ArrayOID, pgtype.TextFormatCode, []int32{1, 2}, nil)
	fmt.Println(string(b), err)
	var l []string
	fmt.Println(m.Scan(pgtype.TextArrayOID, pgtype.TextFormatCode, []byte("{a,b}"), &l), l)
	fmt.Println(pgx.Identifier{"a", "b"}.Sanitize())
}
