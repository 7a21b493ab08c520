package main

import (
	"fmt"

	"github.com/spf13/afero"
	"github.com/spf13/cast"
)

func main() {
	fs := afero.NewMemMapFs()
	fmt.Println(afero.WriteFile(fs, "/a/b.txt", []byte("x"), 0o644))
	b, err := afero.ReadFile(fs, "/a/b.txt")
	fmt.Println(string(b), err)
	ok, _ := afero.Exists(fs, "/none")
	l, _ := afero.Glob(fs, "/a/*")
	fmt.Println(ok, l, cast.ToInt("8"), cast.ToStringSlice("a b"), cast.ToBool("true"), cast.ToDuration("3s"))
	_, err = fs.Open("/none")
	fmt.Println(err)
}
