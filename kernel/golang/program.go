package golang

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gocuda/kernel/golang/lower"
)

// File is a source file of a program.
type File struct{ Name, Code string }

// RunProgram runs a program, the files of its package main, as the go command
// would: its main runs once. It returns the exit status: that of os.Exit, 2
// after a panic, 1 if the program does not compile; what went wrong is written
// to options.Stderr. args are os.Args after the program's own name. A
// goroutine that panics ends the program at once. os.Exit and log.Fatal end
// this process.
func RunProgram(options Options, files []File, args []string) int {
	crashed := make(chan *Error, 1)
	options.Background = func(e *Error) {
		select {
		case crashed <- e:
		default:
		}
	}
	options.Args = args
	if len(files) > 0 {
		options.Args = append([]string{files[0].Name}, args...)
	}
	ev, err := newEvaluator(options, true)
	if err != nil {
		fmt.Fprintln(cmp.Or[io.Writer](options.Stderr, os.Stderr), err)
		return 1
	}
	ev.rt.Exit = os.Exit
	if options.Started != nil {
		options.Started(ev)
	}
	report := func(e *Error) {
		for i, line := range e.Traceback {
			if i == 0 && e.Name == "Panic" {
				line = strings.ReplaceAll(line, "\n", "\n\t")
			}
			fmt.Fprintln(ev.options.Stderr, withoutColour(line))
		}
	}
	for _, f := range files {
		if e := ev.require(f.Name, f.Code); e != nil {
			report(e)
			return 1
		}
	}
	entry, e := ev.compileProgram(files)
	if e != nil {
		report(e)
		return 1
	}
	done := make(chan Result, 1)
	go func() { done <- ev.execute("main", *entry) }()
	var failed *Error
	select {
	case res := <-done:
		if failed = res.Err; failed != nil && failed.Name == "Goexit" {
			failed = ev.afterMain(crashed)
		}
	case failed = <-crashed:
	}
	if failed == nil {
		return 0
	}
	if failed.Name == "Exit" {
		return failed.Status
	}
	if failed.Name == "StackOverflow" { // no cell's state is kept
		why, _, _ := strings.Cut(failed.Message, ";")
		failed.Traceback[0] = "fatal error: " + why
	}
	report(failed)
	return 2
}

// afterMain waits for what ends a program whose main goroutine has ended by itself.
func (ev *Evaluator) afterMain(crashed <-chan *Error) *Error {
	watch := time.NewTicker(deadlockWatch)
	defer watch.Stop()
	for {
		select {
		case failed := <-crashed:
			return failed
		case <-watch.C:
		}
		switch stacks, stuck := ev.stuck(nil); {
		case len(ev.rt.Live()) == 0:
			select {
			case failed := <-crashed:
				return failed
			default:
			}
			return ev.texts.fatal("no goroutines (main called runtime.Goexit) - deadlock!", nil)
		case stuck:
			return ev.texts.fatal(asleep, ev.rt.Where(nil, stacks))
		}
	}
}

func withoutColour(s string) string {
	for _, c := range []string{bold, faint, plain} {
		s = strings.ReplaceAll(s, c, "")
	}
	return s
}

// compileProgram checks and lowers a program.
func (ev *Evaluator) compileProgram(files []File) (*func(), *Error) {
	var asts []*ast.File
	codes := make(map[string]string)
	var mistakes []mistake
	for _, f := range files {
		codes[f.Name] = f.Code
		mode := parser.AllErrors | parser.SkipObjectResolution
		if hasEmbed(f.Code) {
			mode |= parser.ParseComments
		}
		a, err := parser.ParseFile(ev.fset, f.Name, f.Code, mode)
		if list, ok := err.(scanner.ErrorList); ok {
			mistakes = append(mistakes, syntaxErrors(parseErrors(list, f.Name, f.Code))...)
		}
		asts = append(asts, a)
	}
	if mistakes != nil {
		return nil, programError(codes, mistakes)
	}
	pkg := types.NewPackage("main", "main")
	info := newInfo()
	conf := types.Config{Importer: ev.importer, GoVersion: "go1.26", Sizes: sizes, Error: func(err error) {
		te := err.(types.Error)
		if !strings.HasPrefix(te.Msg, "missing function body") {
			mistakes = append(mistakes, typeMistake(te))
		}
	}}
	types.NewChecker(&conf, ev.fset, pkg, info).Files(asts)
	main, _ := pkg.Scope().Lookup("main").(*types.Func)
	if main == nil && mistakes == nil {
		mistakes = append(mistakes, mistake{file: files[0].Name, line: 1, column: 1, text: "function main is undeclared in the main package"})
	}
	if mistakes != nil {
		return nil, programError(codes, mistakes)
	}
	ev.noteAlarms(info)
	embeds, err := embedded(info, asts, ev.fset, filepath.Dir(files[0].Name))
	if err != nil {
		return nil, &Error{Name: "CompileError", Message: err.Error(), Traceback: []string{err.Error()}}
	}
	ev.lower.Instrument, ev.lower.Debug = ev.touches(), ev.debugger.isOn()
	var decls []*ast.FuncDecl
	for _, a := range asts {
		for _, d := range a.Decls {
			if fd, ok := d.(*ast.FuncDecl); ok {
				decls = append(decls, fd)
			}
		}
	}
	made, _, err := ev.compileFuncs(decls, info, ev.compileMode())
	if err != nil {
		return nil, noCompiler(err)
	}
	ev.beginLowering(files[0].Name)
	f, err := ev.compileOutput(func() lower.Output {
		ev.install(made)
		var inits []*types.Func
		for i, a := range asts {
			inits = append(inits, ev.declareFuncs(a, info, files[i].Name, made)...)
		}
		return ev.lowerPackage(files[0].Name, pkg, info, inits, main, embeds)
	})
	if err != nil {
		return nil, &Error{Name: "InternalError", Message: err.Error(), Traceback: []string{
			"The front end cannot run this program: " + err.Error()}}
	}
	ev.remember(&checked{funcs: decls, info: info}, made)
	return f, nil
}

func programError(codes map[string]string, list []mistake) *Error {
	return compileError(codes[list[0].file], list)
}
