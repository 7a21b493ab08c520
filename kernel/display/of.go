package display

import (
	"image"
	"maps"
	"slices"
	"strings"
)

// Of makes the bundle of any value; it never panics.
//
// A Bundle stands for itself. A value with a method MIMEBundle() map[string]any
// gives all its representations by MIME type; if it returns an empty map, there
// is nothing to show, and the bundle is empty. Otherwise every one of the methods
// HTML(), Markdown(), LaTeX() and SVG(), each returning a string, that the value
// has is used; the front end takes the richest form that it can show. SVG
// without HTML gets HTML that shows it, an image.Image becomes a PNG, and a slice of
// structs gets an HTML table as Table makes it. A text/plain form is always there: what
// the value says of itself (Error, String), or its contents as Format writes them.
//
// A method that panics, or returns "", is left out.
func Of(v any) Bundle {
	x := valOf(v)
	if m := x.methods(); m.IsValid() {
		v = m.Interface()
	}
	switch b := v.(type) {
	case Bundle:
		return b.withText().withPicture()
	case *Bundle:
		if b != nil {
			return b.withText().withPicture()
		}
	}
	b := Bundle{Data: map[string]any{}}
	if m, ok := v.(interface{ MIMEBundle() map[string]any }); ok {
		if data, ok := guard(m.MIMEBundle); ok && data != nil {
			maps.Copy(b.Data, data)
			if _, ok := b.Data[mimeText]; !ok && len(data) > 0 {
				b.Data[mimeText] = format(x)
			}
			return b.withPicture()
		}
	}
	put := func(mime string, method func() string) {
		if s, ok := guard(method); ok && s != "" {
			b.Data[mime] = s
		}
	}
	if m, ok := v.(interface{ HTML() string }); ok {
		put(mimeHTML, m.HTML)
	}
	if m, ok := v.(interface{ Markdown() string }); ok {
		put(mimeMarkdown, m.Markdown)
	}
	if m, ok := v.(interface{ LaTeX() string }); ok {
		put(mimeLaTeX, m.LaTeX)
	}
	if m, ok := v.(interface{ SVG() string }); ok {
		put(mimeSVG, func() string { return withNamespace(m.SVG()) })
	}
	if img, ok := v.(image.Image); ok && len(b.Data) == 0 {
		if p, ok := guard(func() Bundle { return PNG(img) }); ok {
			return p
		}
	}
	if len(b.Data) == 0 && x.listsStructs() {
		if source, ok := guard(func() string { t := tabulate(x); return t.html() }); ok {
			b.Data[mimeHTML] = source
		}
	}
	b.Data[mimeText] = format(x)
	return b.withPicture()
}

// withText adds a plain form to a bundle that has none: its source, or the
// names of its types.
func (b Bundle) withText() Bundle {
	if _, ok := b.Data[mimeText]; ok {
		return b
	}
	data := maps.Clone(b.Data)
	if data == nil {
		data = map[string]any{}
	}
	for _, mime := range []string{mimeMarkdown, mimeLaTeX, mimeHTML} {
		if s, ok := data[mime].(string); ok {
			data[mimeText] = s
			break
		}
	}
	if _, ok := data[mimeText]; !ok {
		data[mimeText] = strings.Join(slices.Sorted(maps.Keys(data)), ", ")
	}
	b.Data = data
	return b
}

// guard calls a method of a user's value; ok is false if it panicked.
func guard[T any](method func() T) (result T, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return method(), true
}
