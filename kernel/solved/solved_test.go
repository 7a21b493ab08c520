package solved

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write makes a notebook with exercises of these verdicts, "" for one that did not run.
func write(t *testing.T, file string, verdicts ...string) {
	t.Helper()
	var cells []string
	for i, v := range verdicts {
		outputs := ""
		if v != "" {
			outputs = fmt.Sprintf(`{"output_type": "stream", "name": "stdout", "text": "exercise %d: %s\n"}`, i+1, v)
		}
		cells = append(cells, fmt.Sprintf(`{"cell_type": "code", "id": "e%d", "execution_count": null, "metadata": {"tags": ["exercise:%d"]}, "outputs": [], "source": "todo()"},
{"cell_type": "code", "id": "j%d", "execution_count": null, "metadata": {"tags": ["judge:%d"]}, "outputs": [%s], "source": "judge()"}`, i, i+1, i, i+1, outputs))
	}
	text := `{"cells": [` + strings.Join(cells, ",\n") + `], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestProgress(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "01_a.ipynb"), "right", "wrong: no", "")
	write(t, filepath.Join(dir, "02_b.ipynb"), "not solved yet", "right")
	write(t, filepath.Join(dir, "03_none.ipynb"))
	if err := os.WriteFile(filepath.Join(dir, "04_broken.ipynb"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		this string
		live map[string]string
		want string
	}{
		{".", nil, "01_a 1 of 3 2 3|02_b 1 of 2 1|all 2 of 5"},
		{"02_b.ipynb", map[string]string{"1": "right"}, "01_a 1 of 3 2 3|02_b (this one) 2 of 2|all 3 of 5"},
		{"01_a.ipynb", map[string]string{"1": "wrong: now", "2": "right", "9": "right"}, "01_a (this one) 1 of 3 1 3|02_b 1 of 2 1|all 2 of 5"},
		{".", map[string]string{"7": "wrong: so"}, "01_a 1 of 3 2 3|02_b 1 of 2 1|this session 0 of 1 7|all 2 of 5"},
	} {
		b, err := table(dir, c.this, c.live)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, l := range strings.Split(b.Data["text/plain"].(string), "\n")[2:] {
			lines = append(lines, strings.Join(strings.Fields(l), " "))
		}
		if got := strings.Join(lines, "|"); got != c.want {
			t.Errorf("%s, %v:\n%s\nwant\n%s", c.this, c.live, got, c.want)
		}
	}
	if _, err := table(t.TempDir(), ".", nil); err == nil || !strings.Contains(err.Error(), "has exercises") {
		t.Errorf("an empty folder: %v", err)
	}
}
