package display

import (
	"strings"
	"sync"
	"testing"
	"time"
)

type record struct {
	Name  string
	Count int
	Share float64
	Next  *record
	own   int
}

func TestTable(t *testing.T) {
	for name, test := range map[string]struct {
		table Bundle
		want  string
	}{
		"structs": {Table([]record{{"a<b>", 1, 2.5, nil, 0}, {"a longer name", 100, .25, nil, 0}}), `
Name           Count  Share  Next
─────────────  ─────  ─────  ────
a<b>               1    2.5   nil
a longer name    100   0.25   nil`},
		"pointers": {Table([]*record{{"x", 1, 2, &record{}, 0}, nil}, "title"), `
title  Count  Share  Next
─────  ─────  ─────  ─────────────────────────────────────────────
x          1      2  &{Name: "", Count: 0, Share: 0, Next: nil, …}
nil`},
		"2-D": {Table([][]float64{{1, 2.5}, {3, 4, 5}}), `
1  2.5
3    4  5`},
		"2-D, headers": {Table([][]string{{"a", "1\n2"}, {"b", "x\ty"}}, "name", "value", "none"), `
name  value  none
────  ─────  ────
a     1 2
b     x y`},
		"array": {Table([2][2]int{{1, 2}, {3, 4}}), `
1  2
3  4`},
		"map": {Table(map[string]int{"b": 1, "a": 2}, "letter"), `
letter  value
──────  ─────
a           2
b           1`},
		"map of structs": {Table(map[int]record{10: {}, 9: {Name: "q"}}), `
key  Name  Count  Share  Next
───  ────  ─────  ─────  ────
  9  q         0      0   nil
 10            0      0   nil`},
		"maps": {Table([]map[string]any{{"a": 1}, {"b": "x", "a": nil}}), `
  a  b
───  ─
  1
nil  x`},
		"strings":   {Table([]string{"x", "y"}), "\n#  value\n─  ─────\n0  x\n1  y"},
		"durations": {Table([]time.Duration{time.Second, 20}), "\n#  value\n─  ─────\n0     1s\n1   20ns"},
		"mixed":     {Table([]any{1, "a", nil, []int{1}}), "\n#  value\n─  ─────\n0  1\n1  a\n2  nil\n3  {1}"},
		"empty":     {Table([]record{}), "\nName  Count  Share  Next\n────  ─────  ─────  ────"},
		"stringers": {Table([]stringer{{"a"}}), "\n#  value\n─  ─────\n0  <a>"},
		"opaque":    {Table([]*sync.Mutex{{}}), "\n#  value\n─  ─────\n0  {…}"},
		"a number":  {Table(5), "\n5"},
		"nil":       {Table(nil), "\nnil"},
		"bytes":     {Table([]byte("abc")), "\n\"abc\""},
	} {
		if got := "\n" + test.table.text(); strings.ReplaceAll(got, " \n", "\n") != strings.ReplaceAll(test.want, " \n", "\n") {
			t.Errorf("%s: got%s\nwant%s", name, got, test.want)
		}
	}
}

func TestTableHTML(t *testing.T) {
	want := `<table>
<thead><tr><th style="text-align: left">&lt;name&gt;</th><th style="text-align: right">n</th></tr></thead>
<tbody>
<tr><td style="text-align: left">a &amp; &#34;b&#34;<br>&lt;script&gt;</td><td style="text-align: right">1</td></tr>
<tr><td style="text-align: left">c</td><td style="text-align: right"></td></tr>
</tbody>
</table>`
	if got := Table([][]any{{"a & \"b\"\n<script>", 1}, {"c"}}, "<name>", "n").Data["text/html"]; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLongTable(t *testing.T) {
	b := Table(make([]int, 1000))
	lines := strings.Split(b.text(), "\n")
	if len(lines) != maxRows+3 || lines[32] != "… 940 more rows …" || strings.Fields(lines[33])[0] != "970" {
		t.Errorf("cut wrong: %d lines\n%s", len(lines), b.text())
	}
	if html := b.Data["text/html"].(string); strings.Count(html, "<tr>") != maxRows+2 || !strings.Contains(html, `<td colspan="2" style="text-align: center">… 940 more rows …</td>`) {
		t.Errorf("cut wrong in HTML:\n%s", html)
	}
	many := map[int]string{}
	for i := range 100 {
		many[i] = "x"
	}
	if text := Table(many).text(); !strings.Contains(text, "29  x\n… 40 more rows …\n 70  x") {
		t.Errorf("a long map is cut wrong:\n%s", text)
	}
}
