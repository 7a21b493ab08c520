package magic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

func againMagics(s *Set) []Magic {
	return []Magic{
		{Name: "run", Usage: "%run FILE", Expand: true, Run: s.runFile,
			Doc: "Runs a file of Go, or the code cells of a notebook, as if it stood in this cell: its names stay."},
		{Name: "history", Usage: "%history [FROM[-TO] | -LAST]", Run: history,
			Doc: "Shows the code of this session's cells: all, some by number, or the last ones."},
		{Name: "output", Usage: "%output [-f] [CELL]", Run: notKept,
			Doc: `Shows the outputs of a cell again: those of the last one, or of the one with that number. The kernel keeps
them, also while no browser is there. With -f it goes on until a cell that still runs ends. It is all of its own cell.
A client that connects while another one's cell runs is answered at once. The last 16 MiB of each cell are kept, and
64 MiB in all.`},
	}
}

// notKept answers where %output does not reach the kernel, which keeps outputs.
func notKept(_ context.Context, _ Env, call Call) error {
	return call.Errorf("UsageError", "%%output must be all of its cell, and needs a Jupyter front end: here no outputs are kept")
}

func (s *Set) runFile(ctx context.Context, env Env, call Call) error {
	fields, err := call.Fields()
	if err != nil {
		return err
	}
	name, err := oneFile(call, fields)
	if err != nil {
		return err
	}
	text, err := readText(call, name, maxRun)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(name, ".ipynb") {
		return within(s.Run(ctx, env, string(text)), call, name)
	}
	cells, err := codeCells(text)
	if err != nil {
		return call.Errorf("FileError", "%s is not a notebook: %v", name, err)
	}
	for i, code := range cells {
		if err := s.Run(ctx, env, code); err != nil {
			return within(err, call, fmt.Sprintf("%s, code cell %d", name, i+1))
		}
	}
	return nil
}

// within says of a magic's error in which file it is: its line is not one of the cell.
func within(err error, call Call, file string) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	message := fmt.Sprintf("%s: %s", file, e.Message)
	if e.Line > 0 {
		message = fmt.Sprintf("%s, line %d: %s", file, e.Line, e.Message)
	}
	return &Error{e.Name, message, call.Line}
}

// codeCells returns the source of a notebook's code cells that are not empty.
func codeCells(text []byte) ([]string, error) {
	var notebook struct {
		Cells []struct {
			Type   string          `json:"cell_type"`
			Source json.RawMessage `json:"source"`
		} `json:"cells"`
	}
	if err := json.Unmarshal(text, &notebook); err != nil {
		return nil, err
	}
	var list []string
	for i, c := range notebook.Cells {
		if c.Type != "code" {
			continue
		}
		var lines []string
		var whole string
		if json.Unmarshal(c.Source, &lines) == nil {
			whole = strings.Join(lines, "")
		} else if err := json.Unmarshal(c.Source, &whole); err != nil {
			return nil, fmt.Errorf("cell %d: %w", i+1, err)
		}
		if strings.TrimSpace(whole) != "" {
			list = append(list, whole)
		}
	}
	return list, nil
}

func history(_ context.Context, env Env, call Call) error {
	past := env.History()
	from, to := 1, len(past)
	if call.Args != "" {
		var err error
		first, last, ranged := strings.Cut(call.Args, "-")
		switch {
		case first == "" && ranged: // the last ones
			var n int
			if n, err = strconv.Atoi(last); err == nil {
				from = max(1, to-n+1)
			}
		case ranged:
			var a, b int
			if a, err = strconv.Atoi(first); err == nil {
				b, err = strconv.Atoi(last)
			}
			from, to = max(a, 1), min(b, to)
		default:
			if from, err = strconv.Atoi(first); err == nil {
				to = min(from, to)
			}
		}
		if err != nil || from < 1 {
			return call.UsageErrorf("%q does not name cells: write 3, 3-5 or -5", call.Args)
		}
	}
	var out strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&out, "// %s\n%s\n\n", past[i-1].Cell, strings.TrimRight(past[i-1].Code, "\n"))
	}
	if out.Len() == 0 {
		fmt.Fprintln(&out, "no cells with these numbers ran")
	}
	_, err := env.Stdout().Write([]byte(out.String()))
	return err
}
