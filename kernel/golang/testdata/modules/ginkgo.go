package main

import (
	"fmt"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"strings"
)

func main() {
	RegisterFailHandler(func(message string, _ ...int) { fmt.Println("FAIL", message) })
	report := ""
	ReportAfterSuite("report", func(r Report) {
		for _, s := range r.SpecReports.WithLeafNodeType(1 << 0) {
			report += s.FullText()
		}
	})
	Describe("strings", func() {
		It("upper", func() { Expect(strings.ToUpper("a")).To(Equal("A")) })
	})
	_, config := GinkgoConfiguration()
	config.Succinct, config.NoColor = true, true
	fmt.Println(strings.Contains(CurrentSpecReport().FullText(), "strings"), report == "")
}
