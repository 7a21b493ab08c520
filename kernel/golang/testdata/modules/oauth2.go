package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"golang.org/x/oauth2"
)

func main() {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.ParseForm()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":"tok-%s","token_type":"bearer"}`, r.Form.Get("code"))
	}))
	defer s.Close()
	c := oauth2.Config{ClientID: "id", Endpoint: oauth2.Endpoint{AuthURL: "http://a/auth", TokenURL: s.URL}, Scopes: []string{"x"}}
	fmt.Println(c.AuthCodeURL("state"))
	t, err := c.Exchange(context.Background(), "c0de")
	fmt.Println(err)
	fmt.Println(t.AccessToken, t.Type(), t.Valid())
}
