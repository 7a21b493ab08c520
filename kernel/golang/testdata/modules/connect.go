package main

import (
	"connectrpc.com/connect"
	"context"
	"fmt"
	"google.golang.org/protobuf/types/known/wrapperspb"
	"net/http"
	"net/http/httptest"
)

func main() {
	mux := http.NewServeMux()
	mux.Handle("/echo.v1.Echo/Say", connect.NewUnaryHandler("/echo.v1.Echo/Say",
		func(_ context.Context, r *connect.Request[wrapperspb.StringValue]) (*connect.Response[wrapperspb.StringValue], error) {
			if r.Msg.Value == "" {
				return nil, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("empty"))
			}
			return connect.NewResponse(wrapperspb.String("you said " + r.Msg.Value)), nil
		}))
	s := httptest.NewServer(mux)
	defer s.Close()
	c := connect.NewClient[wrapperspb.StringValue, wrapperspb.StringValue](http.DefaultClient, s.URL+"/echo.v1.Echo/Say")
	res, err := c.CallUnary(context.Background(), connect.NewRequest(wrapperspb.String("hi")))
	fmt.Println(res.Msg.Value, err)
	_, err = c.CallUnary(context.Background(), connect.NewRequest(wrapperspb.String("")))
	fmt.Println(err, connect.CodeOf(err))
}
