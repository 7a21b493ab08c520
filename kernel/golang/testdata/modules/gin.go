package main

import (
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/gin-gonic/gin"
)

func main() {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.GET("/hello/:name", func(c *gin.Context) { c.JSON(200, gin.H{"hello": c.Param("name"), "q": c.Query("q")}) })
	r.POST("/sum", func(c *gin.Context) {
		var in struct {
			A int `json:"a" binding:"required"`
			B int `json:"b"`
		}
		if err := c.ShouldBindJSON(&in); err != nil {
			c.String(400, "bad: %v", err)
			return
		}
		c.String(200, "%d", in.A+in.B)
	})
	for _, q := range [][3]string{{"GET", "/hello/ann?q=1", ""}, {"POST", "/sum", `{"a":1,"b":2}`}, {"POST", "/sum", `{"b":2}`}, {"GET", "/none", ""}} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest(q[0], q[1], strings.NewReader(q[2])))
		fmt.Println(w.Code, w.Body)
	}
}
