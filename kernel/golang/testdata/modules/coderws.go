package main

import (
	"context"
	"fmt"
	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/rs/cors"
	"net/http"
	"net/http/httptest"
)

func main() {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		var v map[string]any
		fmt.Println(wsjson.Read(r.Context(), c, &v), v)
		wsjson.Write(r.Context(), c, []int{1, 2})
		c.Close(websocket.StatusNormalClosure, "bye")
	})
	s := httptest.NewServer(cors.Default().Handler(h))
	defer s.Close()
	ctx := context.Background()
	c, _, err := websocket.Dial(ctx, s.URL, nil)
	fmt.Println(err)
	fmt.Println(wsjson.Write(ctx, c, map[string]string{"a": "b"}))
	var out []int
	fmt.Println(wsjson.Read(ctx, c, &out), out)
	_, _, err = c.Read(ctx)
	fmt.Println(websocket.CloseStatus(err))
	w := httptest.NewRecorder()
	r := httptest.NewRequest("OPTIONS", "/", nil)
	r.Header.Set("Origin", "http://x")
	r.Header.Set("Access-Control-Request-Method", "GET")
	cors.Default().Handler(h).ServeHTTP(w, r)
	fmt.Println(w.Code, w.Header().Get("Access-Control-Allow-Origin"))
}
