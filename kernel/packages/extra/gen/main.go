// Command gen writes the tables of kernel/packages/extra.
package main

import (
	"log"

	"gocuda/kernel/internal/extract"
)

func main() {
	log.SetFlags(0)
	files, err := extract.ExtraPackages("extra")
	if err == nil {
		err = extract.Write(files)
	}
	if err != nil {
		log.Fatal("gen: ", err)
	}
}
