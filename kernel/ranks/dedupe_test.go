package ranks

import (
	"fmt"
	"strings"
	"testing"

	"gocuda/internal/picture"
	"gocuda/kernel/display"
	"gocuda/kernel/session"
)

// failing is a job whose ranks ended with errors: words and place of each, nil: none.
func failing(n int, of func(rank int) (words, place string)) *job {
	j := &job{ranks: all(n), results: map[int]session.Result{}}
	for r := range n {
		var result session.Result
		if words, place := of(r); words != "" {
			result.Err = session.NewError("Panic", words)
			result.Err.Traceback = []string{"panic: " + words, "  at " + place}
		}
		j.results[r] = result
	}
	return j
}

// The errors of many ranks fit on a screen, and each rank is in them.
func TestErrorsOfManyRanks(t *testing.T) {
	for _, test := range []struct {
		name string
		of   func(rank int) (string, string)
		want string
	}{
		{"one place, many words", func(r int) (string, string) { return fmt.Sprintf("rank %d fails", r), "line 1" },
			"[0-63] panic: rank {0,1,2,3,4,5,6,7,...} fails\n  at line 1"},
		{"words of their own", func(r int) (string, string) { return strings.Repeat("x", r+1), "line 1" },
			"[0] panic: x\n[1] panic: xx\n[2] panic: xxx\n[3] panic: xxxx\n[4] panic: xxxxx\n[5] panic: xxxxxx\n[6] panic: xxxxxxx\n[7] panic: xxxxxxxx\n" +
				"[8-63] failed there as well, each with its own message\n  at line 1"},
		{"one number of two", func(r int) (string, string) { return fmt.Sprintf("x[%d] of 0x%x", min(r, 3), 16), "line 1" },
			"[0-63] panic: x[{0,1,2,3,3,3,3,3,...}] of 0x10\n  at line 1"},
		{"numbers in names", func(r int) (string, string) { return fmt.Sprintf("host h%d is lost", 1+r/32), "line 1" },
			"[0-31] panic: host h1 is lost\n[32-63] panic: host h2 is lost\n  at line 1"},
		{"many places", func(r int) (string, string) { return "no", fmt.Sprintf("line %d", r/6) },
			"[0-63] panic: no\n[0-5] failed here:\n  at line 0\n[6-11] failed here:\n  at line 1\n[12-17] failed here:\n  at line 2\n[18-23] failed here:\n  at line 3\n" +
				"[24-29] failed here:\n  at line 4\n[30-35] failed here:\n  at line 5\n[36-41] failed here:\n  at line 6\n[42-47] failed here:\n  at line 7\n" +
				"[48-63] failed elsewhere"},
		{"two words, taken in turns", func(r int) (string, string) { return []string{"odd", "even", ""}[r%3], "line 1" },
			"[0,3,6,9,12,15,18,21,24,27,30,33,36,39,42,45,48,51,54,57,60,63] panic: odd\n[1,4,7,10,13,16,19,22,25,28,31,34,37,40,43,46,49,52,55,58,61] panic: even\n" +
				"  at line 1\n43 of 64 ranks failed"},
	} {
		if got := strings.Join(failing(64, test.of).err().Traceback, "\n"); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// Pictures of many ranks are one display, with each rank's label.
func TestValuesOfManyRanks(t *testing.T) {
	j := &job{ranks: all(64), value: map[int]display.Bundle{}}
	for r := range 64 {
		j.value[r] = display.Of(display.Bundle{Data: map[string]any{"image/svg+xml": fmt.Sprintf("<svg>%d</svg>", r), "text/plain": fmt.Sprint(r)}})
	}
	j.value[5] = display.Bundle{Data: map[string]any{"application/x": "5", "text/plain": "5"}}
	list := j.values()
	if len(list) != 3 {
		t.Fatalf("%d displays, want one of ranks 0 to 4, one of rank 5, one of the others", len(list))
	}
	page := fmt.Sprint(list[2].Data["text/html"])
	for r := 6; r < 64; r++ {
		if !strings.Contains(page, fmt.Sprintf("[%d]</div>%s", r, picture.HTML(fmt.Sprintf("<svg>%d</svg>", r)))) {
			t.Errorf("rank %d is not in %s", r, page)
		}
	}
	if text := fmt.Sprint(list[0].Data["text/plain"]); text != "[0] 0\n[1] 1\n[2] 2\n[3] 3\n[4] 4" {
		t.Errorf("as text: %q", text)
	}
}
