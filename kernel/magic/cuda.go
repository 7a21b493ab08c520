package magic

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
	"gocuda/internal/spell"
)

func cudaMagic(past *cudaCells) Magic {
	return Magic{Name: "cuda", Usage: "%%cuda [--name NAME] [--instantiate EXPRESSION]... [--show] [COMPILER OPTION]...", Cell: true, Run: past.compile,
		Doc: "Compiles the cell as CUDA C++, and makes a Go variable of each __global__ function.\n" +
			"Functions, types, constants and macros of earlier %%cuda cells can be used; of a name that was declared twice, the last. Their variables cannot be used: each cell is a module with its own memory.\n" +
			"Functions of earlier %%kernel cells can be called; a slice of theirs takes a pointer and a length.\n" +
			"--name NAME: makes a variable of the module too, for its __device__ and __constant__ variables.\n" +
			"--instantiate 'axpy<float>': compiles that instance of a template; its variable is axpy_float.\n" +
			"--show: shows PTX and SASS where there are such, and what each kernel needs: registers, shared memory, occupancy.\n" +
			"Other options are the compiler's, such as -std=c++20, -DN=4, --use_fast_math.\n" +
			"Then, in Go: err := saxpy.Launch(cuda.Grid(64), cuda.Block(256), stream, n, a, x, y)"}
}

func (c *cudaCells) compile(ctx context.Context, env Env, call Call) error {
	fields, err := call.Fields()
	if err != nil {
		return err
	}
	given, rest, err := call.compilerOptions(fields, cudaFlags)
	if err != nil {
		return err
	}
	if strings.TrimSpace(call.Body) == "" {
		return call.UsageErrorf("there is no CUDA C++ below the first line")
	}
	cell := cellName(env)
	code := c.read(call, cell, given, rest, env.Declarations)
	out, err := compileWithin(ctx, func() (cudaCompiled, error) { return code.compile(ctx) })
	c.sayWithoutNVRTC(env)
	if err != nil {
		return err
	}
	c.add(cell, call.Line, call.Body)
	if out.log != "" {
		fmt.Fprintln(env.Stderr(), out.log)
	}
	if given.flags["--show"] {
		show(env, out.module)
	}
	return defineKernels(env, call, out.module, given.name)
}

// sayWithoutNVRTC says once in a session what a simulated cell goes without.
func (c *cudaCells) sayWithoutNVRTC(env Env) {
	if m, err := backend.Simulated(); err == nil && m.WithoutNVRTC() {
		c.without.Do(func() {
			io.WriteString(env.Stderr(), withoutNVRTC) //nolint:errcheck // output that nobody takes is lost
		})
	}
}

const withoutNVRTC = "note: there is no NVRTC here, so the C++ compiler of this machine compiles %%cuda cells, which knows less of CUDA C++. " +
	"To compile them as for a GPU: pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-crt. GOCUDA_SIM_CUDA=c++ hides this line.\n"

// cudaCode is a %%cuda cell as its compiler gets it.
type cudaCode struct {
	cell    string
	alone   string // without what it uses of earlier cells
	earlier *earlier
	options []cuda.CompileOption
	forms   []cudaForm // the second for where a name of earlier cells means something else here
}

// cudaForm is one that is tried.
type cudaForm struct {
	text, inGo string
	err        error // of the Go that it calls
}

func (c *cudaCells) read(call Call, cell string, given compilerOptions, rest []string, declared func(string) []Declaration) *cudaCode {
	code := &cudaCode{cell: cell, earlier: c.earlier(call.Body),
		// The compiler counts from the first line of the cell.
		alone:   fromLine(call.Line, call.Body),
		options: []cuda.CompileOption{cuda.SourceName(compiledAs), cuda.ReportedAs(cell), cuda.Instantiate(given.instances...), cuda.Flag(rest...)}}
	texts := []string{code.earlier.before(code.alone)}
	if code.earlier.text != "" {
		texts = append(texts, code.alone)
	}
	for _, text := range texts {
		inGo, err := c.inGo.called(declared, text)
		code.forms = append(code.forms, cudaForm{text, inGo, err})
	}
	return code
}

// cudaCompiled is what a compiler made, and what it said.
type cudaCompiled struct {
	module *cuda.Module
	log    string // with places as errors of cells have them
}

