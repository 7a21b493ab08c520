package session

import (
	"fmt"
	"regexp"
	"strings"
)

// The most that is shown of what a dying evaluator wrote.
const (
	lastLines     = 8
	lastLineWidth = 300
)

// runtimeExit is the status with which Go's runtime exits after a fatal error
// or a panic.
const runtimeExit = 2

const closedLink = "it closed its link to the kernel (does a cell close a file descriptor that it did not open?)"

const gone = "Variables, functions and CUDA objects of earlier cells are gone: run the cells that make them again."

// explain is the error of the cell that ran when the evaluator died, and was
// not replaced if it was the last.
func (d death) explain(cell string, wasReady, last bool) *Error {
	cause, words := d.cause()
	if !wasReady {
		e := NewError("EvaluatorDied", "the evaluator did not start: "+cause)
		e.Traceback = append(e.Traceback, quote(words)...)
		return e
	}
	e := NewError("EvaluatorDied", cause)
	if cell != "" {
		e.Traceback = append(e.Traceback, "It ended while "+cell+" was running.")
	}
	e.Traceback = append(e.Traceback, quote(words)...)
	if !last {
		e.Traceback = append(e.Traceback, "A new evaluator has been started. "+gone)
	}
	return e
}

// notice reports a death between two cells.
func (d death) notice() string {
	cause, words := d.cause()
	lines := append([]string{"The evaluator ended after the last cell: " + cause}, quote(words)...)
	return strings.Join(append(lines, gone), "\n") + "\n"
}

func quote(words []string) []string {
	if len(words) == 0 {
		return nil
	}
	lines := []string{"Its last output:"}
	for _, w := range words {
		lines = append(lines, "    "+w)
	}
	return lines
}

// known are the ways in which Go's runtime and C libraries announce an end, by
// what they write to standard error. The first that is found counts.
var known = []struct {
	words   string // a regular expression for the begin of a line
	meaning string
}{
	{`(?:fatal error: stack overflow|runtime: goroutine stack exceeds)`,
		"stack overflow: a function calls itself without end, or too deeply"},
	{`fatal error: runtime: (?:out of memory|cannot allocate memory).*`,
		"out of memory"},
	{`fatal error: concurrent map .*`,
		"two goroutines used a map at the same time, one of them writing: guard it with a sync.Mutex"},
	{`fatal error: all goroutines are asleep - deadlock!`,
		"deadlock: all goroutines are asleep"},
	{`(?:fatal error: unexpected signal|\[signal SIGSEGV|SIGSEGV: segmentation violation)`,
		"segmentation fault: C code or unsafe code used memory that it must not"},
	{`SIGBUS: `,
		"bus error: C code or unsafe code used memory that it must not"},
	{`SIGFPE: `,
		"arithmetic fault in C code, such as an integer division by zero"},
	{`SIGILL: `,
		"illegal instruction in C code"},
	{`SIGABRT: abort`,
		"C code called abort"},
	{unlinkedWords, closedLink},
	{`(?:fatal error|panic): .*`, ""}, // its own words say it
}

// abortWords are those of a rank that ends by mpi.Abort.
var abortWords = regexp.MustCompile(`(?m)^mpi\.Abort\(-?\d+\) of rank \d+ ends all ranks$`)

// cause says in plain words what ended the evaluator, with the lines of its
// standard error that bear on it.
func (d death) cause() (cause string, words []string) {
	switch {
	case d.ending != "":
		return "the evaluator was ended: " + d.ending, lastWords(d.words)
	case d.state == nil:
		return "the evaluator ended", lastWords(d.words)
	}
	if line := abortWords.FindString(d.words); line != "" {
		return line, nil
	}
	if signal := signalOf(d.state); signal != "" {
		cause := "the evaluator was ended by a signal: " + signal
		if d.oom {
			cause += " (the system was out of memory, and killed a process)"
		}
		return cause, lastWords(d.words)
	}
	if d.state.ExitCode() == runtimeExit {
		for _, k := range known {
			at := regexp.MustCompile("(?m)^(?:" + k.words + ")").FindStringIndex(d.words)
			if at == nil {
				continue
			}
			cause := k.meaning
			if cause == "" {
				cause = d.words[at[0]:at[1]]
			}
			return cause, firstWords(d.words[at[0]:])
		}
	}
	return fmt.Sprintf("the evaluator exited with status %d: C code called exit, or Go code syscall.Exit", d.state.ExitCode()), lastWords(d.words)
}

// firstWords picks the lines with which Go's runtime begins its last words.
// The stacks that follow show the interpreter's frames, not a cell's.
func firstWords(text string) []string {
	text, _, _ = strings.Cut(text, "\ngoroutine ")
	text, _, _ = strings.Cut(text, "\nruntime stack:")
	lines := wordLines(text)
	return lines[:min(lastLines, len(lines))]
}

// lastWords picks the end of what a process wrote.
func lastWords(text string) []string {
	lines := wordLines(text)
	return lines[max(0, len(lines)-lastLines):]
}

func wordLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		if len(line) > lastLineWidth {
			line = strings.ToValidUTF8(line[:lastLineWidth], "") + "..."
		}
		lines = append(lines, line)
	}
	return lines
}
