package lsp

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	_ "gocuda/cudaapi/backend"
)

func needsCompiler(t *testing.T) {
	t.Helper()
	t.Setenv("GOCUDA_BACKEND", "sim")
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("simulated devices need g++")
	}
}

// TestCUDA: what the compilers of %%cuda cells say is at the lines of the cells.
func TestCUDA(t *testing.T) {
	needsCompiler(t)
	t.Setenv("GOCUDA_CACHE", t.TempDir())
	book := []string{
		"%%time\n%%cuda\n#warning old\n__device__ float half(float x) { return x / 2; }\n__global__ void k(float *x) {}",
		"%%kernel\nfunc third(x float32) float32 { return x / 3 }\nfunc g(x []float32) { x[0] = third(1) }",
		"%%cuda\n// é\n__global__ void f(float *x) {\n\t*x = half(*x) + third(*x) + /* 𝄞 */ nosuch;\n}",
		"%%cuda --nname x\n__global__ void h() {}",
		"%%cuda\n#include \"nowhere.h\"\n__global__ void h() {}",
		"%%cuda -Irelative\n#include \"nowhere.h\"\n__global__ void h() {}",
		"%%cuda --instantiate t<int>\n__global__ void h() {}",
		"f.Launch(cuda.Grid(1), cuda.Block(1), nil, unheard)",
	}
	text := strings.Join(book, "\n\n\n")
	c := start(t)
	got := c.open("textDocument/didOpen", text, 1)
	alone := []string{"19:0-16 ", "37:43-50 undefined: unheard"}
	if !prefixes(got, alone) || !strings.Contains(got[0], "no option --nname") {
		t.Errorf("at first, wrong are %q, want %q", got, alone)
	}
	whole := append(alone, "2:1-8 #warning ", "15:38-44 ", "24:9-", "33:0-27 ")
	got = c.until(1, func(list []string) bool { return len(list) > 2 })
	if !prefixes(got, whole) {
		t.Errorf("then, wrong are %q, want %q", got, whole)
	}
	for _, part := range []string{"(2)", "nosuch", "nowhere.h", "there is no kernel template"} {
		if !strings.Contains(strings.Join(got, "\n"), part) {
			t.Errorf("%q is not in %q", part, got)
		}
	}
	// What is known is told at once.
	text = strings.Replace(text, "unheard", "1", 1)
	got = c.open("textDocument/didChange", text, 2)
	if len(got) != 5 {
		t.Errorf("after a change of Go, wrong are %q", got)
	}
	c.open("textDocument/didChange", strings.Replace(text, "nosuch", "1", 1), 3)
	got = c.until(3, func(list []string) bool { return len(list) > 3 })
	if len(got) != 4 || strings.Contains(strings.Join(got, "\n"), "nosuch") {
		t.Errorf("still wrong are %q", got)
	}
	// Names of C++ are not known: "half" of the third cell, after hal.
	m := c.ask("textDocument/completion", object{"textDocument": object{"uri": "file:///a.ipynb"}, "position": object{"line": 15, "character": 9}})
	if items := m["result"].(map[string]any)["items"]; len(items.([]any)) > 0 {
		t.Errorf("the completion is %v", items)
	}
	c.tell("exit", nil)
	<-c.done
}

func prefixes(got, want []string) bool {
	return slices.EqualFunc(got, want, strings.HasPrefix)
}

// TestPTX: what is wrong with PTX is at the lines of its cells, which make kernels for others.
func TestPTX(t *testing.T) {
	needsCompiler(t)
	t.Setenv("GOCUDA_CACHE", t.TempDir())
	const good = "%%ptx --name m\n.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry set(.param .u64 p)\n{\n\tret;\n}"
	book := []string{
		good,
		"set.Launch(cuda.Grid(1), cuda.Block(1), nil, nothing)\nm.Kernels()",
		strings.Replace(good, "ret;", "bra nowhere;", 1),
		strings.Replace(good, ".version 7.0", "", 1),
		strings.Replace(good, "--name m", "-O3", 1),
	}
	c := start(t)
	got := c.open("textDocument/didOpen", strings.Join(book, "\n\n\n"), 1)
	if want := []string{"10:45-52 undefined: nothing", "34:0-9 "}; !prefixes(got, want) || !strings.Contains(got[1], "no option -O3") {
		t.Errorf("at first, wrong are %q, want %q", got, want)
	}
	got = c.until(1, func(list []string) bool { return len(list) > 3 })
	if want := []string{"10:", "34:", "20:1-13 the PTX branches to nowhere", "24:0-14 "}; !prefixes(got, want) || !strings.Contains(got[3], "no .version") {
		t.Errorf("then, wrong are %q, want %q", got, want)
	}
	m := c.ask("textDocument/completion", object{"textDocument": object{"uri": "file:///a.ipynb"}, "position": object{"line": 4, "character": 12}}) // after .visible .en
	if items := m["result"].(map[string]any)["items"].([]any); len(items) != 1 || items[0].(map[string]any)["label"] != ".entry" {
		t.Errorf("the completion is %v", items)
	}
	c.tell("exit", nil)
	<-c.done
}
