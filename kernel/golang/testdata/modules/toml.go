package main

import (
	"fmt"
	"os"
	"time"

	"github.com/BurntSushi/toml"
)

type conf struct {
	Title string `toml:"title"`
	Owner struct {
		Name string
		Dob  time.Time
	} `toml:"owner"`
	Item []struct{ N int } `toml:"item"`
}

func main() {
	var c conf
	md, err := toml.Decode("title = \"t\"\nextra = 1\n[owner]\nname = \"n\"\ndob = 1979-05-27T07:32:00Z\n[[item]]\nn = 1\n[[item]]\nn = 2\n", &c)
	fmt.Println(err, c.Title, c.Owner.Name, c.Owner.Dob.Unix(), c.Item, md.Undecoded())
	toml.NewEncoder(os.Stdout).Encode(c)
	_, err = toml.Decode("a = ", &c)
	fmt.Println(err)
}
