package magic

import (
	"context"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/gokernel"
	"gocuda/kernel/golang/answer"
)

// kernelMagic makes %%kernel. It keeps what its cells declared, for later ones.
func kernelMagic(past *cudaCells) Magic {
	k := past.inGo
	return Magic{Name: "kernel", Usage: "%%kernel [--name NAME] [--instantiate EXPRESSION]... [--unchecked] [--show] [COMPILER OPTION]...", Cell: true, Run: k.run,
		Doc: "Compiles the cell's Go functions for devices, and makes a Go variable of each kernel: a function without results.\n" +
			"Functions, methods, types and constants of earlier cells can be used; variables are given as arguments. Package gpu has ThreadIdx, SyncThreads and the like.\n" +
			"Later kernel cells can use those of this cell. Go cells can use those that need neither package gpu nor the cell's variables. A kernel keeps the code it was compiled with.\n" +
			"A function without a body, such as func curve(x float32) float32, is the __device__ function of that name of an earlier %%cuda cell.\n" +
			"A slice takes a buffer: saxpy.Launch(cuda.Grid(64), cuda.Block(256), stream, a, x, y)\n" +
			"--name NAME: makes a variable of the module too, for its variables.\n" +
			"--instantiate 'axpy[float32]': compiles that instance of a generic function; its variable is axpy_float32.\n" +
			"--unchecked: leaves out the checks of indices, slices and nil pointers.\n" +
			"--show: shows the CUDA C++, PTX and SASS where there are such, and what each kernel needs: registers, shared memory, occupancy.\n" +
			"Other options are the compiler's, such as --fmad=false."}
}

// kernelCells is what the %%kernel cells of a session declared.
type kernelCells struct {
	mu       sync.Mutex
	declared map[string]inKernels
	methods  map[string][]Declaration // of types, by the types' names
	cuda     *cudaCells
}

// inKernels is a declaration of a %%kernel cell; inGo says that Go cells have it too.
type inKernels struct {
	Declaration
	inGo bool
}

func newKernelCells(past *cudaCells) *kernelCells {
	return &kernelCells{declared: make(map[string]inKernels), methods: make(map[string][]Declaration), cuda: past}
}

func (k *kernelCells) run(ctx context.Context, env Env, call Call) error {
	fields, err := call.Fields()
	if err != nil {
		return err
	}
	cell := cellName(env)
	options := []cuda.CompileOption{cuda.SourceName(cell)}
	given, rest, err := call.compilerOptions(fields, kernelFlags)
	if err != nil {
		return err
	}
	if given.instances != nil {
		options = append(options, cuda.Instantiate(given.instances...))
	}
	if given.flags["--unchecked"] {
		options = append(options, cuda.Unchecked())
	}
	options = append(options, cuda.Flag(rest...), cuda.Until(ctx))
	if strings.TrimSpace(call.Body) == "" {
		return call.UsageErrorf("there is no Go below the first line")
	}
	source, err := k.source(env.Declarations, call, cell)
	if err != nil {
		return err
	}
	for _, text := range k.cuda.needed(source) {
		options = append(options, cuda.WithCUDA(text))
	}
	module, err := compileWithin(ctx, func() (*cuda.Module, error) { return cuda.CompileGo(source, options...) })
	var none gokernel.NoKernel
	if errors.As(err, &none) && given.name == "" && given.instances == nil {
		if err := k.shareCell(env, call, cell); err != nil {
			return err
		}
		_, err := fmt.Fprintf(env.Stdout(), "declared for later cells: %s\n", none.Errors[0].Message)
		return err
	}
	var wrong gokernel.Errors
	if errors.As(err, &wrong) {
		text := ""
		for _, e := range wrong {
			if name, ok := strings.CutPrefix(e.Message, "undefined: "); ok && isVariable(env, name) {
				e.Message = name + " is a variable of the notebook, which a kernel cannot see: give it as an argument"
			}
			text += "\n" + e.Error()
			if e.Pos.Filename == cell {
				text += call.pointAt(e.Pos.Line, e.Pos.Column)
			}
		}
		return &Error{"CompileError", "this cannot be a kernel: " + strings.TrimPrefix(text, "\n"), 0} // which has the lines
	}
	if err != nil {
		return err
	}
	if log := strings.TrimRight(module.Log(), "\n"); log != "" {
		fmt.Fprintln(env.Stderr(), log)
	}
	if given.flags["--show"] {
		showSource(env, module)
		show(env, module)
	}
	if err := defineKernels(env, call, module, given.name); err != nil {
		return err
	}
	return k.shareCell(env, call, cell)
}