// compile compiles it. With a "CompileError" comes what the compiler said, too.
func (c *cudaCode) compile(ctx context.Context) (cudaCompiled, error) {
	module, err := c.forms[0].compile(ctx, c.options)
	if len(c.forms) > 1 && errors.Is(err, cuda.ErrInvalidSource) {
		if m, other := c.forms[1].compile(ctx, c.options); other == nil {
			module, err = m, nil
		}
	}
	if err == nil {
		return cudaCompiled{module, c.places(module.Log())}, nil
	}
	var bad *cuda.Error
	if !errors.As(err, &bad) || !errors.Is(err, cuda.ErrInvalidSource) {
		return cudaCompiled{}, err
	}
	log := c.places(bad.Detail) // which has the lines
	if bad.Hint != "" {
		log += "\n" + bad.Hint
	}
	return cudaCompiled{log: log}, &Error{"CompileError", "this CUDA C++ does not compile: " + firstError(log, c.cell) + c.earlier.advice(log), 0}
}

// places writes the places in a compiler's log as all errors of cells have them.
func (c *cudaCode) places(log string) string {
	sources := map[string]string{compiledAs: c.alone}
	for cell := range c.earlier.cells {
		sources[cell.name] = fromLine(cell.line, cell.text)
	}
	return places(strings.TrimRight(log, "\n"), c.cell, sources)
}

// fromLine is what stands below a line of a cell, on the lines that it has there.
func fromLine(line int, text string) string { return strings.Repeat("\n", line) + text }

func (f cudaForm) compile(ctx context.Context, options []cuda.CompileOption) (*cuda.Module, error) {
	if f.err != nil {
		return nil, f.err
	}
	options = append(options[:len(options):len(options)], cuda.Until(ctx))
	if f.inGo != "" {
		options = append(options, cuda.WithGo(f.inGo))
	}
	return cuda.Compile(f.text, options...)
}

// The options without a value that %%cuda and %%kernel have beside the compiler's.
var (
	cudaFlags   = []string{"--show"}
	kernelFlags = []string{"--show", "--unchecked"}
)

// compilerOptions are the options of a cell that is compiled for devices.
type compilerOptions struct {
	name      string          // --name
	instances []string        // --instantiate
	flags     map[string]bool // those without a value
}

// compilerOptions takes the magic's own options out of fields, which may have one dash as
// well as two; the rest is the compiler's.
func (c Call) compilerOptions(fields, flags []string) (given compilerOptions, rest []string, err error) {
	given.flags = make(map[string]bool)
	own := append([]string{"--name", "--instantiate"}, flags...)
	for len(fields) > 0 {
		option, value, joined := strings.Cut(fields[0], "=")
		if slices.Contains(own, "-"+option) {
			option = "-" + option
		}
		ours := option == "--name" || option == "--instantiate"
		switch {
		case !strings.HasPrefix(option, "-"):
			return given, nil, c.UsageErrorf("%q is not an option; write the code below the first line", fields[0])
		case ours && !joined:
			if len(fields) == 1 {
				return given, nil, c.UsageErrorf("%s needs a value", option)
			}
			value, fields = fields[1], fields[1:]
		}
		switch {
		case option == "--name":
			if !token.IsIdentifier(value) || value == "_" {
				return given, nil, c.UsageErrorf("%q cannot be the name of a Go variable", value)
			}
			given.name = value
		case option == "--instantiate":
			given.instances = append(given.instances, value)
		case slices.Contains(flags, option):
			given.flags[option] = true
		default:
			if near := spell.Nearest(option, own, 2); len(near) > 0 && strings.HasPrefix(option, "--") {
				return given, nil, c.UsageErrorf("there is no option %s; did you mean %s?", option, near[0])
			}
			rest = append(rest, fields[0])
		}
		fields = fields[1:]
	}
	return given, rest, nil
}

// compileWithin compiles, but does not wait longer than ctx: not every compilation can be stopped.
func compileWithin[T any](ctx context.Context, compile func() (T, error)) (result T, err error) {
	if ctx.Err() != nil { // compiled code may be in the cache, and then be there as soon
		return result, context.Cause(ctx)
	}
	type outcome struct {
		result T
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := compile()
		done <- outcome{r, err}
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
		return result, context.Cause(ctx)
	}
}

