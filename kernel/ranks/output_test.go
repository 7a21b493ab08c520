package ranks

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"gocuda/kernel/display"
	"gocuda/kernel/session"
)

// bench is a merger whose clock the test has.
type bench struct {
	*merger
	now   time.Time
	shown strings.Builder
}

func newBench(n int) *bench {
	b := &bench{merger: &merger{sources: make([]source, n), wake: make(chan struct{}, 1)}, now: time.Unix(0, 0)}
	b.changed = sync.NewCond(&b.mu)
	return b
}

// do takes steps such as "0 begins", "0 says TEXT", "0 errs TEXT", "0 shows
// TEXT", "0 ends" and "200ms later".
func (b *bench) do(steps ...string) string {
	b.shown.Reset()
	for _, s := range steps {
		who, what, _ := strings.Cut(s, " ")
		verb, text, _ := strings.Cut(what, " ")
		if verb == "later" {
			d, err := time.ParseDuration(who)
			if err != nil {
				panic(err)
			}
			b.now = b.now.Add(d)
			b.look()
			continue
		}
		rank := int(who[0] - '0')
		switch verb {
		case "begins":
			b.begin(rank)
		case "says":
			for line := range strings.Lines(text) {
				b.sources[rank].add(session.Stdout, line, b.now)
			}
		case "errs":
			for line := range strings.Lines(text) {
				b.sources[rank].add(session.Stderr, line, b.now)
			}
		case "shows":
			b.receive(rank, session.Output{Kind: session.Display, Bundle: display.Bundle{Data: map[string]any{"text/plain": text}}})
			items := b.sources[rank].items
			items[len(items)-1].at = b.now
		case "ends":
			b.end(rank)
		default:
			panic(s)
		}
	}
	b.look()
	return b.shown.String()
}

func (b *bench) look() {
	outputs, _ := b.ready(b.now)
	for _, o := range outputs {
		switch o.Kind {
		case session.Stdout:
			b.shown.WriteString(o.Text)
		case session.Stderr:
			b.shown.WriteString("!" + o.Text)
		default:
			fmt.Fprintf(&b.shown, "<%s>", o.Bundle.Data["text/plain"])
		}
	}
}

func TestOutputsAreMerged(t *testing.T) {
	both := []string{"0 begins", "1 begins"}
	for _, test := range []struct {
		name  string
		steps []string
		want  string
	}{
		{"one rank alone", []string{"0 begins", "0 says a\nb\n"}, "[0] a\n[0] b\n"},
		{"what all say is shown once", append(both, "0 says a\n", "1 says a\n"), "[0-1] a\n"},
		{"who has said nothing is waited for", append(both, "0 says a\n"), ""},
		{"but not for long", append(both, "0 says a\n", "200ms later"), "[0] a\n"},
		{"nor when it has ended", append(both, "0 says a\n", "1 ends"), "[0] a\n"},
		{"the order within a rank", append(both, "0 says a\nb\n", "1 says b\na\n", "200ms later"), "[0] a\n[0-1] b\n[1] a\n"},
		{"different lines", append(both, "0 says mine 0\nsame\n", "1 says mine 1\nsame\n"), "[0] mine 0\n[1] mine 1\n[0-1] same\n"},
		{"who lags behind", append(both, "0 says a\nb\n", "1 says a\n", "1 says b\n"), "[0-1] a\n[0-1] b\n"},
		{"the streams are not mixed", append(both, "0 says a\n", "1 errs a\n", "200ms later"), "[0] a\n![1] a\n"},
		{"half a line waits for its rest", append(both, "0 says a", "1 says x\n", "0 says b\n", "200ms later"), "[0] ab\n[1] x\n"},
		{"but not for long", append(both, "0 says a", "1 says x\n", "200ms later", "0 says b\n", "200ms later"), "[0] a\n[1] x\n[0] b\n"},
		{"a half line of a rank that ends", append(both, "0 says a", "1 says b\n", "0 ends", "1 ends"), "[0] a\n[1] b\n"},
		{"a half line that all say", append(both, "0 says a", "1 says a", "0 ends", "1 ends"), "[0-1] a"},
		{"a bar that is drawn over itself", []string{"0 begins", "0 says \r10 %\r20 %\n"}, "\r[0] 10 %\r[0] 20 %\n"},
		{"displays keep their place", append(both, "0 says a\n", "0 shows x", "1 says a\n", "1 shows y", "1 says b\n", "0 says b\n"), "[0-1] a\n<[0] x><[1] y>[0-1] b\n"},
		{"displays that are alike", append(both, "0 shows x", "1 shows x"), "<[0-1] x>"},
		{"an empty line", append(both, "0 says \n", "1 says \n"), "[0-1] \n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := newBench(2).do(test.steps...); got != test.want {
				t.Errorf("shown: %q, want %q", got, test.want)
			}
		})
	}
}

// Whatever ranks say, and however it is cut into pieces, each rank's text
// comes out whole and in its order.
func FuzzMerger(f *testing.F) {
	f.Add([]byte("a\nb"), []byte("b\na\n"), uint8(1))
	f.Add([]byte("\r\n\n\r"), []byte("same\nsame\n"), uint8(3))
	f.Fuzz(func(t *testing.T, zero, one []byte, piece uint8) {
		b := newBench(2)
		texts := make([]string, 2)
		for i, text := range [][]byte{zero, one} {
			clean := func(r rune) rune {
				if r == '\r' || r == '[' {
					return -1 // which are shown otherwise, or look like a label
				}
				return r
			}
			texts[i] = strings.Map(clean, strings.ToValidUTF8(string(text), "?"))
			b.begin(i)
		}
		var shown string
		rest := [2]string{texts[0], texts[1]}
		for i := 0; rest[0]+rest[1] != ""; i++ {
			r := i % 2
			n := min(len(rest[r]), int(piece)%7+1)
			for line := range strings.Lines(rest[r][:n]) {
				b.sources[r].add(session.Stdout, line, b.now)
			}
			rest[r] = rest[r][n:]
			shown += b.do(fmt.Sprintf("%dms later", int(piece)))
		}
		shown += b.do("0 ends", "1 ends")
		got := said(t, shown, 2)
		for i := range got {
			// A line that others interrupted is continued on a new one.
			if strings.ReplaceAll(got[i], "\n", "") != strings.ReplaceAll(texts[i], "\n", "") {
				t.Errorf("rank %d said %q, shown as %q in %q", i, texts[i], got[i], shown)
			}
		}
	})
}

// said is what each rank of n printed, whether it was shown for it alone or for
// several: how much is shared depends on how close in time they are.
func said(t *testing.T, stdout string, n int) []string {
	t.Helper()
	list := make([]string, n)
	for line := range strings.Lines(stdout) {
		mark, text, ok := strings.Cut(strings.TrimPrefix(line, "["), "] ")
		ranks, err := parseSet(mark, n)
		if !ok || err != nil {
			t.Fatalf("line %q has no label: %v", line, err)
		}
		for _, r := range ranks {
			list[r] += text
		}
	}
	return list
}
