package main

import (
	"bytes"
	"fmt"
	"github.com/parquet-go/parquet-go"
)

func main() {
	type Row struct {
		Name  string   `parquet:"name"`
		Score float64  `parquet:"score"`
		Tags  []string `parquet:"tags,list"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[Row](&b)
	n, err := w.Write([]Row{{"a", 1.5, []string{"x"}}, {"b", 2.5, nil}})
	fmt.Println(n, err, w.Close())
	rows, err := parquet.Read[Row](bytes.NewReader(b.Bytes()), int64(b.Len()))
	fmt.Println(rows, err)
	fmt.Println(parquet.SchemaOf(Row{}))
}
