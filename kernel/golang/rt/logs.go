package rt

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"

	"gocuda/kernel/golang/host/generic/plain"
)

// Packages log and slog ask the runtime who called them, and see the interpreter.
// What they then say of it is fixed on its way out.

// logs is what cells get in place of functions of packages log and log/slog.
func (r *Runtime) logs(program bool) map[string]map[string]reflect.Value {
	where := func(w io.Writer) io.Writer {
		if _, ok := w.(*placer); ok {
			return w
		}
		return &placer{w, r}
	}
	l := log.Default()
	if w := r.stderr(); w != os.Stderr {
		l = log.New(w, "", log.LstdFlags)
	}
	funcs := map[string]any{
		"Default": func() *log.Logger { return l },
		"New": func(out io.Writer, prefix string, flag int) *log.Logger {
			return log.New(where(out), prefix, flag) // l.SetFlags may ask for places later
		},
		"SetFlags": func(flag int) {
			l.SetFlags(flag)
			l.SetOutput(where(l.Writer()))
		},
		"SetOutput": func(w io.Writer) { l.SetOutput(where(w)) },
		"Flags":     l.Flags, "Output": l.Output, "Prefix": l.Prefix, "SetPrefix": l.SetPrefix,
		"Writer": func() io.Writer {
			if p, ok := l.Writer().(*placer); ok {
				return p.w
			}
			return l.Writer()
		},
		"Print": l.Print, "Printf": l.Printf, "Println": l.Println,
		"Panic": l.Panic, "Panicf": l.Panicf, "Panicln": l.Panicln,
		"Fatal": l.Panic, "Fatalf": l.Panicf, "Fatalln": l.Panicln,
	}
	if program {
		funcs["Fatal"], funcs["Fatalf"], funcs["Fatalln"] = l.Fatal, l.Fatalf, l.Fatalln
	}
	symbols := make(map[string]reflect.Value)
	for name, f := range funcs {
		symbols[name] = reflect.ValueOf(f)
	}
	return map[string]map[string]reflect.Value{
		"log/log": symbols,
		"log/slog/slog": {
			"NewTextHandler": reflect.ValueOf(func(w io.Writer, opts *slog.HandlerOptions) *slog.TextHandler {
				return slog.NewTextHandler(w, r.sourced(opts))
			}),
			"NewJSONHandler": reflect.ValueOf(func(w io.Writer, opts *slog.HandlerOptions) *slog.JSONHandler {
				return slog.NewJSONHandler(w, r.sourced(opts))
			}),
		},
	}
}

// caller is the call of a cell's code in the calling goroutine that is depth calls
// out from the innermost, which is at 1.
func (r *Runtime) caller(s Stack, depth int) (at plain.Place, ok bool) {
	list := r.places(s)
	for len(list) > 0 && list[0].fun == nil {
		list = list[1:]
	}
	if depth > len(list) {
		return plain.Place{}, false
	}
	return list[depth-1].known(), true
}

// placer writes lines of a log.
type placer struct {
	w io.Writer
	r *Runtime
}

func (p *placer) Write(line []byte) (int, error) {
	out := line
	if bytes.Contains(line, []byte(".go:")) {
		out = p.placed(line, ownStack())
	}
	if _, err := p.w.Write(out); err != nil {
		return 0, err
	}
	return len(line), nil
}

// placed has the cell's place in a line of a log instead of the interpreter's. The
// line says how many calls out from the logger the place was asked for: it holds that
// of the frame.
func (p *placer) placed(line []byte, s Stack) []byte {
	ofLog := func(f stackFrame) bool { return strings.HasPrefix(f.name, "log.") }
	frames := s.frames[max(slices.IndexFunc(s.frames, ofLog), 0):]
	for len(frames) > 0 && ofLog(frames[0]) {
		frames = frames[1:]
	}
	for i, f := range frames {
		for _, name := range []func(string) string{strings.Clone, path.Base} {
			before, after, ok := bytes.Cut(line, fmt.Appendf(nil, "%s:%d: ", name(f.file), f.line))
			if !ok {
				continue
			}
			at, ok := p.r.caller(s, i+1)
			if !ok || !isInterpreter(f.name) {
				return line
			}
			return fmt.Appendf(nil, "%s%s:%d: %s", before, name(at.File), at.Line, after)
		}
	}
	return line
}

// sourced makes the source that a handler adds that of the calling cell.
func (r *Runtime) sourced(opts *slog.HandlerOptions) *slog.HandlerOptions {
	if opts == nil || !opts.AddSource {
		return opts
	}
	changed := *opts
	changed.ReplaceAttr = func(groups []string, a slog.Attr) slog.Attr {
		if s, ok := a.Value.Any().(*slog.Source); ok && a.Key == slog.SourceKey && len(groups) == 0 && s.Function == "reflect.Value.call" {
			if p, ok := r.caller(ownStack(), 1); ok {
				a.Value = slog.AnyValue(&slog.Source{Function: p.Function, File: p.File, Line: p.Line})
			}
		}
		if opts.ReplaceAttr != nil {
			return opts.ReplaceAttr(groups, a)
		}
		return a
	}
	return &changed
}
