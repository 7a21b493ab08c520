package notebook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testdata/nbformat.ipynb was written by nbformat 5.11; joined.ipynb is the
// same notebook, written with whole texts, unsorted keys and escapes.

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestWrittenAsNbformatDoes(t *testing.T) {
	want := string(read(t, "nbformat.ipynb"))
	for _, name := range []string{"nbformat.ipynb", "joined.ipynb"} {
		nb, err := Parse(read(t, name))
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := nb.Bytes()
		if err != nil {
			t.Fatal(name, err)
		}
		if string(got) != want {
			t.Errorf("%s: written otherwise than by nbformat:\n%s", name, got)
		}
	}
}

func TestTextsAreWhole(t *testing.T) {
	nb, err := Parse(read(t, "nbformat.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := nb.Cells[1].Source, "raw\r\ntext\rend\r\n"; got != want {
		t.Errorf("source %q, want %q", got, want)
	}
	code := nb.Cells[2]
	if got := code.Outputs[1]["data"].(map[string]any)["text/plain"]; got != "1\n2" {
		t.Errorf("text/plain %q", got)
	}
	if code.ExecutionCount != 3 || !code.HasTag("parameters") || code.ID != "c-1" {
		t.Errorf("cell read as %+v", code)
	}
}

func TestUpgradeGivesTheSameIDsEachTime(t *testing.T) {
	old := `{"nbformat": 4, "nbformat_minor": 2, "metadata": {"signature": "x"}, "cells": [
		{"cell_type": "markdown", "metadata": {}, "source": "same"},
		{"cell_type": "markdown", "metadata": {"trusted": true}, "source": "same"},
		{"cell_type": "code", "metadata": {}, "source": ["a\n", "b"], "outputs": [], "execution_count": null}]}`
	var ids []string
	for range 2 {
		nb, err := Parse([]byte(old))
		if err != nil {
			t.Fatal(err)
		}
		before, _ := nb.Bytes()
		if strings.Contains(string(before), `"id"`) {
			t.Error("a 4.2 notebook got ids without being asked")
		}
		if strings.Contains(string(before), "trusted") || strings.Contains(string(before), "signature") {
			t.Error("what must not be stored was stored")
		}
		nb.Upgrade()
		if nb.Minor != 5 {
			t.Errorf("minor version %d", nb.Minor)
		}
		for _, c := range nb.Cells {
			ids = append(ids, c.ID)
		}
	}
	if ids[0] == ids[1] || ids[0] != ids[3] || ids[1] != ids[4] || ids[2] != ids[5] || ids[2] == "" {
		t.Errorf("ids %q", ids)
	}
}

// A byte order mark at the beginning is none of the notebook.
func TestByteOrderMark(t *testing.T) {
	nb, err := Parse([]byte("\uFEFF" + `{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}`))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := nb.Bytes(); err != nil || strings.Contains(string(b), "\uFEFF") {
		t.Errorf("written as %q, %v", b, err)
	}
}

func TestNotANotebook(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "empty"},
		{"{\n\n]", "line 3"},
		{"[]", "not a notebook"},
		{"{}", "nbformat"},
		{`{"nbformat": 3, "worksheets": []}`, "nbconvert"},
		{`{"nbformat": 4}`, "no list of cells"},
		{`{"nbformat": 4, "cells": [3]}`, "cell 1 of 1"},
		{`{"nbformat": 4, "cells": [{"cell_type": "code", "source": 5}]}`, "source"},
		{`{"nbformat": 4, "cells": [{"cell_type": "code", "source": "", "outputs": [1]}]}`, "output 1"},
		{`{"nbformat": 4, "cells": []} {}`, "after the end"},
	} {
		_, err := Parse([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Parse(%q): %v, want %q", c.text, err, c.want)
		}
	}
}

func TestWriteFileKeepsModeAndLinks(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "a.ipynb"), filepath.Join(dir, "link.ipynb")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	nb := &Notebook{Minor: 5}
	if err := nb.WriteFile(link); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(file)
	if err != nil || info.Mode() != 0o600 || info.Size() == 0 {
		t.Errorf("%v %v", info, err)
	}
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
	if rest, _ := os.ReadDir(dir); len(rest) != 2 {
		t.Errorf("files left behind: %v", rest)
	}
}

// Whatever is read can be written, and reads as the same again.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"nbformat.ipynb", "joined.ipynb"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		nb, err := Parse(data)
		if err != nil {
			return
		}
		nb.Upgrade()
		once, err := nb.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(once)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, once)
		}
		twice, err := again.Bytes()
		if err != nil || string(once) != string(twice) {
			t.Fatalf("written differently the second time (%v):\n%s\n%s", err, once, twice)
		}
	})
}
