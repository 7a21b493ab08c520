// Command gen writes the tables of kernel/packages.
package main

import (
	"log"
	"os"
	"path/filepath"

	"gocuda/kernel/internal/extract"
)

func main() {
	log.SetFlags(0)
	files, err := extract.HostPackages("packages", extract.Importable)
	if err != nil {
		log.Fatal("gen: ", err)
	}
	old, err := filepath.Glob("*_gen.go")
	if err != nil {
		log.Fatal("gen: ", err)
	}
	for _, name := range old {
		if files[name] == nil {
			os.Remove(name)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			log.Fatal("gen: ", err)
		}
	}
}
