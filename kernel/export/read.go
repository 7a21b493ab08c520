package export

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gocuda/kernel/golang"
	"gocuda/kernel/magic"
	"gocuda/kernel/notebook"
)

// cell is a code cell as its part of the program has it.
type cell struct {
	number     int
	name       string // as the evaluator knows it
	code       string // Go, line by line where the cell has Go
	before     []string
	parameters bool
	injected   bool              // papermill's values for parameters
	embeds     map[string]string // files of its kernels, by path
	typed      *golang.Typed
	hasBody    bool // it has a function
	within     []within
}

// within is a magic above a cell that looks at it as it runs.
type within struct {
	magic string
	args  string
}

// read takes the cells of a notebook in order.
func (x *exporter) read(nb *notebook.Notebook) {
	var text []string
	number := 0
	for _, c := range nb.Cells {
		switch {
		case c.Kind == notebook.Markdown:
			text = append(text, c.Source)
			continue
		case c.Kind != notebook.Code:
			continue
		}
		number++
		if c.HasTag("skip-execution") {
			x.tell(number, 0, "is tagged skip-execution: left out")
			continue
		}
		if c.HasTag("raises-exception") {
			x.tell(number, 0, "may fail in the notebook (raises-exception), and ends the program if it does")
		}
		x.cell(number, c, text)
		text = nil
	}
}

func (x *exporter) cell(number int, c *notebook.Cell, text []string) {
	pieces, around := unwrapped(magic.Pieces(c.Source))
	last := pieces[len(pieces)-1]
	if last.Magic != "%%mpi" {
		x.add(x.main, &cell{number: number, before: text, parameters: c.HasTag("parameters"), injected: c.HasTag("injected-parameters"), within: x.around(number, around)}, pieces)
		return
	}
	looking := x.aroundRanks(number, around)
	only, ok := x.ranksOf(number, last)
	if !ok {
		return
	}
	if !x.started {
		x.fail(number, last.Line, "%%%%mpi: no earlier cell has %%mpi start")
		return
	}
	pieces, around = unwrapped(body(last))
	x.calls = append(x.calls, call{number, true, only, append(looking, x.aroundRanks(number, around)...)})
	x.add(x.ranks, &cell{number: number, before: text}, pieces)
}

// body is what stands below a cell's magic, at its lines in the cell.
func body(m magic.Piece) []magic.Piece {
	inner := magic.Pieces(strings.Repeat("\n", m.Line+m.Head-1) + m.Text)
	return slices.DeleteFunc(inner, func(p magic.Piece) bool { return p.Magic == "" && strings.TrimSpace(p.Text) == "" && len(inner) > 1 })
}

// unwrapped takes the body of a cell whose magics look at it as it runs, and those.
func unwrapped(pieces []magic.Piece) (inner, around []magic.Piece) {
	for {
		last := pieces[len(pieces)-1]
		if !slices.Contains([]string{"%%compile", "%%time", "%%timeline", "%%profile", "%%check"}, last.Magic) {
			return pieces, around
		}
		around = append(around, last)
		pieces = append(pieces[:len(pieces)-1:len(pieces)-1], body(last)...)
	}
}

// around tells what a program does otherwise of the magics above a cell, and gives
// those that it has functions for.
func (x *exporter) around(number int, magics []magic.Piece) (list []within) {
	for _, m := range magics {
		switch m.Magic {
		case "%%time":
			x.tell(number, m.Line, "%%%%time: the time is not printed")
		case "%%profile":
			x.tell(number, m.Line, "%%%%profile: kernels are not counted")
		case "%%timeline":
			x.tell(number, m.Line, "%%%%timeline: the timeline is recorded, and not drawn")
			list = append(list, within{m.Magic, strings.TrimSpace(m.Args)})
		case "%%check":
			list = append(list, within{m.Magic, ""})
		}
	}
	return list
}

// aroundRanks is around for a cell of the ranks.
func (x *exporter) aroundRanks(number int, magics []magic.Piece) (list []within) {
	for _, m := range magics {
		switch m.Magic {
		case "%%time":
			x.tell(number, m.Line, "%%%%time: the time is not printed")
		case "%%profile":
			x.tell(number, m.Line, "%%%%profile: kernels are not counted")
		case "%%timeline":
			x.tell(number, m.Line, "%%%%timeline: rank 0's timeline is recorded, and not drawn; GOCUDA_TIMELINE records all ranks")
			list = append(list, within{m.Magic, strings.TrimSpace(m.Args)})
		case "%%check":
			x.tell(number, m.Line, "%%%%check: GOCUDA_CHECK does that for programs")
		}
	}
	return list
}

