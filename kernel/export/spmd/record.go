package spmd

import (
	"fmt"
	"io"
	"os"
	"strings"

	"gocuda/kernel/display"
)

// said is a line that a rank printed, or the text of what it showed.
type said struct {
	Text  string
	Shown bool
}

// What is shown lies between these marks in the stream of what is printed, so that
// both keep their order.
const showBegins, showEnds = "\x00\x01", "\x00\x02\n"

// recorded runs a cell and returns what it printed and showed. A cell that panics
// has that printed before the panic is reported.
func recorded(cell func()) []said {
	r, w, err := os.Pipe()
	fatal(err)
	text := make(chan string)
	go func() {
		all, _ := io.ReadAll(r)
		text <- string(all)
	}()
	out := os.Stdout
	os.Stdout = w
	display.SetPublisher(func(p display.Publication) {
		if !p.Clear {
			io.WriteString(w, showBegins+fmt.Sprint(p.Bundle.Data["text/plain"])+showEnds)
		}
	})
	finish := func() []said {
		display.Flush()
		display.SetPublisher(nil)
		os.Stdout = out
		w.Close()
		list := cut(<-text)
		r.Close()
		return list
	}
	done := false
	defer func() {
		if !done {
			for _, s := range finish() {
				fmt.Println(s.Text)
			}
		}
	}()
	cell()
	done = true
	return finish()
}

// cut divides what was printed into lines and what was shown.
func cut(text string) (list []said) {
	for text != "" {
		if rest, ok := strings.CutPrefix(text, showBegins); ok {
			shown, rest, _ := strings.Cut(rest, showEnds)
			list = append(list, said{shown, true})
			text = rest
			continue
		}
		line := text
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			line = text[:i+1]
		}
		if i := strings.Index(line, showBegins); i > 0 {
			line = line[:i]
		}
		text = text[len(line):]
		list = append(list, said{strings.TrimSuffix(line, "\n"), false})
	}
	return list
}
