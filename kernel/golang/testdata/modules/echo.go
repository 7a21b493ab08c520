package main

import (
	"fmt"
	"net/http/httptest"

	"github.com/labstack/echo/v4"
)

func main() {
	e := echo.New()
	e.GET("/u/:id", func(c echo.Context) error { return c.JSON(200, map[string]string{"id": c.Param("id")}) })
	e.GET("/bad", func(c echo.Context) error { return echo.NewHTTPError(418, "teapot") })
	for _, p := range []string{"/u/5", "/bad", "/none"} {
		w := httptest.NewRecorder()
		e.ServeHTTP(w, httptest.NewRequest("GET", p, nil))
		fmt.Print(w.Code, " ", w.Body)
	}
}
