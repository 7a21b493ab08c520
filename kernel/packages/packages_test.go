package packages_test

import (
	"bytes"
	"go/types"
	"os"
	"os/exec"
	"testing"

	"gocuda/kernel/golang/host"
	"gocuda/kernel/internal/extract"
	"gocuda/kernel/packages"
	"gocuda/kernel/packages/extra"
)

func TestGeneratedFilesAreUpToDate(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command")
	}
	files, err := extract.HostPackages("packages", extract.Importable)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is out of date (%v): run go generate ./kernel/packages", name, err)
		}
	}
}

func TestPackagesImport(t *testing.T) {
	all := packages.All()
	imp := host.NewImporter(all...)
	if want := len(extract.Importable) + len(extra.All()); len(all) != want { // one joins mpi, and there is backend, of which cells use no name
		t.Errorf("got %d packages, want %d", len(all), want)
	}
	for _, p := range all {
		if p.Load != nil {
			continue
		}
		pkg, err := imp.Import(p.Path)
		if err != nil {
			t.Error(err)
			continue
		}
		if p.Docs[""] == "" {
			t.Errorf("%s has no package documentation", p.Path)
		}
		for _, name := range pkg.Scope().Names() {
			obj := pkg.Scope().Lookup(name)
			if _, isConst := obj.(*types.Const); !isConst && obj.Exported() && p.Docs[name] == "" {
				t.Errorf("%s.%s has no documentation", p.Path, name)
			}
		}
	}
}
