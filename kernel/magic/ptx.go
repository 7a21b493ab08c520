package magic

import (
	"context"
	"errors"
	"fmt"
	"regexp"
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
	fields, err := call.Fields()
	if err != nil {
		return err
	}
	given, rest, err := call.compilerOptions(fields, cudaFlags)
	if err != nil {
		return err
	}
	if len(given.instances) > 0 {
		rest = append(rest, "--instantiate") // which only templates have
	}
	if len(rest) > 0 {
		return call.UsageErrorf("there is no option %s", rest[0])
	}
	if strings.TrimSpace(call.Body) == "" {
		return call.UsageErrorf("there is no PTX below the first line")
	}
	module, err := compileWithin(ctx, func() (*cuda.Module, error) { return cuda.LoadPTX(fromLine(call.Line, call.Body)) })
	if bad := (*cuda.Error)(nil); errors.As(err, &bad) && (errors.Is(err, cuda.ErrInvalidPTX) || errors.Is(err, cuda.ErrInvalidImage)) {
		message := bad.Detail
		if at := ofPTX.FindStringSubmatchIndex(message); at != nil {
			message = fmt.Sprintf("%s:%s: error: %s", cellName(env), message[at[2]:at[3]], message[at[1]:])
		}
		return &Error{"CompileError", "this PTX does not assemble: " + message, 0} // which has the line
	}
	if err != nil {
		return err
	}
	if given.flags["--show"] {
		show(env, module)
	}
	if len(module.Kernels()) == 0 && given.name == "" {
		return call.Errorf("CompileError", "there is no .entry in this cell: add one, or name the module with --name NAME")
	}
	return defineKernels(env, call, module, given.name)
}