// ranksOf reads the line of %%mpi.
func (x *exporter) ranksOf(number int, p magic.Piece) (only string, ok bool) {
	fields := strings.Fields(p.Args)
	for i := 0; i < len(fields); i++ {
		switch f := fields[i]; {
		case f == "--no-wait":
			x.tell(number, p.Line, "%%%%mpi --no-wait: the program waits until the ranks have run the cell")
		case f == "--timeout":
			x.tell(number, p.Line, "%%%%mpi --timeout: the program has no limit")
			i++
		case regexp.MustCompile(`^\d+(-\d+)?(,\d+(-\d+)?)*$`).MatchString(f):
			var list []string
			for r := range strings.SplitSeq(f, ",") {
				first, end, isRange := strings.Cut(r, "-")
				a, _ := strconv.Atoi(first)
				b := a
				if isRange {
					b, _ = strconv.Atoi(end)
				}
				for ; a <= b; a++ {
					list = append(list, strconv.Itoa(a))
				}
			}
			only = strings.Join(list, ", ")
		default:
			x.fail(number, p.Line, "%%%%mpi %s: a program cannot choose ranks in this way", p.Args)
			return "", false
		}
	}
	return only, true
}

// add gives a cell of Go and magics to its part.
func (x *exporter) add(p *part, c *cell, pieces []magic.Piece) {
	c.name = fmt.Sprintf("cell %d", c.number)
	c.embeds = make(map[string]string)
	var code strings.Builder
	line := 1
	for _, piece := range pieces {
		for ; line < piece.Line; line++ {
			code.WriteByte('\n')
		}
		text := piece.Text
		if piece.Magic != "" {
			text = x.magic(p, c, piece)
		}
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		code.WriteString(text)
		line += strings.Count(text, "\n")
	}
	c.code = strings.TrimSuffix(code.String(), "\n")
	if p == x.main {
		x.calls = append(x.calls, call{cell: c.number})
	}
	typed, e := p.ev.Check(c.name, c.code)
	if e != nil {
		x.fail(c.number, 0, "%s", strings.TrimPrefix(e.Plain(), e.Name+": "))
		return
	}
	if typed.Program {
		x.fail(c.number, 1, "the cell is a program of its own, with a package clause: export its text by itself")
		return
	}
	for _, note := range typed.Notes {
		x.tell(c.number, 0, "%s", note)
	}
	c.typed = typed
	p.cells = append(p.cells, c)
	if p == x.main && x.started {
		p.copies(c)
	}
}

// magic is the Go that stands for a magic, or a comment.
func (x *exporter) magic(p *part, c *cell, m magic.Piece) string {
	said := strings.TrimSpace(m.Magic + " " + m.Args)
	if m.Magic == "!" || m.Magic == "?" {
		said = m.Magic + m.Args
	}
	note := "// " + said + "\n"
	out := func(format string, args ...any) string {
		x.tell(c.number, m.Line, "%s is left out: %s", said, fmt.Sprintf(format, args...))
		return "// " + said + " (left out)\n"
	}
	verb, rest, _ := strings.Cut(m.Args, " ")
	switch m.Magic {
	case "%%cuda", "%%kernel", "%%ptx":
		return x.kernels(p, c, m)
	case "%compile":
		return note
	case "%time":
		x.tell(c.number, m.Line, "%%time: the time is not printed")
		return m.Args
	case "%get":
		return note // go.mod of the notebook's folder has it
	case "%env":
		if name, value, ok := strings.Cut(m.Args, "="); ok && !strings.ContainsAny(value, "{$") {
			return fmt.Sprintf("os.Setenv(%q, %q)\n", strings.TrimSpace(name), strings.TrimSpace(value))
		}
		return out("a program can only do %%env NAME=VALUE")
	case "%mpi":
		switch verb {
		case "start":
			if x.started {
				x.tell(c.number, m.Line, "%%mpi start: the program's ranks keep their variables")
			} else {
				x.ranks.start()
			}
			x.started = true
			return fmt.Sprintf("%s(%s) %s", startName, numberOf(rest), note)
		case "stop":
			return note
		}
		return out("it is for the notebook's ranks")
	case "%check":
		x.tell(c.number, m.Line, "%s: GOCUDA_CHECK does that for programs", said)
		return note
	case "%sim":
		return out("GOCUDA_SIM_DEVICES and the other settings do that for programs")
	case "!", "%%bash", "%%sh", "%%script":
		return out("a program does not run the shell's commands")
	case "?":
		return out("it works in notebooks only")
	}
	if strings.HasPrefix(m.Magic, "%%") {
		return out("it works in notebooks only") + commented(m.Text)
	}
	return out("it works in notebooks only")
}

