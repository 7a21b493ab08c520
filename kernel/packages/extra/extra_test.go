package extra_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gocuda/kernel/golang"
	"gocuda/kernel/golang/host"
	"gocuda/kernel/internal/extract"
	"gocuda/kernel/packages/extra"
)

func TestGeneratedFilesAreUpToDate(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command")
	}
	files, err := extract.ExtraPackages("extra")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is out of date (%v): run go generate ./kernel/packages/extra", name, err)
		}
	}
	there, _ := filepath.Glob("*_gen*.go")
	if len(there) != len(files) {
		t.Errorf("there are %d generated files, want %d", len(there), len(files))
	}
}

func TestPackagesImport(t *testing.T) {
	imp := host.NewImporter(extra.All()...)
	if n := len(imp.Late()); n != 0 {
		t.Errorf("%d tables are loaded before an import", n)
	}
	for _, p := range extra.All() {
		pkg, err := imp.Import(p.Path)
		if err != nil || !pkg.Complete() || pkg.Name() != p.Name || len(pkg.Scope().Names()) == 0 {
			t.Errorf("%s: %v %v", p.Path, pkg, err)
		}
	}
}

// TestCells: cells use the packages: constants, functions, types and errors.
func TestCells(t *testing.T) {
	ev, err := golang.New(golang.Options{Packages: extra.All()})
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[string]string{
		"import \"golang.org/x/crypto/blake2b\"\nfmt.Sprintf(\"%.4x\", blake2b.Sum256([]byte(\"x\")))":     `"d161d711"`,
		"import \"golang.org/x/text/language\"\nlanguage.MustParse(\"de-ch\").String()":                    `"de-CH"`,
		"import \"golang.org/x/net/html\"\nhtml.EscapeString(\"<a>\")":                                     `"&lt;a&gt;"`,
		"import \"golang.org/x/crypto/bcrypt\"\nbcrypt.CompareHashAndPassword([]byte(\"x\"), nil).Error()": `"crypto/bcrypt: hashedSecret too short to be a bcrypted password"`,
		"import \"golang.org/x/text/cases\"\ncases.Title(language.English).String(\"one two\")":            `"One Two"`,
	} {
		r := ev.Eval("In[1]", code, false)
		if r.Err != nil || r.Value == nil || r.Value.Data["text/plain"] != want {
			t.Errorf("%s: %v %v, want %s", code, r.Value, r.Err, want)
		}
	}
	if err := ev.Reset(); err != nil {
		t.Fatal(err)
	}
	if r := ev.Eval("In[2]", "import \"golang.org/x/net/html\"\nhtml.EscapeString(\"<a>\")", false); r.Err != nil {
		t.Errorf("after a reset: %v", r.Err)
	}
}
