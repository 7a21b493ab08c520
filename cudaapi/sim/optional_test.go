package sim

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"gocuda/cudaapi/internal/hostcxx"
)

// A part of the header that sources leave out is found by every name that it declares.
func TestOptionalHeaders(t *testing.T) {
	cc := hostcxx.Find()
	if cc.Err != nil {
		t.Skip(cc.Err)
	}
	dir := t.TempDir()
	if err := writeIncludes(dir); err != nil {
		t.Fatal(err)
	}
	function := regexp.MustCompile(`\b(__\w+) ?\(`)
	declared := func(macro string) map[string]bool {
		cmd := exec.Command(cc.Path, "-E", "-P", "-x", "c++", "-std=c++17", "-I", dir+"/include", "-D"+macro, "-")
		cmd.Stdin = strings.NewReader("#include <cuda_sim.h>\n")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		names := make(map[string]bool)
		for _, m := range function.FindAllStringSubmatch(string(out), -1) {
			names[m[1]] = true
		}
		return names
	}
	without := declared("GOCUDA_NONE")
	for _, p := range optional {
		more := 0
		for name := range declared(p.macro) {
			if without[name] {
				continue
			}
			if more++; !p.names.MatchString(name) {
				t.Errorf("%s is not found for %s", p.macro, name)
			}
		}
		if more < 40 {
			t.Errorf("%s has %d functions", p.macro, more)
		}
	}
}