func commented(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return comment(text)
}

// startName is the builtin by which checked cells have package spmd start ranks.
const startName = "startRanksʹ"

// numberOf is the number of ranks that %mpi start asks for, as Go.
func numberOf(args string) string {
	m := regexp.MustCompile(`(?:^|\s)-n[ =]?(?:([0-9]+)|\{(.*?)\}|\$(\w+))(?:\s|$)`).FindStringSubmatch(args)
	if m == nil {
		return "0"
	}
	return m[1] + m[2] + m[3]
}

// kernels is the Go that compiles a %%cuda or %%kernel cell, or loads a %%ptx cell.
func (x *exporter) kernels(p *part, c *cell, m magic.Piece) string {
	source, err := p.sources.Read(m, c.name, func(name string) []magic.Declaration {
		var list []magic.Declaration
		for _, d := range p.ev.Declarations(name) {
			list = append(list, magic.Declaration(d))
		}
		return list
	})
	if err != nil {
		var bad *magic.Error
		errors.As(err, &bad)
		x.fail(c.number, m.Line, "%v", err)
		return ""
	}
	shared := strings.TrimSpace(source.Shared) + "\n"
	if source.Code == "" {
		return shared
	}
	function, file, suffix := "Compile", fmt.Sprintf("kernels/cell%d.cu", c.number), "CUDA"
	switch {
	case source.PTX:
		function, file, suffix = "LoadPTX", fmt.Sprintf("kernels/cell%d.ptx", c.number), "PTX"
	case source.Go:
		function, file, suffix = "CompileGo", fmt.Sprintf("kernels/cell%d.go.txt", c.number), "Kernels"
	}
	c.embeds[file] = strings.TrimLeft(source.Code, "\n")
	text := fmt.Sprintf("cell%d%s", c.number, suffix)
	var options strings.Builder
	if !source.PTX {
		fmt.Fprintf(&options, ", cuda.SourceName(%q)", file)
	}
	list := func(function string, values []string) {
		if len(values) > 0 {
			quoted := make([]string, len(values))
			for i, v := range values {
				quoted[i] = strconv.Quote(v)
			}
			fmt.Fprintf(&options, ", cuda.%s(%s)", function, strings.Join(quoted, ", "))
		}
	}
	list("Instantiate", source.Instances)
	list("Flag", source.Flags)
	if source.Unchecked {
		options.WriteString(", cuda.Unchecked()")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "//go:embed %s\nvar %s string\n\n", file, text)
	beside := func(option, suffix, ending, code string) {
		name := fmt.Sprintf("kernels/cell%d_%s.%s", c.number, suffix, ending)
		c.embeds[name] = strings.TrimLeft(code, "\n")
		fmt.Fprintf(&b, "//go:embed %s\nvar %s%s string\n\n", name, text, suffix)
		fmt.Fprintf(&options, ", cuda.%s(%s%s)", option, text, suffix)
	}
	for i, code := range source.CUDA {
		beside("WithCUDA", strconv.Itoa(i+1), "cu", code)
	}
	if source.InGo != "" {
		beside("WithGo", "Go", "go.txt", source.InGo)
	}
	module := source.Name
	if module == "" {
		module = "module"
		if len(source.Kernels) == 0 {
			module = "_"
		}
	}
	def := ":="
	if module == "_" {
		def = "="
	}
	if source.Name == "" && module != "_" {
		module = fmt.Sprintf("cell%dModule", c.number)
	}
	fmt.Fprintf(&b, "%s %s must(cuda.%s(%s%s))\n", module, def, function, text, options.String())
	for _, k := range source.Kernels {
		fmt.Fprintf(&b, "%s := must(%s.Kernel(%q))\n", k.Variable, module, k.Name)
	}
	if source.Shared != "" {
		b.WriteString("\n" + shared)
	}
	return b.String()
}
