package sim_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gocuda/cudaapi/sim"
	"gocuda/cudaapi/sim/corpus"
)

func TestCorpus(t *testing.T) {
	machines := []sim.Options{{}, {NoCheck: true}, {Adversarial: true}}
	if testing.Short() {
		machines = machines[:1] // it is C++ that runs
	}
	for _, o := range machines {
		o.Devices = 1
		t.Run(fmt.Sprintf("check=%v/adversarial=%v", !o.NoCheck, o.Adversarial), func(t *testing.T) { corpus.Run(t, newDriver(t, o)) })
	}
}

// The corpus's kernels in Go give the same results.
func TestCorpusInGo(t *testing.T) {
	for _, o := range []sim.Options{{Devices: 1}, {Devices: 1, Adversarial: true}} { // one compilation
		t.Run(fmt.Sprintf("adversarial=%v", o.Adversarial), func(t *testing.T) { corpus.RunGo(t, newDriver(t, o)) })
	}
}

// TestOtherCompiler runs kernels as clang++ compiles them.
func TestOtherCompiler(t *testing.T) {
	if _, err := exec.LookPath("clang++"); err != nil {
		t.Skip(err)
	}
	if cc, err := sim.Compiler(); err != nil || strings.Contains(cc, "clang") {
		t.Skip("the compiler is clang++ anyway", err)
	}
	if testing.Short() {
		t.Skip("compiles the corpus once more")
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^(TestCorpus|TestLanguage|TestIllegalAccesses|TestCompileErrors|TestGridBarrier|TestSpinningThreadsGetTurns|TestBarrierThatNeverCompletes|TestInlinePTXIsExplained)$/(check=true|^[^=]*$)/(adversarial=false|^[^=]*$)", "-test.v")
	cmd.Env = append(os.Environ(), "CXX=clang++")
	out, err := cmd.CombinedOutput()
	n := strings.Count(string(out), "--- PASS")
	if t.Logf("%d passed", n); err != nil || n < 60 {
		t.Errorf("%v, %d passed\n%s", err, n, out)
	}
}
