package install

import (
	"os"
	"strings"
	"testing"
)

// What names the version besides the file VERSION has the same one.
func TestVersion(t *testing.T) {
	for name, want := range map[string]string{
		"../README.md":               "Version " + Version + " ",
		"../docs/status.md":          "Version " + Version + " ",
		"../docs/develop/release.md": "git tag v" + Version + "`",
		"../CHANGELOG.md":            "## " + Version,
		"labextension/package.json":  `"version": "` + Version + `"`,
		"papermill/pyproject.toml":   `version = "` + Version + `"`,
	} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s has no %q", name, want)
		}
	}
}