// shareCell keeps what a cell that compiled declares, and has Go cells know it.
func (k *kernelCells) shareCell(env Env, call Call, cell string) error {
	shared := k.remember(call, cell)
	if shared == "" {
		return nil
	}
	return env.Eval(at(shared, call.Line+1, 1), false)
}

// pointAt is a line of the cell below the call's own, and a mark below its column; empty
// if there is no such place.
func (call Call) pointAt(line, column int) string {
	lines := strings.Split(call.Body, "\n")
	i := line - call.Line - 1
	if i < 0 || i >= len(lines) {
		return ""
	}
	shown, before := answer.PointAt(lines[i], column)
	return "\n" + shown + "\n" + before + "^"
}

// endOfPrelude is the last line of what package gokernel writes before each program.
const endOfPrelude = "\n} // namespace go\n"

// showSource writes the CUDA C++ that kernels in Go became.
func showSource(env Env, module *cuda.Module) {
	source := module.Source()
	if i := strings.LastIndex(source, endOfPrelude); i >= 0 {
		i += len(endOfPrelude)
		fmt.Fprintf(env.Stdout(), "// The %d lines before this are alike for all kernels in Go: --name NAME makes a module whose Source has them.\n", strings.Count(source[:i], "\n"))
		source = source[i:]
	}
	fmt.Fprintln(env.Stdout(), source)
}

// show writes what a module became: PTX and SASS where there are such, and what its
// kernels need.
func show(env Env, module *cuda.Module) {
	d, err := cuda.CurrentDevice()
	if err != nil {
		return
	}
	for _, part := range []struct {
		name string
		make func(*cuda.Device) (string, error)
	}{{"PTX", module.PTX}, {"SASS", module.SASS}} {
		text, err := part.make(d)
		if err != nil {
			fmt.Fprintf(env.Stdout(), "// no %s: %v\n", part.name, err)
			continue
		}
		fmt.Fprintf(env.Stdout(), "// %s\n%s\n", part.name, text)
	}
	for _, k := range module.Kernels() {
		if r, err := k.Resources(d, cuda.BlockDim{}); err == nil {
			fmt.Fprintf(env.Stdout(), "// %s: %s\n", k.Name(), r)
		}
	}
}

// cellName is what the cell that runs is called.
func cellName(env Env) string {
	if past := env.History(); len(past) > 0 {
		return past[len(past)-1].Cell
	}
	return "cell"
}

func isVariable(env Env, name string) bool {
	return slices.ContainsFunc(env.Names(), func(n Name) bool { return n.Name == name && n.Kind == "var" })
}

