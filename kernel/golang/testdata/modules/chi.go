package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

func main() {
	r := chi.NewRouter()
	r.Use(middleware.Recoverer)
	r.Route("/a", func(r chi.Router) {
		r.Get("/{x}", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "x=", chi.URLParam(r, "x")) })
	})
	for _, p := range []string{"/a/1", "/b"} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest("GET", p, nil))
		fmt.Println(w.Code, w.Body)
	}
}
