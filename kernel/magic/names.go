package magic

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"gocuda/kernel/display"
)

func nameMagics(s *Set) []Magic {
	return []Magic{
		{Name: "env", Usage: "%env [NAME | NAME=VALUE]", Run: environment,
			Doc: "Shows the environment, or one variable of it, or sets one, for Go, C libraries and commands alike."},
		{Name: "who", Usage: "%who [var | const | func | type | import]...", Run: who,
			Doc: "Lists the names that cells declared, with their types and the values of variables."},
		{Name: "whos", Usage: "%whos", Run: whos,
			Doc: "Shows the variables that cells declared in a table: type, value or shape, and bytes.\n" +
				"The bytes are those of the value, with the elements of slices and maps and the memory of buffers on devices,\n" +
				"but without what other pointers lead to."},
		{Name: "reset", Usage: "%reset [-f]", Run: s.reset,
			Doc: "Forgets everything that cells declared, without asking. It accepts -f, as IPython does, and ignores it."},
		{Name: "help", Usage: "%help [MAGIC]", Run: s.help,
			Doc: "Lists the magics, or explains one."},
		{Name: "lsmagic", Usage: "%lsmagic [MAGIC]", Run: s.help,
			Doc: "Lists the magics, or explains one, as %help does."},
		{Name: "pinfo", Usage: "%pinfo NAME", Run: s.pinfo,
			Doc: "Shows what a name means, in the pager. NAME? and ?NAME do the same."},
	}
}

func environment(_ context.Context, env Env, call Call) error {
	out := env.Stdout()
	if call.Args == "" {
		list := os.Environ()
		slices.Sort(list)
		fmt.Fprintln(out, strings.Join(list, "\n"))
		return nil
	}
	name, value, set := strings.Cut(call.Args, "=")
	name = strings.TrimSpace(name)
	if name == "" || strings.ContainsAny(name, " \t") {
		return call.UsageErrorf("%q is not the name of a variable", name)
	}
	if !set {
		value, ok := os.LookupEnv(name)
		if !ok {
			return call.Errorf("NameError", "%s is not set", name)
		}
		fmt.Fprintln(out, value)
		return nil
	}
	value = strings.TrimSpace(value)
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		value = value[1 : n-1]
	}
	if err := os.Setenv(name, value); err != nil {
		return call.Errorf("NameError", "%v", err)
	}
	fmt.Fprintf(out, "%s=%s\n", name, value)
	return nil
}

var nameKinds = []string{"var", "const", "func", "type", "import"}

func who(_ context.Context, env Env, call Call) error {
	wanted, err := call.Fields()
	if err != nil {
		return err
	}
	for _, w := range wanted {
		if !slices.Contains(nameKinds, w) {
			return call.UsageErrorf("unknown kind of name %q", w)
		}
	}
	var text bytes.Buffer // whole, so that it comes as one output
	out := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
	names := slices.Clone(env.Names())
	slices.SortStableFunc(names, func(a, b Name) int { return strings.Compare(a.Name, b.Name) })
	found := false
	for _, n := range names {
		if strings.HasPrefix(n.Name, "_") || len(wanted) > 0 && !slices.Contains(wanted, n.Kind) {
			continue
		}
		found = true
		value := ""
		if n.Value != nil {
			value = n.Value()
		}
		fmt.Fprintln(out, strings.TrimRight(strings.Join([]string{n.Kind, n.Name, n.Type, value}, "\t"), "\t"))
	}
	if !found {
		fmt.Fprintln(out, "no names are declared")
	}
	out.Flush()
	_, err = env.Stdout().Write(text.Bytes())
	return err
}

func (s *Set) reset(_ context.Context, env Env, call Call) error {
	if call.Args != "" && call.Args != "-f" { // as IPython's, which asks without it
		return call.UsageErrorf("it takes no arguments but -f")
	}
	s.past.forget()
	return env.Reset()
}

func (s *Set) help(_ context.Context, env Env, call Call) error {
	out := env.Stdout()
	if call.Args != "" {
		text, ok := s.describe(call.Args)
		if !ok {
			name := strings.TrimLeft(call.Args, "%")
			return s.unknown("%"+name, piece{kind: line, line: call.Line})
		}
		fmt.Fprint(out, text)
		return nil
	}
	var text strings.Builder
	var rows [][]string
	for _, m := range s.Help() {
		summary := m.summary()
		rows = append(rows, []string{m.Usage, summary})
		if len(m.Usage) > helpColumn-2 {
			fmt.Fprintf(&text, "%s\n%*s%s\n", m.Usage, helpColumn, "", summary)
			continue
		}
		fmt.Fprintf(&text, "%-*s%s\n", helpColumn, m.Usage, summary)
	}
	table := display.Table(rows, "usage", "what it does")
	table.Data["text/plain"] = strings.TrimSuffix(text.String(), "\n")
	display.Show(table)
	return nil
}

// summary is the first sentence of the magic's documentation.
func (m Magic) summary() string {
	text := strings.Join(strings.Fields(m.Doc), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i+1]
	}
	return text
}

// helpColumn is where the explanations of %help stand.
const helpColumn = 26

// describe gives the usage and documentation of the magics of a name, with or
// without its %.
func (s *Set) describe(called string) (string, bool) {
	var out strings.Builder
	name := strings.TrimLeft(called, "%")
	for _, m := range append(s.List(), shellMagic) {
		if m.Name == name && (name == called || m.String() == called) {
			fmt.Fprintf(&out, "%s\n%s\n", m.Usage, m.Text())
		}
	}
	return out.String(), out.Len() > 0
}

func (s *Set) pinfo(_ context.Context, env Env, call Call) error {
	if call.Args == "" || strings.ContainsAny(call.Args, " \t") {
		return call.UsageErrorf("want one name")
	}
	if strings.HasPrefix(call.Args, "%") {
		text, ok := s.describe(call.Args)
		if !ok {
			return s.unknown(call.Args, piece{kind: line, line: call.Line})
		}
		env.Pager(display.Text(text))
		return nil
	}
	b := env.Inspect(call.Args)
	if b == nil {
		return call.Errorf("NameError", "nothing is known about %s", call.Args)
	}
	env.Pager(*b)
	return nil
}
