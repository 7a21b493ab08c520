package house

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fileNames are names of files in text: with a folder or without.
var fileNames = regexp.MustCompile(`(?:[\w.-]+/)*[\w-]+\.(?:go|py|sh|h|cc|md|ipynb)\b`)

// ofOthers are files that comments name and that are not here: of Go, CUDA, MPI and
// NCCL, and a program that a user names.
var ofOthers = regexp.MustCompile(`^(?:runtime|reflect|interp|cmd|sync|internal|go|net|os)/|^PROGRAM\.go$|^(?:cuda|mpi|cupti_\w+)\.h$|^src/graph/tuning\.cc$`)

// Files that comments name are there.
func TestFilesInComments(t *testing.T) {
	var names []string
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".github" && d.Name() != ".ci" || d.Name() == "build" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if err == nil && !d.IsDir() {
			names = append(names, filepath.ToSlash(strings.TrimPrefix(name, root)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, p := range read(t) {
		for _, f := range p.files {
			for _, c := range f.Comments {
				for _, named := range fileNames.FindAllString(c.Text(), -1) {
					if ofOthers.MatchString(named) || slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, "/"+named) }) {
						continue
					}
					t.Errorf("%s: a comment of %s names %s, which is not there", set.Position(c.Pos()), folder, named)
				}
			}
		}
	}
}
