package main

import (
	"bytes"
	"fmt"
	"github.com/go-pdf/fpdf"
)

func main() {
	pdf := fpdf.New("P", "mm", "A4", "")
	pdf.AddPage()
	pdf.SetFont("Arial", "B", 16)
	pdf.Cell(40, 10, "Hello, world")
	pdf.Line(10, 30, 100, 30)
	var b bytes.Buffer
	err := pdf.Output(&b)
	fmt.Println(err, bytes.HasPrefix(b.Bytes(), []byte("%PDF-1.3")), b.Len() > 800, pdf.GetStringWidth("Hello") > 10)
}
