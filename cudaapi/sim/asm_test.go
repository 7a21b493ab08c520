package sim

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"gocuda/cudaapi/internal/hostcxx"
)

// What a compiler writes for debuggers, which is more than half of the text, is not
// assembled; where a division by zero is reported, its line is known all the same.
func TestNothingForDebuggers(t *testing.T) {
	cc := hostcxx.Find()
	if cc.Err != nil {
		t.Skip(cc.Err)
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("assembly is rewritten on amd64 only")
	}
	compile := exec.Command(cc.Path, "-x", "c++", "-g1", "-O2", "-S", "-o", "-", "-")
	compile.Stdin = strings.NewReader("# 1 \"k.cu\"\n\nint divide(int a, int b) {\n\treturn a / b;\n}\nint two = 2;\n")
	text, err := compile.Output()
	if err != nil {
		t.Fatal(err)
	}
	if all := string(text); !strings.Contains(all, ".debug_info") || !strings.Contains(all, ".loc") {
		t.Fatalf("the compiler writes nothing for debuggers:\n%s", all)
	}
	got := string(rewrite(text, false, true, false, "k.cu"))
	for _, unwanted := range []string{".debug_", ".loc"} {
		if strings.Contains(got, unwanted) {
			t.Errorf("%s is left in\n%s", unwanted, got)
		}
	}
	for _, wanted := range []string{"movl $3, %edi\n\tcall gocuda_zero", "two:", ".note.GNU-stack"} {
		if !strings.Contains(got, wanted) {
			t.Errorf("there is no %q in\n%s", wanted, got)
		}
	}
	assemble := exec.Command(cc.Path, "-x", "assembler", "-c", "-o", t.TempDir()+"/k.o", "-")
	assemble.Stdin = strings.NewReader(got)
	if out, err := assemble.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
