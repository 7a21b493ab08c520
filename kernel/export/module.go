package export

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// goMod is what a go.mod says that another takes over.
type goMod struct {
	module  string
	goLine  string
	require map[string]string // versions by path
	replace []string
}

var requirement = regexp.MustCompile(`^(\S+) (v\S+)`)

// readMod reads a go.mod, line by line: the go command has written it.
func readMod(text []byte) goMod {
	m := goMod{require: make(map[string]string)}
	block := ""
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimSpace(line)
		verb := block
		switch {
		case line == ")":
			block = ""
			continue
		case strings.HasSuffix(line, " ("):
			block = strings.TrimSuffix(line, " (")
			continue
		case block == "":
			verb, line, _ = strings.Cut(line, " ")
		}
		switch verb {
		case "module":
			m.module = line
		case "go":
			m.goLine = line
		case "require":
			if r := requirement.FindStringSubmatch(line); r != nil {
				m.require[r[1]] = r[2]
			}
		case "replace":
			m.replace = append(m.replace, line)
		}
	}
	return m
}

// module makes go.mod and go.sum: gocuda by its folder, its modules, and those of
// the notebook's go.mod, if cells import anything of them.
func (x *exporter) module(files map[string]string) error {
	text, err := os.ReadFile(filepath.Join(x.options.Gocuda, "go.mod"))
	if err != nil {
		return fmt.Errorf("no source of gocuda in %s: %w", x.options.Gocuda, err)
	}
	gocuda := readMod(text)
	if gocuda.module != Module {
		return fmt.Errorf("%s is the module %s, not %s", x.options.Gocuda, gocuda.module, Module)
	}
	sum, err := os.ReadFile(filepath.Join(x.options.Gocuda, "go.sum"))
	if err != nil {
		return err
	}
	direct := map[string]string{Module: "v0.0.0"}
	replace := []string{Module + " => " + quoted(x.options.Gocuda)}
	if home := modFolder(x.options.Dir); home != "" {
		text, err := os.ReadFile(filepath.Join(home, "go.mod"))
		if err != nil {
			return err
		}
		theirs := readMod(text)
		if theirs.module != Module && x.importsModules() {
			for path, version := range theirs.require {
				if path == Module {
					continue
				}
				if own, ok := gocuda.require[path]; !ok || newer(version, own) {
					direct[path] = version
				}
			}
			for _, r := range theirs.replace {
				replace = append(replace, absolute(r, home))
			}
			if x.imports(theirs.module) {
				direct[theirs.module] = "v0.0.0"
				replace = append(replace, theirs.module+" => "+quoted(home))
			}
			if more, err := os.ReadFile(filepath.Join(home, "go.sum")); err == nil {
				sum = append(sum, more...)
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "module %s\n\ngo %s\n\nrequire (\n", x.options.Name, gocuda.goLine)
	for _, path := range sortedKeys(direct) {
		fmt.Fprintf(&b, "\t%s %s\n", path, direct[path])
	}
	b.WriteString(")\n\nrequire (\n")
	for _, path := range sortedKeys(gocuda.require) {
		if direct[path] == "" {
			fmt.Fprintf(&b, "\t%s %s // indirect\n", path, gocuda.require[path])
		}
	}
	b.WriteString(")\n\n")
	for _, r := range replace {
		fmt.Fprintf(&b, "replace %s\n", r)
	}
	files["go.mod"] = b.String()
	lines := slices.Collect(strings.Lines(string(bytes.TrimRight(sum, "\n")) + "\n"))
	slices.Sort(lines)
	files["go.sum"] = strings.Join(slices.Compact(lines), "")
	return nil
}

// Module is the path of gocuda's own module.
const Module = "gocuda"

func isOurs(path string) bool { return strings.HasPrefix(path, Module+"/") }

// importsModules says whether cells import packages of other modules than gocuda.
func (x *exporter) importsModules() bool {
	return slices.ContainsFunc(x.importPaths(), func(p string) bool {
		first, _, _ := strings.Cut(p, "/")
		return !isOurs(p) && (strings.Contains(first, ".") || x.options.Dir != "" && first != x.options.Name)
	})
}

func (x *exporter) imports(module string) bool {
	return slices.ContainsFunc(x.importPaths(), func(p string) bool { return p == module || strings.HasPrefix(p, module+"/") })
}

func (x *exporter) importPaths() (list []string) {
	for _, p := range []*part{x.main, x.ranks} {
		for spec := range p.imports {
			list = append(list, spec.path)
		}
	}
	return list
}

// modFolder is the folder of the go.mod that holds for a folder.
func modFolder(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// absolute makes the folder of a replacement one that holds elsewhere.
func absolute(replace, home string) string {
	from, to, ok := strings.Cut(replace, "=>")
	to = strings.TrimSpace(to)
	if ok && (strings.HasPrefix(to, "./") || strings.HasPrefix(to, "../")) {
		to = quoted(filepath.Join(home, to))
	}
	return strings.TrimSpace(from) + " => " + to
}

// quoted is a path as go.mod takes it.
func quoted(path string) string {
	if strings.ContainsAny(path, " \t\"'`()[]{},") {
		return strconv.Quote(path)
	}
	return path
}

// newer says whether a version comes after another.
func newer(a, b string) bool {
	as, bs := strings.Split(strings.TrimPrefix(a, "v"), "."), strings.Split(strings.TrimPrefix(b, "v"), ".")
	for i := range min(len(as), len(bs)) {
		x, errX := strconv.Atoi(as[i])
		y, errY := strconv.Atoi(bs[i])
		if errX != nil || errY != nil {
			return as[i] > bs[i]
		}
		if x != y {
			return x > y
		}
	}
	return false
}
