package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gocuda/kernel/check"
	"gocuda/kernel/evaluator"
	"gocuda/kernel/notebook"
	"gocuda/kernel/packages"
	"gocuda/kernel/profiling"
	"gocuda/kernel/ranks"
	"gocuda/kernel/solved"
	"gocuda/kernel/tracing"
)

var updateDocs = flag.Bool("update-docs", false, "write the cells' outputs into the pages that have others")

// pages are the documents with cells: those of a user, and the README.
func pages(t *testing.T) []string {
	t.Helper()
	list := []string{"../../README.md"}
	for _, pattern := range []string{"../../docs/*.md", "../../docs/*/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, names...)
	}
	if len(list) < 30 {
		t.Fatalf("only %d pages", len(list))
	}
	return list
}

// block is a fenced block of a page.
type block struct {
	info string // what stands after the fence
	text string
	from int // where the text begins and ends in the page
	to   int
}

var fence = regexp.MustCompile("(?ms)^```([^\n`]+)\n(.*?)^```$")

func blocks(page string) (list []block) {
	for _, m := range fence.FindAllStringSubmatchIndex(page, -1) {
		list = append(list, block{page[m[2]:m[3]], page[m[4]:m[5]], m[4], m[5]})
	}
	return list
}

// shown is what a reader sees of a cell's outputs as text.
func shown(c *notebook.Cell) string {
	var b strings.Builder
	for _, o := range c.Outputs {
		var text string
		switch o["output_type"] {
		case "stream":
			text = o["text"].(string)
		case "error":
			text = fmt.Sprintf("%s: %s\n", o["ename"], o["evalue"])
		default:
			text, _ = o["data"].(map[string]any)["text/plain"].(string)
			text += "\n"
		}
		b.WriteString(text)
	}
	var lines []string
	for l := range strings.Lines(b.String()) {
		lines = append(lines, strings.TrimRight(l, " \n"))
	}
	text := strings.TrimRight(strings.Join(lines, "\n"), "\n")
	if text == "" {
		return ""
	}
	return text + "\n"
}

// asShown says whether a page shows an output: "..." stands for any text, and alone
// in a line for any lines.
func asShown(want, got string) bool {
	pattern := regexp.QuoteMeta(want)
	pattern = strings.ReplaceAll(pattern, `\.\.\.`+"\n", "\x00")
	pattern = strings.ReplaceAll(pattern, `\.\.\.`, `[^\n]*?`)
	pattern = strings.ReplaceAll(pattern, "\x00", `(?s:.*?)\n?`)
	return regexp.MustCompile(`^` + pattern + `$`).MatchString(got)
}

// The cells of each page run, one after the other, and print what the page says. A
// block "go" or "cpp" is a cell, but for "go no-run"; a block "output" is what the
// cell above it shows. The comment after a last expression is its value.
func TestCellsOfThePages(t *testing.T) {
	compared := 0
	for _, name := range pages(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		page := string(data)
		var cells []string
		outputs := map[int]block{} // by cell
		values := map[int]string{}
		for _, b := range blocks(page) {
			switch b.info {
			case "go", "cpp":
				text := strings.TrimRight(b.text, "\n")
				cells = append(cells, text)
				if code, comment, ok := strings.Cut(text[strings.LastIndex(text, "\n")+1:], ") // "); ok && !strings.Contains(code, ":=") && strings.HasPrefix(comment, "[") {
					values[len(cells)-1] = comment
				}
			case "output":
				if len(cells) == 0 {
					t.Fatalf("%s: an output without a cell", name)
				}
				outputs[len(cells)-1] = b
			}
		}
		if len(cells) == 0 {
			continue
		}
		compared += len(outputs) + len(values)
		t.Run(strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(name), "../../"), ".md"), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "page.ipynb")
			writeNotebook(t, path, cells...)
			_, _, stderr := run(t, gocudaKernel(t, "run", "--inplace", "--allow-errors", path))
			if strings.Contains(stderr, "no C++ compiler") {
				t.Skip(stderr)
			}
			nb, err := notebook.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range nb.Cells {
				if strings.Contains(shown(c), "need NVRTC on simulated devices") {
					t.Skip("no NVRTC")
				}
			}
			for i, c := range slices.Backward(nb.Cells) {
				got := shown(c)
				want, said := outputs[i]
				switch {
				case said && !asShown(want.text, got):
					if *updateDocs {
						page = page[:want.from] + got + page[want.to:]
						continue
					}
					t.Errorf("cell\n%s\nshows\n%s\nand the page says\n%s", c.Source, got, want.text)
				case !said && values[i] != "" && strings.TrimSpace(got) != values[i]:
					t.Errorf("cell\n%s\nshows\n%s\nand the page says\n%s", c.Source, got, values[i])
				case !said && slices.ContainsFunc(c.Outputs, func(o notebook.Output) bool { return o["output_type"] == "error" }):
					t.Errorf("cell\n%s\nfails, and the page does not say so:\n%s", c.Source, got)
				}
			}
			if *updateDocs {
				if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if compared < 20 {
		t.Errorf("only %d outputs are compared", compared)
	}
}

