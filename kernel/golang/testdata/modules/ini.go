package main

import (
	"fmt"
	"gopkg.in/ini.v1"
	"os"
)

func main() {
	cfg, err := ini.Load([]byte("app = demo\n[server]\nport = 8080\nhosts = a, b ,c\n[paths]\ndata = %(root)s/data\nroot = /tmp\n"))
	fmt.Println(err, cfg.Section("").Key("app"), cfg.Section("server").Key("port").MustInt(1), cfg.Section("server").Key("hosts").Strings(","))
	fmt.Println(cfg.Section("paths").Key("data"))
	type Server struct {
		Port  int
		Hosts []string
	}
	type All struct {
		App    string `ini:"app"`
		Server `ini:"server"`
	}
	var a All
	fmt.Println(ini.MapTo(&a, []byte("app=x\n[server]\nPort=5\nHosts=q,r")), a)
	out := ini.Empty()
	fmt.Println(ini.ReflectFrom(out, &a))
	out.WriteTo(os.Stdout)
}
