package magic

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/gokernel"
)

// Piece is a run of whole lines of a cell: Go code, or one magic.
type Piece struct {
	Magic string // as it is called, such as "%cd" or "%%cuda"; "!" of a shell line, "?" of a question; "" of Go
	Args  string // the rest of its line
	Text  string // of Go, the lines; of a cell magic, those below its own
	Lines int    // how many lines it has in the cell, but for the cell's last line break
	Line  int    // the first, from 1
	Head  int    // how many of its lines are the magic's own
}

// Pieces cuts a cell into Go and magics, for those who read it without running it.
func Pieces(code string) []Piece {
	var list []Piece
	for _, p := range split(code) {
		out := Piece{Text: p.text, Line: p.line, Head: 1, Lines: strings.Count(strings.TrimSuffix(p.text, "\n"), "\n") + 1}
		head, body, more := headOf(p.text)
		switch p.kind {
		case line:
			head, body = joinLines(p.text), ""
			fallthrough
		case cell:
			out.Magic, out.Args, _ = strings.Cut(strings.TrimSpace(head), " ")
			out.Args, out.Text = strings.TrimSpace(out.Args), body
			if p.kind == cell {
				out.Head = more
			}
		case shell:
			out.Magic, out.Args, out.Text = "!", strings.TrimSpace(strings.TrimSpace(joinLines(p.text))[1:]), ""
		case inspect:
			out.Magic, out.Args, out.Text = "?", strings.Trim(p.text, "? \t\r\n"), ""
		}
		list = append(list, out)
	}
	return list
}

// Sources are the %%cuda, %%kernel and %%ptx cells of a session, for programs that compile
// them by package cuda themselves.
type Sources struct {
	cuda    *cudaCells
	kernels *kernelCells
}

// NewSources returns those of a session without any.
func NewSources() *Sources {
	past := newCells()
	return &Sources{past, past.inGo}
}

// Source is what a program compiles in place of a %%cuda, %%kernel or %%ptx cell; nothing, where
// Code is empty.
type Source struct {
	Code      string
	Go        bool // it is for cuda.CompileGo
	PTX       bool // it is for cuda.LoadPTX
	Name      string
	Instances []string
	Flags     []string
	Unchecked bool
	CUDA      []string // for cuda.WithCUDA
	InGo      string   // for cuda.WithGo
	Kernels   []Kernel
	Shared    string // declarations of the cell that Go uses too
}

// Kernel is one of a module, and the Go variable that a cell makes of it.
type Kernel struct{ Name, Variable string }

// Read reads a cell. declared gives what earlier cells declared under a name.
func (s *Sources) Read(p Piece, cell string, declared func(name string) []Declaration) (Source, error) {
	call, fields, err := p.call()
	if err != nil {
		return Source{}, err
	}
	switch p.Magic {
	case "%%cuda":
		return s.readCUDA(call, fields, cell, declared)
	case "%%ptx":
		return readPTX(call)
	}
	return s.readKernel(call, fields, cell, declared)
}

// call is the piece as a call of its magic, and the fields of its arguments.
func (p Piece) call() (call Call, fields []string, err error) {
	call = Call{Magic: Magic{Name: strings.TrimPrefix(p.Magic, "%%"), Cell: true}, Args: p.Args, Body: p.Text, Line: p.Line + p.Head - 1}
	if fields, err = call.Fields(); err == nil && strings.TrimSpace(call.Body) == "" {
		err = call.Errorf("UsageError", "there is no code below the first line")
	}
	return call, fields, err
}

// Compiled is a %%cuda or %%ptx cell, for programs that want to know what its compiler says.
type Compiled struct {
	// Key is equal for cells of which the compiler says the same.
	Key string
	// Messages compiles the cell, and returns what the compiler says, with places such as
	// "In[5]:4:12". The error is an [*Error] if the source is wrong; another, if the cell
	// cannot be compiled here, or ctx ends.
	Messages func(ctx context.Context) (string, error)
}

