package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"
)

func main() {
	fs := pflag.NewFlagSet("x", pflag.ContinueOnError)
	fs.SetOutput(os.Stdout)
	n := fs.IntP("num", "n", 4, "a number")
	d := fs.Duration("wait", time.Second, "how long")
	l := fs.StringSlice("list", nil, "a list")
	fmt.Println(fs.Parse([]string{"-n5", "--wait", "3m", "--list=a,b", "--list", "c", "rest"}))
	fmt.Println(*n, *d, *l, fs.Args(), fs.Changed("num"))
	fmt.Println(fs.Parse([]string{"--nope"}))
	fs.PrintDefaults()
}
