package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gocuda/internal/settings"
	"gocuda/kernel/check"
	"gocuda/kernel/evaluator"
	"gocuda/kernel/profiling"
	"gocuda/kernel/ranks"
	"gocuda/kernel/solved"
	"gocuda/kernel/tracing"
)

// runReference writes the pages of the documentation that are made from the code.
func runReference(c *call) error {
	args, err := c.parse("folder")
	if err != nil {
		return err
	}
	for name, page := range map[string]func(*bytes.Buffer){
		"reference/magics.md":      magicsPage,
		"reference/commands.md":    commandsPage,
		"reference/settings.md":    settingsPage,
		"reference/exit-status.md": statusPage,
		"coming-from/names.md":     namesPage,
	} {
		var b bytes.Buffer
		page(&b)
		path := filepath.Join(args[0], filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func magicsPage(b *bytes.Buffer) {
	fmt.Fprint(b, "# Magics\n\nThe same text as `%help NAME` shows in a notebook.\n")
	last := ""
	for _, m := range evaluator.Magics(ranks.Attach, check.Attach, tracing.Attach, profiling.Attach, solved.Attach) {
		if m.Name != last {
			last = m.Name
			fmt.Fprintf(b, "\n## %s\n", strings.TrimPrefix("%"+m.Name, map[bool]string{true: "%"}[m.Name == "!"]))
		}
		fmt.Fprintf(b, "\n```text\n%s\n```\n\n", m.Usage)
		paragraphs(b, m.Text())
	}
}

// paragraphs writes lines of text, each as a paragraph, as Markdown.
func paragraphs(b *bytes.Buffer, text string) {
	text = regexp.MustCompile(`([^.:])\n`).ReplaceAllString(text, "$1 ") // a sentence that goes on
	for line := range strings.Lines(text) {
		fmt.Fprintf(b, "%s\n\n", escape(strings.TrimSpace(line)))
	}
}

var special = regexp.MustCompile("[\\\\*_<>$`\\[\\]{}#|]")

func escape(text string) string { return special.ReplaceAllString(text, `\$0`) }

func commandsPage(b *bytes.Buffer) {
	fmt.Fprint(b, "# Commands\n\nThe same text as `gocuda-kernel help COMMAND` prints.\n\n```text\n")
	usage(b)
	fmt.Fprint(b, "```\n")
	for _, c := range commands() {
		if c.summary == "" {
			continue
		}
		fmt.Fprintf(b, "\n## %s\n\n```text\n", c.name)
		start(c, []string{"-h"}, b, b)
		fmt.Fprint(b, "```\n")
	}
}

func settingsPage(b *bytes.Buffer) {
	b.WriteString("# Settings\n\nSettings are environment variables. `gocuda-kernel doctor` shows those that are set. From a cell, `%sim` changes the simulated devices, and `%env` shows the environment.\n")
	group := ""
	for _, s := range settings.All() {
		if s.Group != group {
			group = s.Group
			fmt.Fprintf(b, "\n## %s\n\n| variable | meaning | default |\n|---|---|---|\n", group)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", s.Name, s.Meaning, s.Default)
	}
}

func statusPage(b *bytes.Buffer) {
	fmt.Fprint(b, "# Exit status\n\n| status | meaning |\n|---|---|\n")
	for _, s := range statuses {
		fmt.Fprintf(b, "| %s | %s |\n", s.status, s.meaning)
	}
}

func namesPage(b *bytes.Buffer) {
	fmt.Fprint(b, "# All names\n\nWhat a cell hears that uses one of these names. In the advice, `d` is a device, `b` a buffer, `s` a stream, `e` an event and `k` a kernel. Names are without their prefix, such as `cuda`, `cu`, `MPI_` or `comm.`.\n")
	for _, part := range []struct {
		title  string
		advice [][2]string
	}{{"CUDA, CuPy and Numba", evaluator.Advice()}, {"MPI and mpi4py", ranks.Advice()}} {
		fmt.Fprintf(b, "\n## %s\n\n| name | here |\n|---|---|\n", part.title)
		for _, one := range part.advice {
			names := namesOf(one[0])
			for i, n := range names {
				names[i] = "`" + n + "`"
			}
			fmt.Fprintf(b, "| %s | %s |\n", strings.Join(names, ", "), escape(one[1]))
		}
	}
}

var inParentheses = regexp.MustCompile(`\(([^()]*)\)`)

// namesOf are the names that a pattern of a hint stands for.
func namesOf(pattern string) (names []string) {
	pattern = strings.NewReplacer("(?i)", "", "^", "", "$", "", `\w*`, "", `\w+`, "", `\d*`, "", `\d+`, "", "_?", "_", "u?", "").Replace(pattern)
	var expand func(p string) []string
	expand = func(p string) []string {
		m := inParentheses.FindStringSubmatchIndex(p)
		if m == nil {
			return []string{p}
		}
		var all []string
		for _, one := range strings.Split(p[m[2]:m[3]], "|") {
			all = append(all, expand(p[:m[0]]+one+p[m[1]:])...)
		}
		return all
	}
	depth, from := 0, 0
	for i, c := range pattern + "|" {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '|' && depth == 0:
			names = append(names, expand(pattern[from:i])...)
			from = i + 1
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
