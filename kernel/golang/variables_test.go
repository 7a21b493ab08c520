package golang

import (
	"os"
	"path/filepath"
	"testing"
)

// TestStdout: a cell may put another file in place of os.Stdout, and what it closes
// is open again in the next.
func TestStdout(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	process := os.Stdout
	os.Stdout = file
	defer func() { os.Stdout = process }()
	ev, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{
		"old := os.Stdout\nr, w, err := os.Pipe()\nos.Stdout = w\nfmt.Println(\"captured\")\nos.Stdout = old\nw.Close()\nb, err := io.ReadAll(r)\nfmt.Printf(\"%q %v\\n\", b, err)",
		"os.Stdout.Close()\n_, err := fmt.Println(\"lost\")",
		"fmt.Println(errors.Is(err, os.ErrClosed))\nos.Stdout = w",
		"fmt.Fprintln(os.Stdout, \"the process's again\")",
	} {
		if e := ev.Eval("In[1]", code, false).Err; e != nil {
			t.Fatalf("%s\n%s", code, e.Plain())
		}
	}
	if _, err := file.Stat(); err != nil {
		t.Error("the process's file was closed")
	}
	got, err := os.ReadFile(file.Name())
	if want := "\"captured\\n\" <nil>\ntrue\nthe process's again\n"; string(got) != want {
		t.Errorf("printed %q (%v), want %q", got, err, want)
	}
}
