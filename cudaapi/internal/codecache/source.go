package codecache

import (
	"regexp"
	"strings"
)

// placeholder stands for the source's name in a stored log.
const placeholder = "\x01source\x01"

var (
	quotedInclude = regexp.MustCompile(`(?m)^\s*#\s*include\s*"`)
	namesItself   = regexp.MustCompile(`__FILE__|\bassert\b|source_location`)
)

// Lasting reports whether a source in CUDA C++ makes the same code each time: files of
// the user's own that it includes may change.
func Lasting(code string, options []string) bool {
	for _, o := range options {
		for _, p := range []string{"-I", "--include-path", "-include", "--pre-include"} {
			if strings.HasPrefix(o, p) {
				return false
			}
		}
	}
	return !quotedInclude.MatchString(code)
}

// NameIn is the part of a key that stands for a source's name: "" unless the name is
// compiled into the code. So the same code in another cell is found again.
func NameIn(code, name string) string {
	if namesItself.MatchString(code) {
		return name
	}
	return ""
}

// WithoutName is a compiler's log as it is stored, for [WithName].
func WithoutName(log, name string) string {
	if name == "" {
		return log
	}
	return strings.ReplaceAll(log, name, placeholder)
}

// WithName is a stored log, of a source of this name.
func WithName(log, name string) string { return strings.ReplaceAll(log, placeholder, name) }