// defineKernels makes the Go variables, and says which.
func defineKernels(env Env, call Call, module *cuda.Module, name string) error {
	kernels := module.Kernels()
	if len(kernels) == 0 && name == "" && offers(call.Body) {
		_, err := io.WriteString(env.Stdout(), "compiled: declarations for later %%cuda cells, and for %%kernel cells that declare their functions without a body\n")
		return err
	}
	templates := module.Uninstantiated()
	if len(kernels) == 0 && name == "" && len(templates) > 0 {
		return call.Errorf("CompileError", "nobody instantiates the kernel template %[1]s: add its arguments to the first line, such as --instantiate '%[1]s<float>', or an instantiation to the code, such as template __global__ void %[1]s<float>(float *);", templates[0])
	}
	if len(kernels) == 0 && name == "" {
		return call.Errorf("CompileError", "there is no __global__ function in this cell: add one, or name the module with --name NAME")
	}
	var said, taken []string
	define := func(variable string, value any) error {
		if slices.Contains(taken, variable) {
			return call.Errorf("CompileError", "two kernels of this cell would be the Go variable %s", variable)
		}
		taken = append(taken, variable)
		return env.Define(variable, value)
	}
	for _, k := range kernels {
		variable := goVariable(k.Name())
		if err := define(variable, k); err != nil {
			return err
		}
		if variable != k.Name() {
			variable += " (" + k.Name() + ")"
		}
		said = append(said, variable)
	}
	if name != "" {
		if err := define(name, module); err != nil {
			return err
		}
		said = append(said, "module "+name)
	}
	fmt.Fprintln(env.Stdout(), "compiled:", strings.Join(said, ", "))
	for _, t := range templates {
		fmt.Fprintf(env.Stdout(), "not compiled: the template %[1]s, which nobody instantiates (for instance --instantiate '%[1]s<float>')\n", t)
	}
	return nil
}

// goVariable is the Go name of a kernel: without its namespaces, with _ for
// what Go does not take, and with _ behind a name that means something in Go.
func goVariable(kernel string) string {
	kernel, parameters, _ := strings.Cut(strings.Replace(kernel, "[", "<", 1), "(")
	if strings.Contains(kernel, "<") { // the parenthesis is an argument's
		kernel, parameters = kernel+" "+parameters, ""
	}
	name, arguments, _ := strings.Cut(kernel, "<")
	arguments += " " + strings.ReplaceAll(parameters, "*", " ptr ")
	if i := strings.LastIndex(name, "::"); i >= 0 {
		name = name[i+2:]
	}
	words := strings.FieldsFunc(name+" "+arguments, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_')
	})
	name = strings.Join(words, "_")
	if token.IsKeyword(name) || slices.Contains(goNames, name) {
		name += "_"
	}
	return name
}

// goNames are the names, beside keywords, that a variable should not hide, or
// cannot have.
var goNames = []string{"init", "main", "_",
	"append", "cap", "clear", "close", "complex", "copy", "delete", "imag", "len", "make", "max", "min", "new", "panic",
	"print", "println", "real", "recover", "any", "bool", "byte", "comparable", "complex64", "complex128", "error",
	"float32", "float64", "int", "int8", "int16", "int32", "int64", "rune", "string", "uint", "uint8", "uint16",
	"uint32", "uint64", "uintptr", "true", "false", "iota", "nil", "cuda", "display"}

var errorLine = regexp.MustCompile(`(?m)^.*\berror\b.*\n?`)

// inHeader matches a message at a place in a file.
var inHeader = regexp.MustCompile(`^(/[^():]*)(?:\((\d+)\)|:(\d+)(?::\d+)?): (.*)`)

// fromCell matches where a template of a header is used, as NVRTC says it.
var fromCell = regexp.MustCompile(`at line (\d+) of (` + compiledAs + `|In\[\d+\])(?:$|[^\w])`)

// firstError puts the first error of a compiler's log before the log, for a line is
// all that some logs keep of a message. Of one in a header it says where the cell uses it.
func firstError(log, cell string) string {
	at := errorLine.FindStringIndex(log)
	if at == nil {
		return log
	}
	first := strings.TrimSpace(log[at[0]:at[1]])
	if m := inHeader.FindStringSubmatch(first); m != nil {
		about := log[at[0]:]
		if next := errorLine.FindStringIndex(about[at[1]-at[0]:]); next != nil {
			about = about[:at[1]-at[0]+next[0]]
		}
		if use := fromCell.FindStringSubmatch(about); use != nil {
			name := use[2]
			if name == compiledAs {
				name = cell
			}
			return fmt.Sprintf("%s:%s: %s (in %s, line %s)\n", name, use[1], m[4], filepath.Base(m[1]), m[2]+m[3]) + log
		}
	}
	if at[0] == 0 {
		return log
	}
	return first + "\n" + log
}
