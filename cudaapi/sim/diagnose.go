package sim

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

const launchInCode = "a launch by <<<...>>>: the host's code is Go here, and launches a kernel by its Launch; kernels cannot launch kernels on simulated devices"

// marked is a message about places in preprocessed source, in the compiler's form.
func marked(pre string, at []int, message string) string {
	var out strings.Builder
	for _, i := range at {
		marker := strings.LastIndex("\n"+pre[:i], "\n# ")
		first, rest, _ := strings.Cut(pre[max(marker, 0):i], "\n")
		var line int
		var file string
		fmt.Sscanf(first, "# %d %q", &line, &file) //nolint:errcheck // the preprocessor begins with one
		fmt.Fprintf(&out, "%s:%d:%d: error: %s\n", file, line+strings.Count(rest, "\n"), len(rest)-strings.LastIndex(rest, "\n"), message)
	}
	return out.String()
}

// unknown is how compilers say that they do not know a name or a header.
var unknown = regexp.MustCompile(`not declared|undeclared|does not name|unknown type|no template named|No such file|not found`)

// hints explain what simulated devices lack, or CUDA has no longer.
var hints = []struct {
	name *regexp.Regexp
	text string
}{
	{regexp.MustCompile(`'(tex|surf)[1-3CL]\w+'|'texture'|'cudaSurfaceObject_t'`), "simulated devices have no textures and surfaces"},
	{regexp.MustCompile(`'cuda[A-Z]\w*'`), "the CUDA runtime is called from Go here, by package cuda"},
	{regexp.MustCompile(`\bmma\.h\b|'n?wmma'|'nvcuda'`), "simulated devices have no tensor cores"},
	{regexp.MustCompile(`'__(shfl|shfl_up|shfl_down|shfl_xor|ballot|any|all)'`), "it is named ..._sync since CUDA 9, and takes a mask of lanes first"},
}

func hint(message string) string {
	for _, h := range hints {
		if unknown.MatchString(message) && h.name.MatchString(message) {
			return ": " + h.text
		}
	}
	return ""
}

var diagnostic = regexp.MustCompile(`^(.+?):(\d+):(?:(\d+):)? (fatal error|error|warning|note): (.*)$`)

// undefined is how linkers say that a function was only declared.
var undefined = regexp.MustCompile(`(?m)^(.*?):(?:(\d+):|\(.*?\):)?.*undefined reference to .(.+?)'?$`)

// unresolved rewrites a linker's messages: each function once.
func (b *build) unresolved(text string) string {
	var out strings.Builder
	told := map[string]bool{}
	for _, g := range undefined.FindAllStringSubmatch(text, -1) {
		name := strings.Replace(strings.Replace(g[3], "gocuda::Index const&, ", "", 1), "gocuda::Index const&", "", 1)
		if told[name] {
			continue
		}
		told[name] = true
		at := b.name
		if file := strings.TrimPrefix(g[1], b.dir+"/"); g[2] != "" && (file == b.name || file == "<stdin>") {
			at += "(" + g[2] + ")"
		}
		fmt.Fprintf(&out, "%s: error: %s is declared and not defined\n", at, name)
	}
	switch len(told) {
	case 0:
		return ""
	case 1:
		fmt.Fprintf(&out, "1 error detected in the compilation of %q.\n", b.name)
	default:
		fmt.Fprintf(&out, "%d errors detected in the compilation of %q.\n", len(told), b.name)
	}
	return out.String()
}

// diagnostics rewrites the compiler's messages in NVRTC's form, with the lines
// of the user's source.
func (b *build) diagnostics(text string) string {
	if log := b.unresolved(text); log != "" {
		return log
	}
	lines := strings.Split(b.code, "\n")
	var out strings.Builder
	count := 0
	for _, l := range strings.Split(text, "\n") {
		g := diagnostic.FindStringSubmatch(l)
		if g == nil {
			continue
		}
		file, kind, msg := g[1], strings.TrimPrefix(g[4], "fatal "), g[5]+hint(g[5])
		if strings.HasPrefix(file, b.include) {
			file, _ = filepath.Rel(b.include, file)
		}
		if kind == "error" {
			count++
		}
		fmt.Fprintf(&out, "%s(%s): %s: %s\n", file, g[2], kind, msg)
		n, _ := strconv.Atoi(g[2])
		if col, _ := strconv.Atoi(g[3]); g[1] == b.name && n >= 1 && n <= len(lines) {
			src := strings.ReplaceAll(strings.TrimRight(lines[n-1], "\r"), "\t", " ")
			fmt.Fprintf(&out, "  %s\n", src)
			if col >= 1 && col <= len(src)+1 {
				fmt.Fprintf(&out, "  %s^\n", strings.Repeat(" ", col-1))
			}
			out.WriteString("\n")
		}
	}
	switch {
	case strings.Contains(text, "Error: no such instruction") || strings.Contains(text, "<inline asm>"):
		return fmt.Sprintf("%s: error: inline assembly: simulated devices run on the CPU and know no PTX\n%s", b.name, text)
	case count == 0 && out.Len() == 0 && strings.TrimSpace(text) != "":
		return text // the linker's words, for example
	case count == 1:
		fmt.Fprintf(&out, "1 error detected in the compilation of %q.\n", b.name)
	case count > 1:
		fmt.Fprintf(&out, "%d errors detected in the compilation of %q.\n", count, b.name)
	}
	return out.String()
}
