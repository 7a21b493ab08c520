// Command gen writes the tables of kernel/packages.
package main

import (
	"log"

	"gocuda/kernel/internal/extract"
)

func main() {
	log.SetFlags(0)
	files, err := extract.HostPackages("packages", extract.Importable)
	if err != nil {
		log.Fatal("gen: ", err)
	}
	if err := extract.Write(files); err != nil {
		log.Fatal("gen: ", err)
	}
}
