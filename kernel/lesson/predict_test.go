package lesson

import (
	"strings"
	"testing"

	"gocuda/kernel/display"
	"gocuda/kernel/widgets"
)

// ask asks a question of a name of its own.
func ask(t *testing.T) display.Bundle {
	t.Helper()
	b, err := Predict(t.Name(), "Which line prints an error?",
		Wrong("the first", "a launch only queues"), Right("the second", "a wait reports it"), Wrong("none", "it fails"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// forget drops all predictions.
func forget(t *testing.T) {
	t.Helper()
	asked.list = nil
}

func text(b display.Bundle) string { return b.Data["text/plain"].(string) }

func TestAPredictionIsKept(t *testing.T) {
	forget(t)
	b := ask(t)
	want := "Which line prints an error?\n  1  the first\n  2  the second\n  3  none\nAnswer with lesson.Guess(\"" + t.Name() + "\", 1), or 2, or 3."
	if text(b) != want {
		t.Errorf("it is shown as\n%s\nwant\n%s", text(b), want)
	}
	if page := b.Data["text/html"].(string); !strings.Contains(page, "<li>the second</li>") || strings.Contains(page, "a wait reports it") {
		t.Errorf("the page is %s", page)
	}
	if b.Data["application/vnd.jupyter.widget-view+json"] == nil {
		t.Error("it is no widget")
	}
	for _, c := range []struct {
		choice         int
		yours, because string
	}{
		{0, "none", "a wait reports it"},
		{1, "the first", "a wait reports it. Not the first: a launch only queues"},
		{2, "the second", "a wait reports it"},
	} {
		if c.choice > 0 {
			if err := Guess(t.Name(), c.choice); err != nil {
				t.Fatal(err)
			}
			ask(t) // who runs the cell again has answered already
		}
		said := text(Predictions())
		if !strings.Contains(said, c.because+"\n") || c.choice > 0 && !strings.Contains(said, c.yours+" ") {
			t.Errorf("choice %d: %s", c.choice, said)
		}
		if right := strings.Contains(said, "1 of 1 right"); right != (c.choice == 2) {
			t.Errorf("choice %d: %s", c.choice, said)
		}
	}
}

// The choice of a widget counts as that of Guess.
func TestAPredictionByAWidget(t *testing.T) {
	forget(t)
	told := []widgets.Message{}
	widgets.SetSender(func(m widgets.Message) error { told = append(told, m); return nil })
	t.Cleanup(func() { widgets.SetSender(nil) })
	ask(t)
	radio := ""
	for _, m := range told {
		if strings.Contains(string(m.Data), "RadioButtonsModel") {
			radio = m.ID
		}
		if strings.Contains(string(m.Data), "LabelModel") {
			t.Error("the question is a Label, which does not wrap on a narrow page")
		}
	}
	if radio == "" {
		t.Fatal("no buttons")
	}
	if said := text(Predictions()); !strings.Contains(said, "no answer") {
		t.Errorf("before an answer: %s", said)
	}
	if err := widgets.Receive(widgets.Message{Type: "msg", ID: radio, Data: []byte(`{"method":"update","state":{"index":0}}`)}); err != nil {
		t.Fatal(err)
	}
	if said := text(Predictions()); !strings.Contains(said, "the first ") {
		t.Errorf("after an answer: %s", said)
	}
}

func TestPredictionsThatCannotBe(t *testing.T) {
	ask(t)
	for _, c := range []struct {
		err  error
		want string
	}{
		{Guess("nobody", 1), `no prediction "nobody"`},
		{Guess(t.Name(), 4), "3 choices"},
		{Guess(t.Name(), 0), "3 choices"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
	for _, list := range [][]Choice{{Right("a", "")}, {Wrong("a", ""), Wrong("b", "")}, {Right("a", ""), Right("b", "")}} {
		if _, err := Predict("x", "?", list...); err == nil {
			t.Errorf("%v: no error", list)
		}
	}
}
