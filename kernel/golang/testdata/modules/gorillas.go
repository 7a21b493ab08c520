package main

import (
	"fmt"
	"github.com/gorilla/schema"
	"github.com/gorilla/sessions"
	"net/http"
	"net/http/httptest"
)

func main() {
	type Person struct {
		Name   string              `schema:"name,required"`
		Phones []int               `schema:"phone"`
		Sub    struct{ X float64 } `schema:"sub"`
	}
	var p Person
	fmt.Println(schema.NewDecoder().Decode(&p, map[string][]string{"name": {"Bo"}, "phone": {"1", "2"}, "sub.X": {"1.5"}}), p)
	fmt.Println(schema.NewDecoder().Decode(&p, map[string][]string{"bad": {"x"}}))
	out := map[string][]string{}
	fmt.Println(schema.NewEncoder().Encode(p, out), out["name"], out["phone"])
	store := sessions.NewCookieStore([]byte("something-very-secret-32-bytes!!"))
	r := httptest.NewRequest("GET", "/", nil)
	w := httptest.NewRecorder()
	s, err := store.Get(r, "session")
	s.Values["foo"], s.Values[42] = "bar", 43
	fmt.Println(err, s.Save(r, w))
	r2 := httptest.NewRequest("GET", "/", nil)
	r2.Header["Cookie"] = []string{(&http.Cookie{Name: "session", Value: w.Result().Cookies()[0].Value}).String()}
	s2, err := store.Get(r2, "session")
	fmt.Println(s2.Values["foo"], s2.Values[42], s2.IsNew, err)
}
