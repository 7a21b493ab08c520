package display

import (
	"fmt"
	"html"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxRows is how many rows a table shows; of more, the middle is left out.
const maxRows = 60

// Table shows rows and columns:
//   - a slice of structs, or of pointers to structs: a column for each field
//   - a slice of slices, such as [][]float64: headers name the columns
//   - a slice of maps: a column for each key
//   - a map: its keys, sorted, and what they lead to
//   - any other slice: its elements, numbered from 0
//
// headers, if given, replace the names of the first columns. Of more than 60
// rows the middle is left out. Any other value is a table of one cell.
func Table(rows any, headers ...string) Bundle {
	t := tabulate(valOf(rows))
	for len(t.headers) < len(headers) {
		t.headers = append(t.headers, "")
	}
	copy(t.headers, headers)
	return Bundle{Data: map[string]any{mimeHTML: t.html(), mimeText: t.text()}}
}

// table is text in cells. Rows may be shorter than the header, or longer.
type table struct {
	headers []string
	rows    [][]cell
	hidden  int // rows left out, between the halves of those shown
}

type cell struct {
	text   string
	number bool
}

func tabulate(x val) table {
	var t table
	x = indirect(x)
	switch {
	case x.v.Kind() == reflect.Map:
		keys := x.v.MapKeys()
		slices.SortStableFunc(keys, compare)
		keys, t.hidden = ends(len(keys), func(i int) reflect.Value { return keys[i] })
		values, labels := make([]val, len(keys)), make([]val, len(keys))
		for i, key := range keys {
			values[i], labels[i] = indirect(x.mapIndex(key)), x.key(key)
		}
		t.fill([]string{"key"}, labels, values)
	case isList(x.v):
		shown, hidden := ends(x.v.Len(), func(i int) int { return i })
		t.hidden = hidden
		values, numbers := make([]val, len(shown)), make([]val, len(shown))
		for i, at := range shown {
			values[i], numbers[i] = indirect(x.index(at)), valOf(at)
		}
		if len(values) == 0 {
			t.fill(nil, nil, []val{zeroElem(x)})
			t.rows = nil
		} else if kind, _ := shapeOf(values); kind == scalars {
			t.fill([]string{"#"}, numbers, values)
		} else {
			t.fill(nil, nil, values)
		}
	default:
		t.rows = [][]cell{{cellOf(x)}}
	}
	return t
}

// zeroElem stands for the rows of a table that has none, so that it has columns.
func zeroElem(list val) val {
	e := val{v: reflect.Zero(list.v.Type().Elem())}
	if e.v.Kind() == reflect.Pointer {
		return val{v: reflect.New(e.v.Type().Elem())}.elem()
	}
	return e.open()
}

// ends picks the indexes to show of n, and counts the rest.
func ends[T any](n int, at func(int) T) (shown []T, hidden int) {
	for i := 0; i < n; i++ {
		if n > maxRows && i == maxRows/2 {
			hidden = n - maxRows
			i += hidden
		}
		shown = append(shown, at(i))
	}
	return shown, hidden
}

type shape int

const (
	scalars shape = iota
	structs
	lists
	mappings
)

// shapeOf says what all of the values are, but for nil ones, and gives the
// first that counts.
func shapeOf(values []val) (shape, val) {
	all, first := scalars, val{}
	for _, x := range values {
		if isNone(x.v) {
			continue
		}
		s := scalars
		switch {
		case x.v.Kind() == reflect.Struct && (x.hasText() || isOpaque(x)):
		case x.v.Kind() == reflect.Struct && (!first.v.IsValid() || x.v.Type() == first.v.Type()):
			s = structs
		case x.v.Kind() == reflect.Map:
			s = mappings
		case isList(x.v):
			s = lists
		}
		if first.v.IsValid() && s != all {
			return scalars, first
		}
		if !first.v.IsValid() {
			all, first = s, x
		}
	}
	return all, first
}

// isOpaque says whether a struct has fields, but none to show.
func isOpaque(x val) bool {
	shown, hidden := x.fields()
	return len(shown) == 0 && hidden
}

func isNone(v reflect.Value) bool {
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// fill makes a row of each value, with its label, if there are labels, before it.
func (t *table) fill(names []string, labels, values []val) {
	t.headers = names
	kind, first := shapeOf(values)
	var columns []reflect.Value
	switch kind {
	case structs:
		shown, _ := first.fields()
		for _, i := range shown {
			name, _ := first.field(i)
			t.headers = append(t.headers, name)
		}
	case mappings:
		columns = allKeys(values)
		for _, key := range columns {
			t.headers = append(t.headers, cellOf(first.key(key)).text)
		}
	case scalars:
		t.headers = append(t.headers, "value")
	}
	for i, x := range values {
		var row []cell
		if labels != nil {
			row = append(row, cellOf(labels[i]))
		}
		switch {
		case kind == scalars || isNone(x.v):
			row = append(row, cellOf(x))
		case kind == structs:
			shown, _ := x.fields()
			for _, j := range shown {
				_, field := x.field(j)
				row = append(row, cellOf(field))
			}
		case kind == lists:
			for j := range x.v.Len() {
				row = append(row, cellOf(x.index(j)))
			}
		default:
			for _, key := range columns {
				c := cell{}
				if key.Type().AssignableTo(x.v.Type().Key()) && x.v.MapIndex(key).IsValid() {
					c = cellOf(x.mapIndex(key))
				}
				row = append(row, c)
			}
		}
		t.rows = append(t.rows, row)
	}
}

// allKeys are the different keys of maps, sorted.
func allKeys(tables []val) []reflect.Value {
	seen := map[any]reflect.Value{}
	for _, m := range tables {
		if isNone(m.v) {
			continue
		}
		for _, key := range m.v.MapKeys() {
			if key.CanInterface() {
				seen[key.Interface()] = key
			}
		}
	}
	return slices.SortedFunc(maps.Values(seen), compare)
}

// listsStructs says whether a value is a list, not empty, of structs that say nothing of
// themselves.
func (x val) listsStructs() bool {
	if !x.v.IsValid() || x.hasText() || !isList(x.v) || x.v.Len() == 0 {
		return false
	}
	first := indirect(x.index(0))
	return first.v.IsValid() && first.v.Kind() == reflect.Struct && !first.hasText() && !isOpaque(first)
}

func isList(v reflect.Value) bool {
	return (v.Kind() == reflect.Slice || v.Kind() == reflect.Array) && !isBytes(v.Type())
}

// indirect follows pointers and interfaces, but not from a value that says
// something of itself.
func indirect(x val) val {
	for range maxDepth {
		if x.v.Kind() != reflect.Interface && (x.v.Kind() != reflect.Pointer || x.v.IsNil() || x.hasText()) {
			return x
		}
		x = x.elem()
	}
	return x
}

func cellOf(x val) cell {
	if x.v.Kind() == reflect.Interface {
		x = x.elem()
	}
	if !x.v.IsValid() {
		return cell{text: "nil"}
	}
	if x.v.Kind() == reflect.String && !x.hasText() {
		s := x.v.String()
		if len(s) > maxString {
			s = cutString(s, maxString)
		}
		return cell{text: strings.ToValidUTF8(s, "\uFFFD")}
	}
	f := formatter{nodes: 200}
	l, ok := guard(func() *layout { return f.value(x, 1, false) })
	if !ok {
		return cell{text: "?"}
	}
	number := x.v.CanInt() || x.v.CanUint() || x.v.CanFloat() || x.v.CanComplex()
	return cell{text: l.flat(), number: number}
}

// width is the number of columns of the widest row.
func (t *table) width() int {
	n := len(t.headers)
	for _, row := range t.rows {
		n = max(n, len(row))
	}
	return n
}

// right says, for each column, whether all that is in it are numbers.
func (t *table) right() []bool {
	right := make([]bool, t.width())
	for i := range right {
		numbers := 0
		right[i] = true
		for _, row := range t.rows {
			if i < len(row) && row[i].text != "" {
				right[i] = right[i] && (row[i].number || row[i].text == "nil")
				numbers++
			}
		}
		right[i] = right[i] && numbers > 0
	}
	return right
}

// html leaves colours and fonts to the front end's theme.
func (t *table) html() string {
	var out strings.Builder
	right := t.right()
	put := func(tag string, column int, text string) {
		align := "left"
		if right[column] {
			align = "right"
		}
		text = strings.ReplaceAll(html.EscapeString(text), "\n", "<br>")
		fmt.Fprintf(&out, `<%s style="text-align: %s">%s</%s>`, tag, align, text, tag)
	}
	out.WriteString("<table>\n")
	if len(t.headers) > 0 {
		out.WriteString("<thead><tr>")
		for i := range right {
			text := ""
			if i < len(t.headers) {
				text = t.headers[i]
			}
			put("th", i, text)
		}
		out.WriteString("</tr></thead>\n")
	}
	out.WriteString("<tbody>\n")
	for i, row := range t.rows {
		if t.hidden > 0 && i == maxRows/2 {
			fmt.Fprintf(&out, "<tr><td colspan=\"%d\" style=\"text-align: center\">… %d more rows …</td></tr>\n", len(right), t.hidden)
		}
		out.WriteString("<tr>")
		for j := range right {
			text := ""
			if j < len(row) {
				text = row[j].text
			}
			put("td", j, text)
		}
		out.WriteString("</tr>\n")
	}
	out.WriteString("</tbody>\n</table>")
	return out.String()
}

func (t *table) text() string {
	right := t.right()
	oneLine := strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ", "\r", " ")
	widths := make([]int, len(right))
	measure := func(column int, text string) {
		widths[column] = max(widths[column], utf8.RuneCountInString(oneLine.Replace(text)))
	}
	for i, h := range t.headers {
		measure(i, h)
	}
	for _, row := range t.rows {
		for i, c := range row {
			measure(i, c.text)
		}
	}
	var lines []string
	put := func(texts []string) {
		var line strings.Builder
		for i, text := range texts {
			if i > 0 {
				line.WriteString("  ")
			}
			text = oneLine.Replace(text)
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
			if right[i] {
				line.WriteString(pad + text)
			} else {
				line.WriteString(text + pad)
			}
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	if len(t.headers) > 0 {
		put(t.headers)
		rules := make([]string, len(right))
		for i, w := range widths {
			rules[i] = strings.Repeat("─", w)
		}
		put(rules)
	}
	for i, row := range t.rows {
		if t.hidden > 0 && i == maxRows/2 {
			lines = append(lines, fmt.Sprintf("… %d more rows …", t.hidden))
		}
		texts := make([]string, len(row))
		for j, c := range row {
			texts[j] = c.text
		}
		put(texts)
	}
	return strings.Join(lines, "\n")
}
