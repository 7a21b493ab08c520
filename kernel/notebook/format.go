package notebook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// write adds v as Python's json.dumps does with indent 1, sorted keys and
// ensure_ascii off. newline is the line end with the current indentation.
func write(b *bytes.Buffer, v any, newline string) error {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			b.WriteString("{}")
			return nil
		}
		b.WriteByte('{')
		for i, k := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(newline + " ")
			writeString(b, k)
			b.WriteString(": ")
			if err := write(b, v[k], newline+" "); err != nil {
				return fmt.Errorf("%s: %w", k, err)
			}
		}
		b.WriteString(newline + "}")
	case []any:
		if len(v) == 0 {
			b.WriteString("[]")
			return nil
		}
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(newline + " ")
			if err := write(b, e, newline+" "); err != nil {
				return err
			}
		}
		b.WriteString(newline + "]")
	case string:
		writeString(b, v)
	case nil, bool, int, json.Number:
		fmt.Fprint(b, plain(v))
	default: // a value that a program put into a display: in JSON's own terms first
		data, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("a value of type %v cannot be written as JSON: %w", reflect.TypeOf(v), err)
		}
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		var terms any
		if err := d.Decode(&terms); err != nil {
			return err
		}
		return write(b, terms, newline)
	}
	return nil
}

func plain(v any) any {
	if v == nil {
		return "null"
	}
	return v
}

// writeString escapes what Python escapes, and nothing else: encoding/json
// would write U+2028 and its like as numbers.
func writeString(b *bytes.Buffer, s string) {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	b.WriteByte('"')
	for _, r := range s {
		switch r {
		case '"':
			b.WriteString(`\"`)
		case '\\':
			b.WriteString(`\\`)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case '\b':
			b.WriteString(`\b`)
		case '\f':
			b.WriteString(`\f`)
		default:
			if r < 0x20 {
				fmt.Fprintf(b, `\u%04x`, r)
			} else {
				b.WriteRune(r)
			}
		}
	}
	b.WriteByte('"')
}

// lines splits a text where Python's splitlines does, line ends kept.
func lines(s string) []any {
	list := []any{}
	start := 0
	for i, r := range s {
		if i < start {
			continue // the \n of a \r\n
		}
		end := i + utf8.RuneLen(r)
		switch r {
		case '\r':
			if end < len(s) && s[end] == '\n' {
				end++
			}
		case '\n', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		default:
			continue
		}
		list = append(list, s[start:end])
		start = end
	}
	if start < len(s) {
		list = append(list, s[start:])
	}
	return list
}

// joined is the text of a field that may hold a string or a list of lines.
func joined(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []any:
		var b strings.Builder
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return "", false
			}
			b.WriteString(s)
		}
		return b.String(), true
	}
	return "", false
}

func isJSON(mime string) bool {
	return mime == "application/json" ||
		strings.HasPrefix(mime, "application/") && strings.HasSuffix(mime, "+json")
}

// isText tells the MIME types whose text is split into lines.
func isText(mime string) bool {
	return strings.HasPrefix(mime, "text/") || mime == "application/javascript" || mime == "image/svg+xml"
}

// joinBundle makes whole, in place, the texts of a MIME bundle.
func joinBundle(v any) {
	data := object(v)
	for mime, value := range data {
		if list, ok := value.([]any); ok && !isJSON(mime) {
			if text, ok := joined(list); ok {
				data[mime] = text
			}
		}
	}
}

// splitBundle is a copy of a MIME bundle with its texts as lists of lines.
func splitBundle(v any) any {
	data, ok := v.(map[string]any)
	if !ok {
		return v
	}
	data = maps.Clone(data)
	for mime, value := range data {
		if text, ok := value.(string); ok && isText(mime) {
			data[mime] = lines(text)
		}
	}
	return data
}
