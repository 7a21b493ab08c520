package kernel

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// No three seconds hold more text than Jupyter's server passes on.
func TestTextIsPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pace
		type message struct {
			at    time.Time
			bytes int
		}
		var all []message
		begun := time.Now()
		for i := range 60 {
			text := strings.Repeat("a line\n", 20_000+i*1000)
			p.wait(text)
			all = append(all, message{time.Now(), len(text)})
			if i%7 == 0 {
				time.Sleep(time.Second)
			}
		}
		total := 0
		for i, first := range all {
			sum := 0
			for _, m := range all[i:] {
				if m.at.Sub(first.at) < 3*time.Second {
					sum += m.bytes
				}
			}
			if sum > 3_000_000 {
				t.Errorf("%d bytes in three seconds from message %d on", sum, i)
			}
			total += first.bytes
		}
		if took := time.Since(begun); took > 40*time.Second {
			t.Errorf("%d bytes were held back for %v", total, took)
		}
		p.wait(strings.Repeat("x", 10_000_000)) // alone, it goes out
	})
}
