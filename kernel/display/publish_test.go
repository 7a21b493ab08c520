package display

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// collect receives publications until the test ends.
func collect(t *testing.T) func() []Publication {
	var mu sync.Mutex
	var got []Publication
	SetPublisher(func(p Publication) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, p)
	})
	t.Cleanup(func() { SetPublisher(nil) })
	return func() []Publication {
		mu.Lock()
		defer mu.Unlock()
		return append([]Publication(nil), got...)
	}
}

func toText(t *testing.T) *bytes.Buffer {
	var out bytes.Buffer
	publisher.out = &out
	t.Cleanup(func() { publisher.out = nil })
	return &out
}

func TestShow(t *testing.T) {
	got := collect(t)
	shown := Show(1, HTML("<b>"))
	h := ShowAs("it", "a")
	h.Update("b")
	Update("it", HTML("c"))
	Clear(true)
	Clear(false)
	anonymous, other := ShowAs("", 1), ShowAs("", 2)
	if shown.ID() == "" || Show() != (Handle{}) {
		t.Errorf("Show gives the handle %q, of nothing %q", shown.ID(), Show().ID())
	}
	Show().Update("of nothing")
	if anonymous.ID() == "" || anonymous.ID() == other.ID() {
		t.Errorf("ids %q and %q are not fresh", anonymous.ID(), other.ID())
	}
	var lines []string
	for _, p := range got()[:7] {
		lines = append(lines, fmt.Sprintf("%v id=%q update=%t clear=%t wait=%t", p.Bundle.Data, p.Bundle.DisplayID, p.Update, p.Clear, p.Wait))
	}
	want := `map[text/plain:1] id="" update=false clear=false wait=false
map[text/html:<b> text/plain:<b>] id="` + shown.ID() + `" update=false clear=false wait=false
map[text/plain:"a"] id="it" update=false clear=false wait=false
map[text/plain:"b"] id="it" update=true clear=false wait=false
map[text/html:c text/plain:c] id="it" update=true clear=false wait=false
map[] id="" update=false clear=true wait=true
map[] id="" update=false clear=true wait=false`
	if strings.Join(lines, "\n") != want {
		t.Errorf("published\n%s\nwant\n%s", strings.Join(lines, "\n"), want)
	}
}

func TestShowDoesNotChangeAUsersBundle(t *testing.T) {
	collect(t)
	b := Bundle{Data: map[string]any{"text/html": "x"}}
	ShowAs("id", b)
	if len(b.Data) != 1 || b.DisplayID != "" {
		t.Errorf("the bundle became %v", b)
	}
}

func TestShowWithoutPublisher(t *testing.T) {
	out := toText(t)
	Show(1, HTML("<b>"), []string{"a"})
	ShowAs("id", "x").Update("y")
	Clear(false)
	if want := "1\n<b>\n[]string{\"a\"}\n\"x\"\n\"y\"\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out, want)
	}
}

