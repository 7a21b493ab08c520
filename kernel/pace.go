package kernel

import (
	"sync"
	"time"
)

// Jupyter's server drops outputs of more than 3 MB in 3 s (iopub_data_rate_limit and
// rate_limit_window, by default). Text of cells is kept below that; a cell that prints more
// is slowed down.
const (
	paceBytes  = 2_700_000
	paceWindow = 3500 * time.Millisecond
)

// pace holds text back that would be too much for a client.
type pace struct {
	mu    sync.Mutex
	sent  []sent // in the window
	bytes int
}

type sent struct {
	at    time.Time
	bytes int
}

// wait returns when a text may be sent.
func (p *pace) wait(text string) {
	n := encoded(text)
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.sent) > 0 {
		rest := paceWindow - time.Since(p.sent[0].at)
		if rest > 0 {
			if p.bytes+n <= paceBytes {
				break
			}
			time.Sleep(rest)
		}
		p.bytes -= p.sent[0].bytes
		p.sent = p.sent[1:]
	}
	p.sent = append(p.sent, sent{time.Now(), n})
	p.bytes += n
}

// encoded is about how long a text is as JSON.
func encoded(text string) int {
	n := len(text) + 500 // the headers
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\n' || c == '\t' || c == '"' || c == '\\':
			n++
		case c < ' ':
			n += 5
		}
	}
	return n
}
