package main

import (
	"fmt"
	"github.com/casbin/casbin/v2"
	"github.com/casbin/casbin/v2/model"
)

func main() {
	m, err := model.NewModelFromString("[request_definition]\nr = sub, obj, act\n[policy_definition]\np = sub, obj, act\n[policy_effect]\ne = some(where (p.eft == allow))\n[matchers]\nm = r.sub == p.sub && keyMatch(r.obj, p.obj) && r.act == p.act\n")
	if err != nil {
		panic(err)
	}
	e, err := casbin.NewEnforcer(m)
	if err != nil {
		panic(err)
	}
	e.AddPolicy("alice", "/data/*", "read")
	fmt.Println(e.Enforce("alice", "/data/1", "read"))
	fmt.Println(e.Enforce("alice", "/data/1", "write"))
	fmt.Println(e.GetPolicy())
}
