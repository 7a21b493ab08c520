package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/julienschmidt/httprouter"
)

func main() {
	r := httprouter.New()
	r.GET("/f/*path", func(w http.ResponseWriter, r *http.Request, p httprouter.Params) { fmt.Fprint(w, p.ByName("path")) })
	for _, q := range []string{"GET", "POST"} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest(q, "/f/a/b", nil))
		fmt.Println(w.Code, w.Body)
	}
}
