package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var kills = flag.Int("kills", 4, "how many programs TestKilled kills")

// A program that is killed while its loops are compiled leaves nothing in the temporary
// folder.
func TestKilled(t *testing.T) {
	temp, cache := t.TempDir(), t.TempDir()
	left := func() []os.DirEntry {
		list, err := os.ReadDir(temp)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	worked := 0
	for i := range *kills {
		program := fmt.Sprintf("package main\n\nfunc work(n int) (s int) {\n\tfor i := 0; i < n; i++ {\n\t\ts = s*%d + i\n\t}\n\treturn s\n}\n\nfunc main() {\n\tfor {\n\t\twork(2000000)\n\t}\n}\n", i+3)
		file := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := gocudaKernel(t, "exec", file)
		cmd.Env = append(cmd.Env, "TMPDIR="+temp, "GOCUDA_CACHE="+cache)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// It is killed as it compiles, or some time before or after.
		for end := time.Now().Add(rand.N(6 * time.Second)); time.Now().Before(end) && (i%2 == 1 || len(left()) == 0); {
			time.Sleep(time.Millisecond)
		}
		if len(left()) > 0 {
			worked++
		}
		cmd.Process.Kill() //nolint:errcheck // it runs
		cmd.Wait()         //nolint:errcheck // it was killed
	}
	for end := time.Now().Add(time.Minute); len(left()) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d killed programs left %v", *kills, left())
		}
	}
	t.Logf("%d of %d had something in the temporary folder when they were killed", worked, *kills)
}
