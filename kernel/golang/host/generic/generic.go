// Package generic has, as source, the parts of the standard library that have
// type parameters. No table of compiled symbols can hold those, so cells get
// them as code to interpret. Each is an ordinary Go package too, so that the
// compiler and the tests see what cells run.
package generic

import (
	"embed"
	"path"
	"sort"
)

//go:generate go run ./gen

//go:embed cmp errors hkdf iter maphash maps pbkdf2 rand reflect runtime slices sort sql sync atomic unique weak
var files embed.FS

// dirs maps import paths of the standard library to folders.
var dirs = map[string]string{
	"cmp": "cmp", "crypto/hkdf": "hkdf", "crypto/pbkdf2": "pbkdf2", "database/sql": "sql", "errors": "errors", "hash/maphash": "maphash", "iter": "iter", "maps": "maps",
	"math/rand/v2": "rand", "reflect": "reflect", "runtime": "runtime", "slices": "slices", "sort": "sort", "sync": "sync", "sync/atomic": "atomic", "unique": "unique", "weak": "weak",
}

// Source returns the files of the generic part of a standard package, by
// name, or nil.
func Source(importPath string) map[string]string {
	dir, ok := dirs[importPath]
	if !ok {
		return nil
	}
	entries, err := files.ReadDir(dir)
	if err != nil {
		panic(err) // it is in this binary
	}
	source := make(map[string]string)
	for _, e := range entries {
		text, err := files.ReadFile(path.Join(dir, e.Name()))
		if err != nil {
			panic(err)
		}
		source[e.Name()] = string(text)
	}
	return source
}

// Packages lists the import paths that Source knows.
func Packages() []string {
	var list []string
	for p := range dirs {
		list = append(list, p)
	}
	sort.Strings(list)
	return list
}
