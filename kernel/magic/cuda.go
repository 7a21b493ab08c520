package magic

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"io"
	"regexp"
	"slices"
	"strings"

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
	compile := func(code string) (*cuda.Module, error) {
		options := []cuda.CompileOption{cuda.SourceName(compiledAs), cuda.Instantiate(given.instances...), cuda.Flag(rest...)}
		source, err := c.inGo.called(env.Declarations, code)
		if err != nil {
			return nil, err
		}
		if source != "" {
			options = append(options, cuda.WithGo(source))
		}
		return compileWithin(ctx, func() (*cuda.Module, error) { return cuda.Compile(code, options...) })
	}
	// The compiler counts from the first line of the cell.
	alone := strings.Repeat("\n", call.Line) + call.Body
	earlier := c.earlier(call.Body)
	module, err := compile(earlier.before(alone))
	if err != nil && earlier.text != "" && errors.Is(err, cuda.ErrInvalidSource) { // a name of theirs means something else here
		if m, other := compile(alone); other == nil {
			module, err = m, nil
		}
	}
	if err != nil {
		var failed *cuda.Error
		if errors.As(err, &failed) && errors.Is(err, cuda.ErrInvalidSource) {
			log := places(strings.TrimRight(failed.Detail, "\n"), cell, alone) // which has the lines
			if failed.Hint != "" {
				log += "\n" + failed.Hint
			}
			return &Error{"CompileError", "this CUDA C++ does not compile: " + firstError(log) + earlier.advice(log), 0}
		}
		return err
	}
	c.add(cell, call.Line, call.Body)
	if log := strings.TrimRight(module.Log(), "\n"); log != "" {
		fmt.Fprintln(env.Stderr(), places(log, cell, alone))
	}
	if given.flags["--show"] {
		show(env, module)
	}
	return defineKernels(env, call, module, given.name)
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

// compileWithin compiles, but does not wait longer than ctx: a compilation
// cannot be stopped.
func compileWithin(ctx context.Context, compile func() (*cuda.Module, error)) (*cuda.Module, error) {
	type outcome struct {
		module *cuda.Module
		err    error
	}
	if ctx.Err() != nil { // compiled code may be in the cache, and then be there as soon
		return nil, context.Cause(ctx)
	}
	done := make(chan outcome, 1)
	go func() {
		m, err := compile()
		done <- outcome{m, err}
	}()
	select {
	case o := <-done:
		return o.module, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// defineKernels makes the Go variables, and says which.
func defineKernels(env Env, call Call, module *cuda.Module, name string) error {
	kernels := module.Kernels()
	if len(kernels) == 0 && name == "" && offers(call.Body) {
		_, err := io.WriteString(env.Stdout(), "compiled: declarations for later %%cuda cells, and for %%kernel cells that declare their functions without a body\n")
		return err
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
	return nil
}

// goVariable is the Go name of a kernel: without its namespaces, with _ for
// what Go does not take, and with _ behind a name that means something in Go.
func goVariable(kernel string) string {
	name, arguments, _ := strings.Cut(strings.Replace(kernel, "[", "<", 1), "<")
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

// firstError puts the first error of a compiler's log before the log, for a line is
// all that some logs keep of a message.
func firstError(log string) string {
	at := errorLine.FindStringIndex(log)
	if at == nil || at[0] == 0 {
		return log
	}
	return strings.TrimSpace(log[at[0]:at[1]]) + "\n" + log
}
