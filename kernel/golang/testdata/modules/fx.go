package main

import (
	"fmt"

	"go.uber.org/dig"
	"go.uber.org/fx"
)

type svc struct{ n int }

func main() {
	c := dig.New()
	fmt.Println(c.Provide(func() int { return 4 }), c.Provide(func(n int) string { return fmt.Sprint("n=", n) }))
	fmt.Println(c.Invoke(func(s string) { fmt.Println(s) }))
	app := fx.New(fx.NopLogger, fx.Provide(func() *svc { return &svc{3} }), fx.Invoke(func(s *svc) { fmt.Println("svc", s.n) }))
	fmt.Println(app.Err())
}
