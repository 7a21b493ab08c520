package kerneltest

import (
	"flag"
	"fmt"
	"sync"
	"testing"

	"gocuda/cudaapi/gokernel"
)

var stepped = flag.Bool("stepped", false, "emulated kernels are stepped in all tests")

// looker steps through emulated kernels: at times it looks at all that is to be seen.
type looker struct {
	t *testing.T

	mu           sync.Mutex
	steps, looks int
}

func (l *looker) Wants(*gokernel.Function) bool        { return true }
func (l *looker) Panics(c []*gokernel.Place, _ string) { l.Step(c) }
func (l *looker) Ended()                               {}

func (l *looker) Step(calls []*gokernel.Place) {
	l.mu.Lock()
	l.steps++
	look := l.steps%101 == 0
	l.mu.Unlock()
	if !look {
		return
	}
	for _, at := range calls {
		for _, v := range at.Variables() {
			l.mu.Lock()
			l.looks++
			l.mu.Unlock()
			values, err := at.Evaluate(v.Name)
			if got, want := fmt.Sprint(values...), fmt.Sprint(v.Value); err != nil || got != want {
				l.t.Errorf("%s: %s is %s (%v), not %s", at.Function.Steps[at.Step], v.Name, got, err, want)
			}
		}
	}
}

// TestStepsChangeNothing: kernels that are stepped, and looked into, do what they do
// otherwise, and what is seen is what an expression gives. -stepped runs all tests that
// emulate kernels.
func TestStepsChangeNothing(t *testing.T) {
	l := &looker{t: t}
	gokernel.SetWatch(func() gokernel.Watcher { return l })
	defer gokernel.SetWatch(func() gokernel.Watcher { return nil })
	t.Run("races", TestFindRaces)
	if *stepped {
		for name, test := range map[string]func(*testing.T){"emulate": TestEmulate, "errors": TestEmulateErrors, "functions": TestFunctions, "users": TestUsersKernels, "programs": TestPrograms,
			"regions": TestRegions, "clusters": TestClusters, "copies": TestCopiesAndAtomics, "kernels": TestRandomKernels, "blocks": TestRandomBlocks, "checks": TestRandomChecks} {
			t.Run(name, test)
		}
	}
	t.Logf("%d steps, %d looks", l.steps, l.looks)
	if l.steps == 0 || l.looks == 0 {
		t.Error("nothing was stepped")
	}
}
