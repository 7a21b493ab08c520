package main

import (
	"fmt"
	"io"
	"net/http/httptest"

	"github.com/gofiber/fiber/v2"
)

func main() {
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Get("/u/:id", func(c *fiber.Ctx) error { return c.SendString("user " + c.Params("id")) })
	resp, err := app.Test(httptest.NewRequest("GET", "/u/9", nil), -1)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, string(b))
}
