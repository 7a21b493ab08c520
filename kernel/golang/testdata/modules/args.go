package main

import (
	"fmt"
	"github.com/alexflint/go-arg"
	"github.com/jessevdk/go-flags"
	"os"
)

func main() {
	var o struct {
		Verbose []bool                  `short:"v" long:"verbose" description:"say more"`
		Name    string                  `short:"n" long:"name" required:"true"`
		Ptr     *int                    `short:"p"`
		Map     map[string]int          `long:"map"`
		Pos     struct{ Rest []string } `positional-args:"yes"`
	}
	rest, err := flags.ParseArgs(&o, []string{"-vv", "--name=bo", "-p", "3", "--map=a:1", "x", "y"})
	fmt.Println(len(o.Verbose), o.Name, *o.Ptr, o.Map, o.Pos.Rest, rest, err)
	_, err = flags.NewParser(&o, flags.None).ParseArgs([]string{"--bad"})
	fmt.Println(err)
	var a struct {
		Input  string   `arg:"positional,required" help:"file"`
		Output []string `arg:"positional"`
		Level  int      `arg:"-l,--level,env:LEVEL" default:"3"`
	}
	p, err := arg.NewParser(arg.Config{Program: "prog"}, &a)
	fmt.Println(err, p.Parse([]string{"in", "o1", "o2", "-l", "7"}), a)
	p.WriteHelp(os.Stdout)
	fmt.Println(p.Parse(nil))
}
