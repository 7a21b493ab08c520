package display

import (
	"strings"
	"unicode/utf8"
)

// width is the columns that lines keep to where they can.
const width = 80

// layout is text that may be broken: on one line if it fits, otherwise with
// each item on a line of its own, or, with fill, as many as fit on each line.
type layout struct {
	open  string
	items []*layout
	close string
	fill  bool
}

func leaf(text string) *layout { return &layout{open: text} }

// after puts a label before l.
func (l *layout) after(label string) *layout {
	l.open = label + l.open
	return l
}

// size is the columns of l on one line, or more than limit if it is longer.
func (l *layout) size(limit int) int {
	n := utf8.RuneCountInString(l.open) + utf8.RuneCountInString(l.close)
	for i, item := range l.items {
		if i > 0 {
			n += 2
		}
		if n > limit {
			break
		}
		n += item.size(limit - n)
	}
	return n
}

// flat writes l on one line.
func (l *layout) flat() string {
	if len(l.items) == 0 {
		return l.open + l.close
	}
	parts := make([]string, len(l.items))
	for i, item := range l.items {
		parts[i] = item.flat()
	}
	return l.open + strings.Join(parts, ", ") + l.close
}

// write writes l from column, with tail columns to follow it on its last line.
func (l *layout) write(out *strings.Builder, indent, column, tail int) {
	if room := width - column - tail; len(l.items) == 0 || l.size(room) <= room {
		out.WriteString(l.flat())
		return
	}
	out.WriteString(l.open)
	inner := indent + 4
	column = width
	for _, item := range l.items {
		if !l.fill || column+2+item.size(width) > width {
			out.WriteString("\n" + strings.Repeat(" ", inner))
			column = inner
		} else {
			out.WriteString(" ")
			column++
		}
		item.write(out, inner, column, 1)
		out.WriteString(",")
		column += item.size(width) + 1
	}
	out.WriteString("\n" + strings.Repeat(" ", indent) + l.close)
}
