package session

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	// A stream's first text is passed on at once, what comes later this far apart, so
	// that a cell that prints line by line does not send a message a line.
	outputInterval = 10 * time.Millisecond
	// A cell that goes on printing is passed on ten times a second after a while: the
	// interval grows by this much with each message.
	messageGrowth = 2 * time.Millisecond
	usualInterval = 100 * time.Millisecond
	// A front end looks at all of a cell's text when some is added. So the interval
	// grows with the text: by as much time for each MiB, up to the longest.
	textGrowth      = 500 * time.Millisecond
	longestInterval = 2 * time.Second
	// The beginning of a line waits so long for the rest: it may be what a question for
	// input follows, and is its prompt then.
	promptTime = 100 * time.Millisecond
	// A longer one is no prompt.
	longestPrompt = 4 << 10
	// This much is passed on sooner. No message carries more text.
	outputChunk = 1 << 20
	// How much is read at a time.
	readChunk = 64 << 10
	// What can lie in a pipe. A drain stops there, so that a goroutine that
	// prints without end cannot hold a result back.
	pipeCapacity = 1 << 20
	// How much of standard error is kept for the message about a death.
	wordsKept = 32 << 10
	// How long words that look like a dying evaluator's are held back.
	dyingTime = 3 * time.Second
)

