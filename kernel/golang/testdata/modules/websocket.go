package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/gorilla/websocket"
)

func main() {
	up := websocket.Upgrader{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := up.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer c.Close()
		for {
			t, b, err := c.ReadMessage()
			if err != nil {
				return
			}
			c.WriteMessage(t, append([]byte("echo "), b...))
		}
	}))
	defer s.Close()
	c, _, err := websocket.DefaultDialer.Dial(strings.Replace(s.URL, "http", "ws", 1), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	c.WriteMessage(websocket.TextMessage, []byte("hi"))
	_, b, err := c.ReadMessage()
	fmt.Println(string(b), err)
	c.WriteJSON(map[string]int{"a": 1})
	_, b, err = c.ReadMessage()
	fmt.Printf("%q %v\n", b, err)
}