// Compiled reads a %%cuda or %%ptx cell; nil: what it includes depends on the folder that it
// runs in. declared gives what earlier cells declared under a name.
func (s *Sources) Compiled(p Piece, cell string, declared func(name string) []Declaration) (*Compiled, error) {
	call, fields, err := p.call()
	if err != nil {
		return nil, err
	}
	if p.Magic == "%%ptx" {
		_, err := call.ptxOptions()
		return &Compiled{fmt.Sprintf("%q ptx %d %q", cell, call.Line, call.Body), func(ctx context.Context) (log string, err error) {
			if _, err = assemble(ctx, call, cell); err != nil {
				log = strings.TrimPrefix(err.Error(), "this PTX does not assemble: ")
			}
			return log, err
		}}, err
	}
	given, rest, err := call.compilerOptions(fields, cudaFlags)
	if err != nil {
		return nil, err
	}
	code := s.cuda.read(call, cell, given, rest, declared)
	s.cuda.add(cell, call.Line, call.Body)
	if slices.ContainsFunc(rest, includesRelative) {
		return nil, nil
	}
	return &Compiled{fmt.Sprintf("%q %q %q %+v", cell, given.instances, rest, code.forms), func(ctx context.Context) (string, error) {
		out, err := code.compile(ctx)
		return out.log, err
	}}, nil
}

func includesRelative(option string) bool {
	m := includes.FindStringSubmatch(option)
	return m != nil && !filepath.IsAbs(m[1])
}

var includes = regexp.MustCompile(`^(?:-I|--include-path|--pre-include)=?(.*)`)

// Share returns what a %%kernel cell declares for Go cells too, without a compile.
func (s *Sources) Share(p Piece, cell string) string {
	return s.kernels.remember(Call{Body: p.Text, Line: p.Line + p.Head - 1}, cell)
}

func (s *Sources) readCUDA(call Call, fields []string, cell string, declared func(string) []Declaration) (Source, error) {
	given, rest, err := call.compilerOptions(fields, cudaFlags)
	if err != nil {
		return Source{}, err
	}
	earlier := s.cuda.earlier(call.Body)
	inGo, err := s.kernels.called(declared, earlier.text+call.Body)
	if err != nil {
		return Source{}, err
	}
	s.cuda.add(cell, call.Line, call.Body)
	out := Source{Code: withoutLines(earlier.text) + call.Body, InGo: ofLines.ReplaceAllString(inGo, ""), Name: given.name, Instances: given.instances, Flags: rest}
	out.name(slices.Concat(cuda.KernelNames(call.Body), given.instances))
	return out, nil
}

func withoutLines(text string) string { return ofLinesInCUDA.ReplaceAllString(text, "") }

// ofLinesInCUDA does so of CUDA C++.
var ofLinesInCUDA = regexp.MustCompile(`(?m)^#line .*\n`)

// ofLines matches what tells the compiler of lines of cells.
var ofLines = regexp.MustCompile(`(?m)^//line .*\n`)

func (s *Sources) readKernel(call Call, fields []string, cell string, declared func(string) []Declaration) (Source, error) {
	given, rest, err := call.compilerOptions(fields, kernelFlags)
	if err != nil {
		return Source{}, err
	}
	code, err := s.kernels.source(declared, call, cell)
	if err != nil {
		return Source{}, err
	}
	program, err := gokernel.Compile(code, gokernel.Options{Name: cell, Instances: given.instances})
	var none gokernel.NoKernel
	if errors.As(err, &none) && given.name == "" {
		return Source{Shared: s.kernels.remember(call, cell)}, nil
	}
	if err != nil {
		return Source{}, fmt.Errorf("this cannot be a kernel: %w", err)
	}
	out := Source{
		Shared: s.kernels.remember(call, cell),
		Code:   ofLines.ReplaceAllString(code, ""), Go: true, Name: given.name, Instances: given.instances, Flags: rest,
		Unchecked: given.flags["--unchecked"], CUDA: s.cuda.needed(code),
	}
	var names []string
	for _, k := range program.Kernels {
		names = append(names, k.Name)
	}
	out.name(names)
	return out, nil
}

func (s *Source) name(kernels []string) {
	for _, k := range kernels {
		s.Kernels = append(s.Kernels, Kernel{k, goVariable(k)})
	}
}
