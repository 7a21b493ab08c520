//go:build linux && (amd64 || arm64)

package clib

import (
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// SitePackages are folders in which pip puts packages: virtual and conda
// environments, the user's, the system's, and those of Pythons on PATH.
func SitePackages() []string {
	var dirs []string
	dirs = append(dirs, filepath.SplitList(os.Getenv("PYTHONPATH"))...)
	for _, p := range PythonPrefixes() {
		for _, pattern := range []string{"/lib/python3*/site-packages", "/lib64/python3*/site-packages", "/lib/python3*/dist-packages", "/lib/python3/dist-packages"} {
			dirs = append(dirs, NewestFirst(p+pattern)...)
		}
	}
	return Unique(dirs)
}

// PythonPrefixes are the folders, possibly patterns, under which Pythons and
// what pip installs beside them have their bin and lib.
func PythonPrefixes() []string {
	var dirs []string
	for _, v := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if p := os.Getenv(v); p != "" {
			dirs = append(dirs, p)
		}
	}
	dirs = append(dirs, ofPrograms()...)
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, home+"/.local", home+"/.pyenv/versions/*")
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.Base(dir) == "bin" {
			dirs = append(dirs, filepath.Dir(dir))
		}
	}
	return append(dirs, "/usr/local", "/usr", "/opt/conda", "/opt/venv")
}

// NewestFirst lists what matches a pattern, in descending order.
func NewestFirst(pattern string) []string {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return nil
	}
	sort.Sort(sort.Reverse(sort.StringSlice(found)))
	return found
}

// Unique drops repeats and keeps the order.
func Unique(s []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(s, func(v string) bool {
		again := seen[v]
		seen[v] = true
		return again
	})
}

// ofPrograms are the prefixes of this program, which pip may have installed, and of the
// Jupyter that started it, whose environment need not be active.
func ofPrograms() (dirs []string) {
	var files []string
	if file, err := os.Executable(); err == nil {
		files = append(files, file)
	}
	if jupyter := os.Getenv("JPY_PARENT_PID"); jupyter != "" {
		line, _ := os.ReadFile(filepath.Join("/proc", filepath.Base(jupyter), "cmdline"))
		words := strings.Split(string(line), "\x00")
		files = append(files, words[:min(2, len(words))]...) // Python and its script
	}
	for _, file := range files {
		if dir := filepath.Dir(file); filepath.IsAbs(dir) && filepath.Base(dir) == "bin" {
			dirs = append(dirs, filepath.Dir(dir))
		}
	}
	return dirs
}