// The commands of the pages exist, with their flags, and the Makefile has the targets.
func TestCommandsOfThePages(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, c := range commands() {
		known = append(known, c.name)
	}
	found := 0
	for _, name := range pages(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, b := range blocks(string(data)) {
			if b.info == "sh" {
				lines = append(lines, strings.Split(b.text, "\n")...)
			}
		}
		for _, m := range regexp.MustCompile("`((?:gocuda-kernel|make) [^`]+)`").FindAllStringSubmatch(string(data), -1) {
			lines = append(lines, m[1])
		}
		for _, line := range lines {
			line, _, _ = strings.Cut(line, " #")
			words := strings.Fields(line)
			if i := slices.IndexFunc(words, func(w string) bool { return filepath.Base(w) == "gocuda-kernel" }); i >= 0 && i+1 < len(words) {
				command := words[i+1]
				if command == "COMMAND" || command == "help" {
					continue
				}
				if !slices.Contains(known, command) {
					t.Errorf("%s: %s: there is no such command", name, line)
					continue
				}
				help := helpOf(t, command)
				for _, w := range words[i+2:] {
					if flag, ok := strings.CutPrefix(w, "-"); ok && command != "exec" && command != "mpirun" {
						flag, _, _ = strings.Cut(strings.TrimPrefix(flag, "-"), "=")
						if !regexp.MustCompile(`(?m)^ +-` + regexp.QuoteMeta(flag) + `\b`).MatchString(help) {
							t.Errorf("%s: %s: %s has no flag -%s", name, line, command, flag)
						}
					}
				}
				found++
			}
			if len(words) > 1 && words[0] == "make" && words[1] != "..." && !strings.Contains(words[1], "=") && !regexp.MustCompile(`(?m)^`+words[1]+`:`).Match(makefile) {
				t.Errorf("%s: %s: the Makefile has no such target", name, line)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d commands", found)
	}
}

func helpOf(t *testing.T, command string) string {
	t.Helper()
	_, stdout, _ := invoke(t, "help", command)
	return stdout
}

// Each magic has a sentence for each of its options, and each option of its text is
// one that its usage has. What the pages name is there.
func TestMagicsAreDocumented(t *testing.T) {
	option := regexp.MustCompile(`(?:^|[\s\[(])(--?[a-z][a-z-]*)`)
	options := func(text string) (list []string) {
		for _, m := range option.FindAllStringSubmatch(text, -1) {
			list = append(list, m[1])
		}
		return list
	}
	var called []string
	for _, m := range evaluator.Magics(ranks.Attach, check.Attach, tracing.Attach, profiling.Attach, solved.Attach) {
		called = append(called, m.String())
		if len(m.Doc) < 15 || !strings.Contains(m.Usage, strings.TrimLeft(m.Name, "%")) {
			t.Errorf("%s: usage %q, text %q", m, m.Usage, m.Doc)
		}
		for _, o := range options(m.Usage) {
			if !strings.Contains(m.Doc, o) {
				t.Errorf("%s: its text does not say what %s does", m, o)
			}
		}
	}
	for _, name := range pages(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("`(%%?[a-z]+)\\b[^`]*`").FindAllStringSubmatch(string(data), -1) {
			if !slices.Contains(called, m[1]) && m[1] != "%%px" && strings.TrimLeft(m[1], "%") != "name" {
				t.Errorf("%s: there is no magic %s", name, m[1])
			}
		}
	}
	// Each magic is on a page for readers, not in the reference alone.
	var all strings.Builder
	for _, name := range pages(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	for _, m := range called {
		if !strings.Contains(all.String(), m) && m != "%!" { // which pages write as !command
			t.Errorf("no page of the guide names %s", m)
		}
	}
}

// The reference has each command, flag, setting and status, and the packages that
// cells import without a module.
// Each word and option of a usage is completed somewhere in a call.
func TestUsagesAreCompleted(t *testing.T) {
	literal := regexp.MustCompile(`(?:^|[ \[|])(-{0,2}[a-z][a-z0-9-]*)`)
	for _, m := range evaluator.Magics(ranks.Attach, check.Attach, tracing.Attach, profiling.Attach, solved.Attach) {
		reached := make(map[string]bool)
		for calls := [][]string{nil}; len(calls) > 0; calls = calls[1:] {
			for _, word := range m.Next(calls[0]) {
				if reached[word] {
					continue
				}
				reached[word] = true
				with := append(slices.Clone(calls[0]), word)
				calls = append(calls, with, append(slices.Clone(with), "value"))
			}
		}
		_, usage, _ := strings.Cut(m.Usage, " ")
		for _, w := range literal.FindAllStringSubmatch(usage, -1) {
			if !reached[w[1]] {
				t.Errorf("%s: %s is not completed, only %v", m.Usage, w[1], reached)
			}
		}
	}
}

func TestReference(t *testing.T) {
	dir := t.TempDir()
	if status, _, stderr := invoke(t, "reference", dir); status != 0 {
		t.Fatal(stderr)
	}
	page := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	all := page("reference/commands.md")
	for _, c := range commands() {
		if c.summary != "" && !strings.Contains(all, "\n## "+c.name+"\n") {
			t.Errorf("the reference does not have the command %s", c.name)
		}
	}
	for _, s := range statuses {
		if !strings.Contains(page("reference/exit-status.md"), "| "+s.status+" |") {
			t.Errorf("the reference does not have the status %s", s.status)
		}
	}
	if names := page("coming-from/names.md"); strings.Count(names, "\n| `") < 40 || regexp.MustCompile("`[^`]*[()?*+^$\\\\][^`]*` ?[|,]").MatchString(names) {
		t.Errorf("the names of other libraries:\n%s", names)
	}
	source, err := os.ReadFile("../../docs/godoc/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, pack := range packages.All() {
		p := pack.Path
		if i := strings.Index(p, "cudaapi/"); i > 0 && !strings.Contains(string(source), `"`+p[i:]+`"`) {
			t.Errorf("cells import %s, and the reference does not have it", p)
		}
	}
}