// source is the cell's Go with what it needs of earlier cells.
func (k *kernelCells) source(declarations func(name string) []Declaration, call Call, cell string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out strings.Builder
	fmt.Fprintf(&out, "//line %s:%d:1\n%s\n", cell, call.Line+1, call.Body)
	have := make(map[string]bool) // names that are declared, or were looked for
	for _, p := range goDecls(call.Body) {
		for _, name := range p.names {
			have[name] = true
		}
	}
	written := make(map[string]bool) // texts: a group declares several names
	var methods []Declaration
	selected := make(map[string]bool)
	var follow func(text string) error
	add := func(d Declaration) error {
		if written[d.Text] {
			return nil
		}
		written[d.Text] = true
		fmt.Fprintf(&out, "//line %s:%d:1\n%s\n", d.Cell, d.Line, d.Text)
		return follow(d.Text)
	}
	follow = func(text string) error {
		for _, w := range words(text) {
			if w.selected {
				selected[w.name] = true
				continue
			}
			if have[w.name] {
				continue
			}
			have[w.name] = true
			list := k.find(w.name, declarations)
			if len(list) == 0 {
				if w.name == "todo" { // as in cells of Go; its result keeps it from being a kernel
					fmt.Fprintf(&out, "\nfunc todo() bool { panic(%q) }\n", answer.NotSolved)
				}
				continue // the checker says what is the matter, unless it is a local name
			}
			methods = append(methods, list[1:]...)
			if err := add(list[0].only(w.name)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := follow(call.Body); err != nil {
		return "", err
	}
	for more := true; more; { // methods that are called, and what these call
		more = false
		for _, m := range slices.Clone(methods) {
			if selected[m.Method] && !written[m.Text] {
				more = true
				if err := add(m); err != nil {
					return "", err
				}
			}
		}
	}
	return out.String(), nil
}

// find returns what a name means to a kernel, and the methods of a type after it. The
// caller holds k.mu.
func (k *kernelCells) find(name string, declarations func(string) []Declaration) []Declaration {
	list := declarations(name)
	if len(list) > 0 && list[0].Kind == "var" {
		list = nil
	}
	own, ok := k.declared[name]
	if ok && (!own.inGo || len(list) == 0) {
		list = []Declaration{own.Declaration}
	}
	for _, m := range k.methods[name] {
		if !slices.ContainsFunc(list, func(d Declaration) bool { return d.Method == m.Method }) {
			list = append(list, m)
		}
	}
	return list
}

// calledIn matches a name before a parenthesis.
var calledIn = regexp.MustCompile(`\b([A-Za-z_]\w*)\s*\(`)

// called are the functions of earlier cells that CUDA C++ calls, with what they need; ""
// if there are none.
func (k *kernelCells) called(declared func(string) []Declaration, text string) (string, error) {
	var own []string // that the C++ defines itself
	for _, m := range regexp.MustCompile(`\b([A-Za-z_]\w*)\s*\([^;{}]*\)\s*\{`).FindAllStringSubmatch(text, -1) {
		own = append(own, m[1])
	}
	var body strings.Builder
	k.mu.Lock()
	for _, m := range calledIn.FindAllStringSubmatch(text, -1) {
		if _, ok := k.declared[m[1]]; !ok || slices.Contains(own, m[1]) {
			continue
		}
		if d := k.find(m[1], declared)[0]; strings.HasPrefix(d.Text, "func ") && !bodiless.MatchString(d.Text) {
			own = append(own, m[1])
			fmt.Fprintf(&body, "//line %s:%d:1\n%s\n", d.Cell, d.Line, d.Text)
		}
	}
	k.mu.Unlock()
	if body.Len() == 0 {
		return "", nil
	}
	return k.source(declared, Call{Body: body.String()}, "cell")
}

// remember keeps what a cell that compiled declares. It returns the cell's text with what
// Go cells can use too, and spaces in place of the rest.
func (k *kernelCells) remember(call Call, cell string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	parts := goDecls(call.Body)
	shared := k.share(parts)
	text := []byte(call.Body)
	for _, p := range parts {
		if p.receiver == "" {
			for _, name := range p.names {
				delete(k.methods, name)
			}
		}
	}
	for i, p := range parts {
		d := Declaration{Cell: cell, Line: call.Line + p.line, Text: p.before + call.Body[p.start:p.end]}
		if p.receiver == "" {
			for _, name := range p.names {
				k.declared[name] = inKernels{d, shared[i]}
			}
		} else if !shared[i] {
			d.Kind, d.Method = "method", p.method
			k.methods[p.receiver] = append(k.methods[p.receiver], d)
		}
		if !shared[i] {
			for j := p.start; j < p.end; j++ {
				if text[j] != '\n' {
					text[j] = ' '
				}
			}
		}
	}
	if !slices.Contains(shared, true) {
		return ""
	}
	return string(text)
}

// word is an identifier of a text; selected ones stand after a dot.
type word struct {
	name     string
	selected bool
}

func words(text string) []word {
	var list []word
	var s scanner.Scanner
	src := []byte(text)
	s.Init(token.NewFileSet().AddFile("", -1, len(src)), src, func(token.Position, string) {}, 0)
	last := token.ILLEGAL
	for {
		_, tok, lit := s.Scan()
		if tok == token.EOF {
			return list
		}
		if tok == token.IDENT {
			list = append(list, word{lit, last == token.PERIOD})
		}
		last = tok
	}
}
