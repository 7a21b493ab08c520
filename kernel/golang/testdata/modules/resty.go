package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/go-resty/resty/v2"
)

func main() {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"q":%q,"m":%q}`, r.URL.Query().Get("q"), r.Method)
	}))
	defer s.Close()
	var out struct{ Q, M string }
	r, err := resty.New().R().SetQueryParam("q", "x").SetResult(&out).Post(s.URL)
	fmt.Println(r.StatusCode(), err, out)
}
