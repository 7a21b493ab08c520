package lesson

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"sync"

	"gocuda/kernel/display"
	"gocuda/kernel/widgets"
)

// A Choice is a possible answer to a question, and why it is right or wrong.
type Choice struct {
	text, why string
	right     bool
}

// Right is the right answer, and why it is right.
func Right(text, why string) Choice { return Choice{text, why, true} }

// Wrong is a wrong answer, and why it is wrong.
func Wrong(text, why string) Choice { return Choice{text, why, false} }

// prediction is a question with what was answered: a number from 1, or 0.
type prediction struct {
	id, question string
	choices      []Choice
	answer       int
}

var asked struct {
	sync.Mutex
	list []*prediction
}

// find is the prediction of that name, or nil. asked is held.
func find(id string) *prediction {
	i := slices.IndexFunc(asked.list, func(p *prediction) bool { return p.id == id })
	if i < 0 {
		return nil
	}
	return asked.list[i]
}

// Predict asks a question before its answer is shown. The reader chooses by buttons, or,
// where the front end shows no widgets, by Guess. The answer is kept, also when the cell
// runs again, and Predictions compares it. Of the choices one is right.
func Predict(id, question string, choices ...Choice) (display.Bundle, error) {
	right := 0
	var texts []string
	for _, c := range choices {
		if texts = append(texts, c.text); c.right {
			right++
		}
	}
	if right != 1 || len(choices) < 2 {
		return display.Bundle{}, fmt.Errorf("lesson.Predict %q has %d choices, of which %d are right, want one right and at least one wrong", id, len(choices), right)
	}
	asked.Lock()
	p := find(id)
	if p == nil {
		p = &prediction{id: id}
		asked.list = append(asked.list, p)
	}
	p.question, p.choices = question, choices
	if p.answer > len(choices) {
		p.answer = 0
	}
	props := widgets.Props{"options": texts, "value": nil, "layout": widgets.Props{"width": "max-content"}}
	if p.answer > 0 {
		props["value"] = texts[p.answer-1]
	}
	text, page := p.text(), p.page()
	asked.Unlock()
	buttons := widgets.RadioButtons(props)
	if err := buttons.OnChange(func(text string) {
		if i := slices.Index(texts, text); i >= 0 {
			Guess(id, i+1) //nolint:errcheck // it is one of them
		}
	}); err != nil {
		return display.Bundle{}, err
	}
	data := widgets.VBox(widgets.HTML(widgets.Props{"value": html.EscapeString(question)}), buttons).MIMEBundle()
	data["text/plain"], data["text/html"] = text, page
	return display.Bundle{Data: data}, nil
}

// how says how to answer without widgets.
func (p *prediction) how() string {
	s := fmt.Sprintf("Answer with lesson.Guess(%q, 1)", p.id)
	for i := range p.choices[1:] {
		s += fmt.Sprintf(", or %d", i+2)
	}
	return s + "."
}

func (p *prediction) text() string {
	s := p.question + "\n"
	for i, c := range p.choices {
		s += fmt.Sprintf("  %d  %s\n", i+1, c.text)
	}
	return s + p.how()
}

func (p *prediction) page() string {
	var list strings.Builder
	for _, c := range p.choices {
		list.WriteString("<li>" + html.EscapeString(c.text) + "</li>")
	}
	return "<p>" + html.EscapeString(p.question) + "</p><ol>" + list.String() + "</ol><p>" + html.EscapeString(p.how()) + "</p>"
}

// Guess answers the question that Predict asked under an id, by the number of a choice
// from 1.
func Guess(id string, choice int) error {
	asked.Lock()
	defer asked.Unlock()
	p := find(id)
	switch {
	case p == nil:
		return fmt.Errorf("lesson.Guess: there is no prediction %q: run its cell first", id)
	case choice < 1 || choice > len(p.choices):
		return fmt.Errorf("lesson.Guess: prediction %q has %d choices, and there is no choice %d", id, len(p.choices), choice)
	}
	p.answer = choice
	return nil
}

// Predictions compares all answers with the right ones: a table with the reasons.
func Predictions() display.Bundle {
	asked.Lock()
	defer asked.Unlock()
	right, rows := 0, [][]string{}
	for _, p := range asked.list {
		i := slices.IndexFunc(p.choices, func(c Choice) bool { return c.right })
		yours, why := "no answer", p.choices[i].why
		if p.answer > 0 {
			mine := p.choices[p.answer-1]
			yours = mine.text
			if mine.right {
				right++
			} else {
				why += ". Not " + mine.text + ": " + mine.why
			}
		}
		rows = append(rows, []string{p.question, yours, p.choices[i].text, why})
	}
	rows = append(rows, []string{fmt.Sprintf("%d of %d right", right, len(asked.list)), "", "", ""})
	return display.Table(rows, "question", "your prediction", "right", "because")
}
