package hazard

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode/utf8"

	"gocuda/internal/picture"
)

const (
	boxWidth  = 330
	boxHeight = 74
	gapWidth  = 150
)

// SVG is the report as a picture: two boxes and the arrow that is missing.
func (r Report) SVG() string {
	var b strings.Builder
	label := fmt.Sprintf("Nothing orders %s %s at %s and %s %s at %s.", r.First.What, r.First.Does, r.First.at(), r.Second.What, r.Second.Does, r.Second.at())
	between, below := "nothing orders them", fmt.Sprintf("both: %s of %s", bytes(r.Bytes), short(r.Memory, 60))
	if r.Threads != "" {
		label = fmt.Sprintf("%s: %s %s at %s, and %s %s at %s.", r.Threads, r.First.What, r.First.Does, r.First.at(), r.Second.What, r.Second.Does, r.Second.at())
		between, below = "not together", r.Threads
	}
	const width, height = 2*boxWidth + gapWidth + 4, boxHeight + 30
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12" role="img" aria-label="%s">`, width, height, width, height, html.EscapeString(label))
	fmt.Fprintf(&b, picture.Dark+`<rect width="%d" height="%d" rx="4" fill="#fff"/>`, width, height)
	b.WriteString(`<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#c62828"/></marker></defs>`)
	box := func(x int, o Operation) {
		fmt.Fprintf(&b, `<rect x="%d" y="2" width="%d" height="%d" rx="6" fill="#f5f7fa" stroke="#546e7a"/>`, x, boxWidth, boxHeight)
		queue := o.Queue
		if r.ranks() {
			queue += fmt.Sprintf(", rank %d", o.Rank)
		}
		place := o.at()
		if o.Caller.Known() {
			place += " from " + o.Caller.String()
		}
		for i, line := range []string{o.What + " " + o.Does, place, o.Source, queue} {
			weight, fill := "normal", "#263238"
			if i == 0 {
				weight = "bold"
			}
			family, most := "", 46 // characters that fit
			if i == 2 {
				family, most = ` font-family="monospace"`, 42
			}
			fmt.Fprintf(&b, `<text x="%d" y="%d" font-weight="%s" fill="%s"%s>%s</text>`, x+10, 19+17*i, weight, fill, family, html.EscapeString(around(line, r.Memory, most)))
		}
	}
	box(2, r.First)
	box(2+boxWidth+gapWidth, r.Second)
	y := 2 + boxHeight/2
	fmt.Fprintf(&b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#c62828" stroke-width="2" stroke-dasharray="6 5" marker-end="url(#a)"/>`, 2+boxWidth+4, y, boxWidth+gapWidth-2, y)
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle" fill="#c62828">%s</text>`, 2+boxWidth+gapWidth/2, y-8, between)
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle" fill="#37474f">%s</text>`, width/2, height-8, html.EscapeString(below))
	b.WriteString(`</svg>`)
	return b.String()
}

func short(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// around shortens a line to what stands around the variable that holds the memory.
func around(line, memory string, most int) string {
	text := []rune(line)
	name, _, _ := strings.Cut(memory, "[")
	at := regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).FindAllStringIndex(line, -1)
	if len(text) <= most || name == "" || at == nil {
		return short(line, most)
	}
	last := at[len(at)-1]
	begin, end := utf8.RuneCountInString(line[:last[0]]), utf8.RuneCountInString(line[:last[1]])
	if end < most {
		return short(line, most)
	}
	from := min(len(text)-most+1, begin-most/2)
	if from <= 0 { // the name is long
		return short(line, most)
	}
	return "…" + short(string(text[from:]), most-1)
}

// HTML is the reports with their pictures.
func (r List) HTML() string {
	var b strings.Builder
	for _, x := range r {
		title := "Hazard"
		if x.Possible {
			title = "Possible hazard"
		}
		fmt.Fprintf(&b, "<div style=\"margin:0.5em 0\"><p><b>%s</b>: %s<br>%s:", title, html.EscapeString(x.Missing), x.toDo())
		if fix := html.EscapeString(x.Fix); strings.Contains(fix, "//") { // lines to paste
			fmt.Fprintf(&b, "</p><pre>%s</pre>", fix)
		} else {
			fmt.Fprintf(&b, " %s</p>", fix)
		}
		if x.Note != "" {
			fmt.Fprintf(&b, "<p>%s</p>", html.EscapeString(x.Note))
		}
		if x.Times > 1 {
			fmt.Fprintf(&b, "<p>%d times</p>", x.Times)
		}
		fmt.Fprintf(&b, "%s</div>", picture.HTML(x.SVG()))
	}
	return b.String()
}

// HTML is the report with its picture.
func (r Report) HTML() string { return List{r}.HTML() }
