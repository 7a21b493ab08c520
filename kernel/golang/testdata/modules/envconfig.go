package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/caarlos0/env/v11"
	"github.com/joho/godotenv"
	"github.com/kelseyhightower/envconfig"
)

func main() {
	os.Setenv("APP_PORT", "80")
	os.Setenv("APP_USERS", "a,b")
	var s struct {
		Port  int
		Users []string
		Wait  string `default:"1s"`
	}
	fmt.Println(envconfig.Process("app", &s), s)
	m, err := godotenv.Parse(strings.NewReader("A=1\nB=\"x y\" # c\n"))
	fmt.Println(m, err)
	type c struct {
		Port int `env:"APP_PORT"`
	}
	v, err := env.ParseAs[c]()
	fmt.Println(v, err)
}
