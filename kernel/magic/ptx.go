package magic

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gocuda/cudaapi/cuda"
)

var ptxMagic = Magic{Name: "ptx", Usage: "%%ptx [--name NAME] [--show]", Cell: true, Run: loadPTX,
	Doc: "Takes the cell as PTX, NVIDIA's assembly language, and makes a Go variable of each .entry.\n" +
		"--name NAME: makes a variable of the module too, for its .global and .const variables.\n" +
		"--show: shows what each kernel needs: registers, shared memory, occupancy.\n" +
		"Simulated devices take it, too. Parameters of 64 bits take buffers."}

// ofPTX matches the place of a message about PTX.
var ofPTX = regexp.MustCompile(`\bline (\d+): `)

func loadPTX(ctx context.Context, env Env, call Call) error {
	given, err := call.ptxOptions()
	if err != nil {
		return err
	}
	if strings.TrimSpace(call.Body) == "" {
		return call.UsageErrorf("there is no PTX below the first line")
	}
	module, err := assemble(ctx, call, cellName(env))
	if err != nil {
		return err
	}
	if given.flags["--show"] {
		show(env, module)
	}
	if len(module.Kernels()) == 0 && given.name == "" {
		return call.Errorf("CompileError", noEntry)
	}
	return defineKernels(env, call, module, given.name)
}

// ptxOptions are the options of a %%ptx cell.
func (c Call) ptxOptions() (compilerOptions, error) {
	fields, err := c.Fields()
	if err != nil {
		return compilerOptions{}, err
	}
	given, rest, err := c.compilerOptions(fields, cudaFlags)
	if err != nil {
		return given, err
	}
	if len(given.instances) > 0 {
		rest = append(rest, "--instantiate") // which only templates have
	}
	if len(rest) > 0 {
		return given, c.UsageErrorf("there is no option %s", rest[0])
	}
	return given, nil
}

// assemble loads the PTX of a cell.
func assemble(ctx context.Context, call Call, cell string) (*cuda.Module, error) {
	module, err := compileWithin(ctx, func() (*cuda.Module, error) { return cuda.LoadPTX(fromLine(call.Line, call.Body)) })
	if bad := (*cuda.Error)(nil); errors.As(err, &bad) && (errors.Is(err, cuda.ErrInvalidPTX) || errors.Is(err, cuda.ErrInvalidImage)) {
		message := bad.Detail
		if at := ofPTX.FindStringSubmatchIndex(message); at != nil {
			message = fmt.Sprintf("%s:%s: error: %s", cell, message[at[2]:at[3]], message[at[1]:])
		}
		return nil, &Error{"CompileError", "this PTX does not assemble: " + message, 0} // which has the line
	}
	return module, err
}

// readPTX is what a program loads in place of a %%ptx cell.
func readPTX(call Call) (Source, error) {
	given, err := call.ptxOptions()
	if err != nil {
		return Source{}, err
	}
	out := Source{Code: call.Body, PTX: true, Name: given.name}
	names := ptxKernels(call.Body)
	if len(names) == 0 && given.name == "" {
		return Source{}, call.Errorf("CompileError", noEntry)
	}
	out.name(names)
	return out, nil
}

const noEntry = "there is no .entry in this cell: add one, or name the module with --name NAME"

// ptxKernels are the names of the kernels of PTX, in order, also of PTX that has mistakes.
func ptxKernels(text string) (names []string) {
	for _, m := range ptxEntry.FindAllStringSubmatch(ptxComment.ReplaceAllString(text, " "), -1) {
		if !slices.Contains(names, m[1]) { // a declaration may stand before
			names = append(names, m[1])
		}
	}
	return names
}

var (
	ptxEntry   = regexp.MustCompile(`\.entry\s+([\w$]+)`)
	ptxComment = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
)
