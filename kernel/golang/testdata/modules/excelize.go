package main

import (
	"bytes"
	"fmt"

	"github.com/xuri/excelize/v2"
)

func main() {
	f := excelize.NewFile()
	fmt.Println(f.SetCellValue("Sheet1", "B2", 42), f.SetCellFormula("Sheet1", "B3", "=B2*2"))
	fmt.Println(f.CalcCellValue("Sheet1", "B3"))
	var b bytes.Buffer
	fmt.Println(f.Write(&b))
	g, err := excelize.OpenReader(&b)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.GetCellValue("Sheet1", "B2"))
	fmt.Println(g.GetRows("Sheet1"))
}