func TestShowFromManyGoroutines(t *testing.T) {
	busy := false
	n := 0
	SetPublisher(func(Publication) {
		if busy {
			t.Error("two publications at once")
		}
		busy = true
		n++
		busy = false
	})
	defer SetPublisher(nil)
	var wg sync.WaitGroup
	bar := Progress(400, "")
	for range 8 {
		wg.Go(func() {
			for i := range 50 {
				Show(i)
				bar.Add(1)
				bar.Label(fmt.Sprint(i))
			}
		})
	}
	wg.Wait()
	if n < 402 {
		t.Errorf("%d publications, want 400 values and the bar's first and last picture", n)
	}
}

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func texts(publications []Publication) string {
	var lines []string
	for _, p := range publications {
		line := p.Bundle.text()
		if p.Update {
			line = "> " + line
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestSteps(t *testing.T) {
	got := collect(t)
	sum := 0
	for i := range Steps(4, "adding") {
		if sum += i; i == 2 {
			break
		}
	}
	list := got()
	if last := list[len(list)-1]; sum != 3 || !last.Update || !strings.Contains(fmt.Sprint(last.Bundle.Data), "2 of 4") {
		t.Errorf("sum %d, last %v", sum, last)
	}
	for range Steps(3) {
	}
	list = got()
	if last := list[len(list)-1]; !strings.Contains(fmt.Sprint(last.Bundle.Data), "3 of 3") {
		t.Errorf("last %v", last)
	}
}

func TestProgress(t *testing.T) {
	got := collect(t)
	c := &clock{t: time.Unix(0, 0)}
	p := newBar(8, "copy", c.now)
	for range 8 {
		c.pass(time.Second / 2)
		p.Add(1)
	}
	p.Add(1)
	p.Done()
	want := `copy ░░░░░░░░░░░░░░░░░░░░░░░░░ 0%, 0 of 8
> copy ███░░░░░░░░░░░░░░░░░░░░░░ 12%, 1 of 8
> copy ██████░░░░░░░░░░░░░░░░░░░ 25%, 2 of 8
> copy █████████░░░░░░░░░░░░░░░░ 37%, 3 of 8, 2.5s left
> copy ████████████░░░░░░░░░░░░░ 50%, 4 of 8, 2s left
> copy ███████████████░░░░░░░░░░ 62%, 5 of 8, 1.5s left
> copy ██████████████████░░░░░░░ 75%, 6 of 8, 1s left
> copy █████████████████████░░░░ 87%, 7 of 8, 500ms left
> copy █████████████████████████ 100%, 8 of 8 in 4s`
	if texts(got()) != want {
		t.Errorf("published\n%s\nwant\n%s", texts(got()), want)
	}
	for _, pub := range got() {
		if pub.Bundle.DisplayID != got()[0].Bundle.DisplayID || pub.Bundle.DisplayID == "" {
			t.Errorf("a picture has the id %q", pub.Bundle.DisplayID)
		}
	}
	wantHTML := `<div style="display: flex; align-items: center; gap: 0.7em"><span>copy</span><progress value="8" max="8" style="width: 20em"></progress><span>100%, 8 of 8 in 4s</span></div>`
	if html := got()[8].Bundle.Data["text/html"]; html != wantHTML {
		t.Errorf("shown as\n%s\nwant\n%s", html, wantHTML)
	}
}

func TestProgressIsThrottled(t *testing.T) {
	got := collect(t)
	c := &clock{t: time.Unix(0, 0)} // stands still: every step comes too soon
	p := newBar(1000, "<i>", c.now)
	for range 999 {
		p.Add(1)
	}
	if n := len(got()); n > 2 {
		t.Errorf("%d pictures at one time", n)
	}
	// What was held back comes by itself.
	for deadline := time.Now().Add(time.Minute); !strings.Contains(texts(got()), "999 of 1000"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the last step is not shown:\n%s", texts(got()))
		}
	}
	p.Set(400)
	Flush()
	if !strings.HasSuffix(texts(got()), "40%, 400 of 1000") {
		t.Errorf("after Flush:\n%s", texts(got()))
	}
	before := len(got())
	if Flush(); len(got()) != before {
		t.Error("Flush drew a bar that had not changed")
	}
	p.Add(1)
	p.Set(400)
	p.Done()
	if _, kept := waiting.Load(p); kept {
		t.Error("a finished bar is kept")
	}
	if !strings.HasSuffix(texts(got()), "40%, 400 of 1000, ended after 0s") {
		t.Errorf("after Done:\n%s", texts(got()))
	}
	if html := got()[0].Bundle.Data["text/html"].(string); strings.Contains(html, "<i>") {
		t.Errorf("the label is not escaped: %s", html)
	}
}

func TestProgressWithoutTotal(t *testing.T) {
	got := collect(t)
	c := &clock{t: time.Unix(0, 0)}
	p := newBar(0, "", c.now)
	c.pass(time.Minute + 400*time.Millisecond)
	p.Add(5)
	p.Done()
	if want := "0\n> 5\n> 5 in 1m0s"; texts(got()) != want {
		t.Errorf("published\n%s\nwant\n%s", texts(got()), want)
	}
}

func TestProgressWithoutPublisher(t *testing.T) {
	out := toText(t)
	c := &clock{t: time.Unix(0, 0)}
	p := newBar(2, "n", c.now)
	p.Add(1)
	c.pass(1500 * time.Microsecond)
	p.Add(1)
	if want := "n █████████████████████████ 100%, 2 of 2 in 2ms\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out, want)
	}
}
