package main

import (
	"os"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

func main() {
	t := template.Must(template.New("x").Funcs(sprig.TxtFuncMap()).Parse(`{{ .name | upper | repeat 2 }} {{ list 1 2 3 | join "-" }} {{ default "d" .none }} {{ "a b" | quote }} {{ add 1 2 }} {{ dict "k" 1 | toJson }} {{ trunc 3 "abcdef" }}
`))
	if err := t.Execute(os.Stdout, map[string]any{"name": "ab"}); err != nil {
		panic(err)
	}
}