// dyingWords begin what Go's runtime writes when it gives up: a short cause,
// and then pages of stacks that say nothing about the cell. They are held back
// until the evaluator is dead, and then told in the cell's error, in short.
// Should it live on, a cell has printed them, and they are shown.
var dyingWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:fatal error: |panic: |runtime: goroutine stack exceeds|unexpected fault address|SIG[A-Z]+: |` + unlinkedWords + `)`)
})

// collector gathers the outputs of one evaluator, from its two pipes and from
// the link, and hands them on in the order in which they were made. It reads a
// pipe only as quickly as the receiver takes what it is given: a cell that
// floods is slowed down by the full pipe.
type collector struct {
	receive func(Output)

	files   *pipes
	stop    chan struct{} // closed when there will be no more
	stopped chan struct{} // closed when the goroutine that follows is done

	mu     sync.Mutex // held while reading a pipe and while calling receive
	pipes  [2]pipe
	chunk  [readChunk]byte
	passed int       // bytes of the running cell ...
	sent   int       // ... in so many messages
	due    time.Time // when more may be passed on
	words  []byte    // the end of standard error since the last cell ended
	dying  []byte    // its last part, when that is held back
	closed bool
}

// pipe is what is known of one of the two.
type pipe struct {
	kind    OutputKind
	held    []byte    // the beginning of a rune, or nothing
	waiting []byte    // what was read and not passed on yet
	since   time.Time // since when its last line, which is not complete, has waited
	midLine bool      // the last line passed on is not complete
	ended   bool
}

func newCollector(files *pipes, receive func(Output)) *collector {
	c := &collector{receive: receive, files: files, stop: make(chan struct{}), stopped: make(chan struct{})}
	c.pipes[0].kind, c.pipes[1].kind = Stdout, Stderr
	go c.follow()
	return c
}

// follow passes on what comes out of the pipes until their end.
func (c *collector) follow() {
	defer close(c.stopped)
	for {
		c.mu.Lock()
		ended := [2]bool{c.pipes[0].ended, c.pipes[1].ended}
		waiting := len(c.pipes[0].waiting)+len(c.pipes[1].waiting) > 0
		c.mu.Unlock()
		if !waiting && (ended[0] && ended[1] || !c.files.wait(ended)) {
			return
		}
		c.mu.Lock()
		size := c.drain(0) + c.drain(1)
		if time.Until(c.due) <= 0 || ended[0] && ended[1] {
			c.sendBut(c.prompt())
		}
		c.mu.Unlock()
		// Leave the pipes alone for a while, so that more comes together,
		// unless so much comes that they would fill up meanwhile.
		if size < readChunk/2 {
			select {
			case <-time.After(outputInterval):
			case <-c.stop:
				return
			}
		}
	}
}

// send passes on what waits. The caller holds c.mu.
func (c *collector) send() { c.sendBut(0) }

// prompt is how long the end of what waits of standard output is that may be a prompt yet.
// The caller holds c.mu.
func (c *collector) prompt() int {
	p := &c.pipes[0]
	n := len(p.waiting) - 1 - bytes.LastIndexByte(p.waiting, '\n')
	if n > longestPrompt || time.Since(p.since) > promptTime {
		return 0
	}
	return n
}

// sendBut passes on what waits, but for so many bytes at the end of standard output.
// The caller holds c.mu.
func (c *collector) sendBut(kept int) {
	for i := range c.pipes {
		p := &c.pipes[i]
		if i > 0 {
			kept = 0
		}
		for len(p.waiting) > kept {
			text := p.waiting[:len(p.waiting)-kept]
			if len(text) > outputChunk {
				text = text[:wholeRunes(text[:outputChunk])]
			}
			c.receive(Output{Kind: p.kind, Text: strings.ToValidUTF8(string(text), "\uFFFD")})
			c.passed, c.sent = c.passed+len(text), c.sent+1
			p.waiting = append(p.waiting[:0], p.waiting[len(text):]...)
			usual := min(usualInterval, outputInterval+messageGrowth*time.Duration(c.sent))
			c.due = time.Now().Add(max(usual, min(longestInterval, textGrowth*time.Duration(c.passed)>>20)))
		}
	}
}

// drain passes on what is in a pipe now, and returns how many bytes that was.
// The caller holds c.mu.
func (c *collector) drain(i int) (size int) {
	p := &c.pipes[i]
	for size < pipeCapacity && !p.ended {
		held := copy(c.chunk[:], p.held)
		n, err := c.files.readNow(i, c.chunk[held:])
		if n == 0 {
			p.ended = err != errWouldBlock
			break
		}
		size += n
		text := c.chunk[:held+n]
		whole := wholeRunes(text)
		p.held = append(p.held[:0], text[whole:]...)
		c.pass(p, text[:whole])
	}
	return size
}

func (c *collector) pass(p *pipe, text []byte) {
	if len(text) == 0 {
		return
	}
	if p.kind == Stderr {
		c.words = append(c.words, text...)
		if extra := len(c.words) - wordsKept; extra > 0 {
			c.words = append(c.words[:0], c.words[extra:]...)
		}
		text = c.holdDying(p, text)
	}
	c.emit(p, text)
}

func (c *collector) emit(p *pipe, text []byte) {
	if len(text) == 0 {
		return
	}
	if len(p.waiting) == 0 || bytes.IndexByte(text, '\n') >= 0 {
		p.since = time.Now()
	}
	p.midLine = text[len(text)-1] != '\n'
	if p.waiting = append(p.waiting, text...); len(p.waiting) >= outputChunk {
		c.send()
	}
}

// holdDying holds back what may be an evaluator's last words, and returns
// what comes before them.
func (c *collector) holdDying(p *pipe, text []byte) []byte {
	if c.dying != nil {
		c.dying = append(c.dying, text...)
		if len(c.dying) > pipeCapacity {
			c.releaseDying()
		}
		return nil
	}
	at := dyingWords().FindIndex(text)
	if at == nil || at[0] == 0 && p.midLine {
		return text
	}
	c.dying = append([]byte{}, text[at[0]:]...)
	time.AfterFunc(dyingTime, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.closed {
			c.releaseDying()
			c.send()
		}
	})
	return text[:at[0]]
}

func (c *collector) releaseDying() {
	held := c.dying
	c.dying = nil
	c.emit(&c.pipes[1], held)
}

// wholeRunes returns the length of text without a last rune that is not
// complete yet.
func wholeRunes(text []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		i := len(text) - back
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}

// show passes on an output that came over the link, after what was written
// before it.
func (c *collector) show(o Output) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drain(0)
	c.drain(1)
	c.releaseDying()
	c.send()
	c.receive(o)
}

// flush passes on all that was written until now, also half a rune.
func (c *collector) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drainAll()
	c.releaseDying()
	c.send()
}

// question passes on all that was written until now, but for the line that is not complete:
// that is the prompt of a question for input.
func (c *collector) question() (prompt string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drainAll()
	c.releaseDying()
	p := &c.pipes[0]
	if at := bytes.LastIndexByte(p.waiting, '\n') + 1; len(p.waiting)-at <= longestPrompt {
		prompt = strings.ToValidUTF8(string(p.waiting[at:]), "\uFFFD")
		p.waiting, p.midLine = p.waiting[:at], false
	}
	c.send()
	return prompt
}

func (c *collector) drainAll() {
	for i := range c.pipes {
		c.drain(i)
		p := &c.pipes[i]
		c.pass(p, p.held)
		p.held = p.held[:0]
	}
}

// forget forgets the words of a cell that has ended. It is not done when the next one
// begins: these may be the last words by then.
func (c *collector) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.words, c.passed, c.sent, c.due = c.words[:0], 0, 0, time.Time{}
}

// close passes on the last outputs of an evaluator that has ended, closes the
// pipes and returns the end of what it wrote to standard error. byRuntime says
// that Go's runtime ended it.
func (c *collector) close(byRuntime bool) (words string) {
	c.mu.Lock()
	c.drainAll()
	if !byRuntime {
		c.releaseDying()
	}
	c.send()
	c.closed = true
	words = string(c.words)
	c.mu.Unlock()
	close(c.stop)
	c.files.stop()
	<-c.stopped
	c.files.close()
	return words
}
