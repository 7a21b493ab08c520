package main

import (
	"errors"
	"fmt"

	"github.com/onsi/gomega"
)

func main() {
	g := gomega.NewGomega(func(m string, _ ...int) { fmt.Println(m) })
	g.Expect(1).To(gomega.Equal(2))
	g.Expect([]string{"a"}).To(gomega.ContainElement("a"))
	g.Expect(errors.New("x")).To(gomega.HaveOccurred())
	g.Expect(map[string]int{"a": 1}).To(gomega.HaveKeyWithValue("a", 1))
}
