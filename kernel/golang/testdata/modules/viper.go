package main

import (
	"fmt"
	"strings"

	"github.com/spf13/viper"
)

func main() {
	v := viper.New()
	v.SetConfigType("yaml")
	fmt.Println(v.ReadConfig(strings.NewReader("server:\n  host: h\n  port: 80\nlist: [a, b]\n")))
	v.SetDefault("server.timeout", "3s")
	fmt.Println(v.GetString("server.host"), v.GetInt("server.port"), v.GetDuration("server.timeout"), v.GetStringSlice("list"))
	var c struct {
		Server struct {
			Host string
			Port int
		}
	}
	fmt.Println(v.Unmarshal(&c), c)
}
