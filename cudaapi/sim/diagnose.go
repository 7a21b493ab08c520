package sim

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"gocuda/cudaapi/internal/headers"
)

const launchInCode = "a launch by <<<...>>>: the host's code is Go here, and launches a kernel by its Launch; kernels cannot launch kernels on simulated devices"

// marked is a message about places in preprocessed source, in the compiler's form.
func marked(pre string, at []int, message string) string {
	var out strings.Builder
	for _, i := range at {
		begin := strings.LastIndex("\n"+pre[:i], "\n# ")
		first, rest, _ := strings.Cut(pre[max(begin, 0):i], "\n")
		line, file, _ := marker(first)
		fmt.Fprintf(&out, "%s:%d:%d: error: %s\n", file, line+strings.Count(rest, "\n"), len(rest)-strings.LastIndex(rest, "\n"), message)
	}
	return out.String()
}

// entered matches the line that the preprocessor writes where a header begins. A 3 marks a
// header of the system.
var entered = regexp.MustCompile(`^# \d+ "(.*)" 1( 3)?`)

// hostIncludes says which headers for code of the host are included by the source, or by a
// header of its own.
func (b *build) hostIncludes(pre string) string {
	var out strings.Builder
	var line int // of the file that is read
	file, system := b.name, false
	for text := range strings.SplitSeq(pre, "\n") {
		if !strings.HasPrefix(text, "# ") {
			line++
			continue
		}
		if m := entered.FindStringSubmatch(text); m != nil && m[2] != "" && !system && !strings.HasPrefix(file, b.include) {
			for name, more := m[1], true; more; { // the name may have a folder
				if says := headers.Refusal(name); says != "" {
					fmt.Fprintf(&out, "%s:%d:1: error: %s\n", file, line, says)
				}
				_, name, more = strings.Cut(name, "/")
			}
		}
		line, file, system = marker(text)
	}
	return out.String()
}

// marker reads a line of the preprocessor's that says where the next line is from.
func marker(text string) (line int, file string, system bool) {
	fmt.Sscanf(text, "# %d %q", &line, &file) //nolint:errcheck // the preprocessor writes no other
	return line, file, strings.HasSuffix(text, " 3") || strings.HasSuffix(text, " 3 4")
}

// notFound is how compilers say that there is no such header.
var notFound = regexp.MustCompile(`^'?([\w./]+?)(?:: No such file or directory|' file not found)$`)

// unknown is how compilers say that they do not know a name or a header.
var unknown = regexp.MustCompile(`not declared|undeclared|does not name|unknown type|no template named|No such file|not found`)

// hints explain what simulated devices lack, or CUDA has no longer.
var hints = []struct {
	name *regexp.Regexp
	text string
}{
	{regexp.MustCompile(`'(tex|surf)[1-3CL]\w+'|'texture'|'cudaSurfaceObject_t'`), "textures and surfaces need NVRTC on simulated devices: pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl"},
	{regexp.MustCompile(`'cuda[A-Z]\w*'`), "the CUDA runtime is called from Go here, by package cuda"},
	{regexp.MustCompile(`\bmma\.h\b|'n?wmma'|'nvcuda'`), "tensor cores need NVRTC on simulated devices: pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-crt"},
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

// ofLine matches what tells the compiler of lines.
var ofLine = regexp.MustCompile(`^\s*#\s*(?:line\s+)?(\d+)(?:\s+"(.*?)"[ \d]*)?\s*$`)

// linesOf are those of a text, by "file:line" as it names them itself.
func (b *build) linesOf(text string) map[string]string {
	list := make(map[string]string)
	file, n := b.name, 1
	for l := range strings.SplitSeq(text, "\n") {
		if g := ofLine.FindStringSubmatch(l); g != nil {
			n, _ = strconv.Atoi(g[1])
			file = cmp.Or(g[2], file)
			continue
		}
		list[fmt.Sprintf("%s:%d", file, n)] = l
		n++
	}
	return list
}

var (
	comment = regexp.MustCompile(`/\*.*?(?:\*/|$)|//.*`)
	word    = regexp.MustCompile(`[\w.]+|[^\w\s]`)
)

// columnIn is the column, in a line of the source, of what stands at a column of the line
// that the preprocessor made of it, without comments and with macros' texts; 0: it does not
// stand there.
func columnIn(src, read string, col int) int {
	if read == "" {
		return col
	}
	src = comment.ReplaceAllStringFunc(src, func(c string) string { return strings.Repeat(" ", len(c)) })
	what, n := "", 0 // the token, and how many of its kind stand before it
	for _, at := range word.FindAllStringIndex(read, -1) {
		if at[0] == col-1 {
			what = read[at[0]:at[1]]
			n = strings.Count(" "+strings.Join(word.FindAllString(read[:at[0]], -1), "  ")+" ", " "+what+" ")
		}
	}
	for _, at := range word.FindAllStringIndex(src, -1) {
		if src[at[0]:at[1]] != what {
			continue
		}
		if n == 0 {
			return at[0] + 1
		}
		n--
	}
	return 0
}

// diagnostics rewrites the compiler's messages in NVRTC's form, with the lines
// of the user's source.
func (b *build) diagnostics(text string) string {
	if log := b.unresolved(text); log != "" {
		return log
	}
	lines, read := b.linesOf(b.src.Code), b.linesOf(b.read)
	var out strings.Builder
	count := 0
	for _, l := range strings.Split(text, "\n") {
		g := diagnostic.FindStringSubmatch(l)
		if g == nil {
			continue
		}
		file, kind, msg := g[1], strings.TrimPrefix(g[4], "fatal "), g[5]+hint(g[5])
		if m := notFound.FindStringSubmatch(msg); m != nil {
			msg = cmp.Or(headers.Refusal(m[1]), msg)
		}
		if strings.HasPrefix(file, b.include) {
			file, _ = filepath.Rel(b.include, file)
		}
		if kind == "error" {
			count++
		}
		fmt.Fprintf(&out, "%s(%s): %s: %s\n", file, g[2], kind, msg)
		if src, ok := lines[g[1]+":"+g[2]]; ok {
			col, _ := strconv.Atoi(g[3])
			col = columnIn(src, read[g[1]+":"+g[2]], col)
			src = strings.ReplaceAll(strings.TrimRight(src, "\r"), "\t", " ")
			fmt.Fprintf(&out, "  %s\n", src)
			if col >= 1 && col <= len(src)+1 {
				fmt.Fprintf(&out, "  %*s^\n", col-1, "") // in bytes, as NVRTC does
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
