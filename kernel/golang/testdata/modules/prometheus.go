package main

import (
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func main() {
	reg := prometheus.NewRegistry()
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "hits", Help: "Hits."}, []string{"code"})
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "lat", Buckets: []float64{1, 2}})
	reg.MustRegister(c, h)
	c.WithLabelValues("200").Add(3)
	h.Observe(1.5)
	w := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	for _, l := range strings.Split(w.Body.String(), "\n") {
		if !strings.HasPrefix(l, "#") {
			fmt.Println(l)
		}
	}
	fmt.Println(reg.Register(c))
}
