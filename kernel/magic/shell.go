package magic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"
)

// shellMagic is !command. It is in no Set: it has no name to look up.
var shellMagic = Magic{Name: "!", Usage: "![NAME :=] COMMAND", Run: runShell,
	Doc: "Runs a command of the shell; its exit status, if not zero, fails the cell.\n" +
		"!x := ls puts the lines of its output into x, a []string, instead of showing them.\n" +
		"{expression} is the value of Go if it begins with a name that a cell declared; other braces and $ are the shell's.\n" +
		"What a command leaves running ends with the notebook; setsid COMMAND & outlives it."}

var shellMagics = []Magic{
	{Name: "bash", Usage: "%%bash [OPTION]...", Cell: true, Run: runScript("bash"),
		Doc: "Runs the cell as a bash script; its exit status, if not zero, fails the cell.\n" +
			"What it leaves running ends with the notebook; setsid COMMAND & outlives it."},
	{Name: "sh", Usage: "%%sh [OPTION]...", Cell: true, Run: runScript("sh"),
		Doc: "Runs the cell as a script of sh; its exit status, if not zero, fails the cell."},
}

// goName matches what may have been meant as Go.
var goName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL_][\pL\pN_]*$`) })

// assigned matches a command whose output goes into a variable.
var assigned = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([\pL_][\pL\pN_]*)[ \t]*:=[ \t]*(.+)$`)
})

func runShell(ctx context.Context, env Env, call Call) error {
	title := "!" + call.Args
	command, name := call.Args, ""
	if m := assigned().FindStringSubmatch(command); m != nil {
		name, command = m[1], m[2]
	}
	command, err := expandShell(env, call, command, len(call.Args)-len(command))
	if err != nil {
		return err
	}
	args := []string{"sh", "-c", command}
	if bash, err := exec.LookPath("bash"); err == nil {
		args[0] = bash
	} else if runtime.GOOS == "windows" {
		args = []string{"cmd", "/c", command}
	}
	var output bytes.Buffer
	if name != "" {
		env = captured{env, &output}
	}
	err = shellError(ctx, call, command, title, runCommand(ctx, env, args))
	if name == "" || err != nil {
		return err
	}
	lines := strings.Split(strings.ReplaceAll(output.String(), "\r\n", "\n"), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return env.Define(name, lines)
}

// captured is an Env whose output is kept.
type captured struct {
	Env
	output *bytes.Buffer
}

func (c captured) Stdout() io.Writer { return c.output }

// expandShell replaces {expression} where the expression begins with a name that
// a cell declared; the command begins at byte from of the arguments.
func expandShell(env Env, call Call, command string, from int) (string, error) {
	var names map[string]bool
	var out strings.Builder
	for i := 0; i < len(command); i++ {
		if command[i] != '{' || i > 0 && command[i-1] == '$' {
			out.WriteByte(command[i])
			continue
		}
		n := expression(command[i+1:])
		if n < 0 {
			out.WriteByte('{')
			continue
		}
		if names == nil {
			names = make(map[string]bool)
			for _, name := range env.Names() {
				names[name.Name] = true
			}
		}
		inner := command[i+1 : i+1+n]
		if !names[inner[:identifier(inner)]] {
			out.WriteByte('{')
			continue
		}
		text, err := env.Text(inner, call.Line, call.Column+from+i+1)
		if err != nil {
			return "", err
		}
		out.WriteString(text)
		i += n + 1
	}
	return out.String(), nil
}

func runScript(shell string) func(context.Context, Env, Call) error {
	return func(ctx context.Context, env Env, call Call) error {
		options, err := call.Fields()
		if err != nil {
			return err
		}
		if strings.TrimSpace(call.Body) == "" {
			return call.UsageErrorf("there is no script below the first line")
		}
		args := append([]string{shell}, options...)
		args = append(args, "-c", strings.ReplaceAll(call.Body, "\r\n", "\n"))
		err = runCommand(ctx, env, args)
		return shellError(ctx, call, "", call.Magic.String(), err)
	}
}

// killDelay is how long an interrupted command has to end by itself.
const killDelay = 800 * time.Millisecond

// runCommand runs a program with the evaluator's output as its own, in a
// process group, which ends with ctx: asked first, then killed.
func runCommand(ctx context.Context, env Env, args []string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = env.Stdout(), env.Stderr()
	setGroup(cmd)
	cmd.Cancel = func() error { return interruptGroup(cmd) }
	// A process that the command left behind may hold the output open.
	cmd.WaitDelay = killDelay
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Run()
	if ctx.Err() != nil {
		killGroup(cmd)
		return context.Cause(ctx)
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil // the command itself succeeded
	}
	return err
}

// shellError tells how a command failed.
func shellError(ctx context.Context, call Call, command, title string, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	message := fmt.Sprintf("%s: %v", title, err)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		message = fmt.Sprintf("%s: exit status %d", title, exit.ExitCode())
		if exit.ExitCode() == 127 {
			message += " (command not found)"
			if goName().MatchString(command) {
				message += fmt.Sprintf("; for the Go expression write (!%s)", command)
			}
		}
	}
	return &Error{"ShellError", message, call.Line}
}
