package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/gorilla/mux"
)

func main() {
	r := mux.NewRouter()
	r.HandleFunc("/u/{id:[0-9]+}", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "user ", mux.Vars(r)["id"]) }).Methods("GET").Name("user")
	for _, p := range []string{"/u/12", "/u/x"} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest("GET", p, nil))
		fmt.Println(w.Code, w.Body)
	}
	u, err := r.Get("user").URL("id", "7")
	fmt.Println(u, err)
}
