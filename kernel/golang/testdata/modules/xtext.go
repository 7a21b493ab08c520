package main

import (
	"fmt"

	"golang.org/x/text/cases"
	"golang.org/x/text/collate"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/unicode/norm"
)

func main() {
	fmt.Println(cases.Title(language.English).String("hello wörld"), norm.NFD.String("é") == "e\u0301")
	t, err := language.Parse("de-CH")
	fmt.Println(t, err)
	p := message.NewPrinter(language.German)
	fmt.Println(p.Sprintf("%d %.2f", 1234567, 1234.5))
	b, err := charmap.ISO8859_1.NewDecoder().Bytes([]byte{0xe9, 'a'})
	fmt.Println(string(b), err)
	l := []string{"z", "ä", "a"}
	collate.New(language.German).SortStrings(l)
	fmt.Println(l)
	m := language.NewMatcher([]language.Tag{language.English, language.French})
	tag, _, _ := m.Match(language.Make("fr-CA"))
	fmt.Println(tag)
}
