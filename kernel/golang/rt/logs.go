package rt

import (
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"path"
	"reflect"
	"regexp"

	"gocuda/kernel/golang/host/generic/plain"
)

// Packages log and slog ask the runtime who called them, and see the interpreter.
// What they then say of it is mended on its way out.

// logs is what cells get in place of functions of packages log and log/slog.
func (r *Runtime) logs(program bool) map[string]map[string]reflect.Value {
	const places = log.Lshortfile | log.Llongfile
	where := func(w io.Writer, flags int) io.Writer {
		if _, ok := w.(*placer); ok || flags&places == 0 {
			return w
		}
		return &placer{w, r, flags&log.Lshortfile != 0}
	}
	l := log.Default()
	if w := r.stderr(); w != os.Stderr {
		l = log.New(w, "", log.LstdFlags)
	}
	funcs := map[string]any{
		"Default": func() *log.Logger { return l },
		"New": func(out io.Writer, prefix string, flag int) *log.Logger {
			return log.New(where(out, flag), prefix, flag)
		},
		"SetFlags": func(flag int) {
			l.SetFlags(flag)
			l.SetOutput(where(l.Writer(), flag))
		},
		"SetOutput": func(w io.Writer) { l.SetOutput(where(w, l.Flags())) },
		"Flags":     l.Flags, "Output": l.Output, "Prefix": l.Prefix, "SetPrefix": l.SetPrefix, "Writer": l.Writer,
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

// caller is the innermost call of a cell's code in the calling goroutine.
func (r *Runtime) caller() (at plain.Place, ok bool) {
	for _, p := range r.places(ownStack()) {
		if p.fun != nil {
			return p.known(), true
		}
	}
	return plain.Place{}, false
}

// placer writes lines of a log.
type placer struct {
	w     io.Writer
	r     *Runtime
	short bool
}

// ofReflect is the place of reflect's call of what a cell calls.
var ofReflect = regexp.MustCompile(`(\S*\breflect/|\b)value\.go:\d+: `)

func (p *placer) Write(line []byte) (int, error) {
	out := line
	if at := ofReflect.FindIndex(line); at != nil {
		if place, ok := p.r.caller(); ok {
			if p.short {
				place.File = path.Base(place.File)
			}
			out = fmt.Appendf(nil, "%s%s:%d: %s", line[:at[0]], place.File, place.Line, line[at[1]:])
		}
	}
	if _, err := p.w.Write(out); err != nil {
		return 0, err
	}
	return len(line), nil
}

// sourced makes the source that a handler adds that of the calling cell.
func (r *Runtime) sourced(opts *slog.HandlerOptions) *slog.HandlerOptions {
	if opts == nil || !opts.AddSource {
		return opts
	}
	changed := *opts
	changed.ReplaceAttr = func(groups []string, a slog.Attr) slog.Attr {
		if s, ok := a.Value.Any().(*slog.Source); ok && a.Key == slog.SourceKey && len(groups) == 0 && s.Function == "reflect.Value.call" {
			if p, ok := r.caller(); ok {
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
