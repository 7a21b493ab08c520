package main

import (
	"fmt"

	"github.com/valyala/bytebufferpool"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasttemplate"
)

func main() {
	var u fasthttp.URI
	fmt.Println(u.Parse(nil, []byte("http://h/p?a=1&b=2")), string(u.QueryArgs().Peek("b")))
	var ctx fasthttp.RequestCtx
	ctx.Request.SetRequestURI("/x")
	h := func(ctx *fasthttp.RequestCtx) { fmt.Fprintf(ctx, "path %s", ctx.Path()) }
	h(&ctx)
	fmt.Println(string(ctx.Response.Body()), ctx.Response.StatusCode())
	fmt.Println(fasttemplate.New("a {x} b", "{", "}").ExecuteString(map[string]any{"x": "1"}))
	bb := bytebufferpool.Get()
	bb.WriteString("z")
	fmt.Println(bb)
}
