package kernel

import (
	"cmp"
	"fmt"
	"runtime"
	"strings"

	"gocuda/kernel/wire"
)

type link struct {
	Text string `json:"text"`
	URL  string `json:"url"`
}

// LanguageInfo is what kernel_info, and with it every executed notebook, says
// of the language of cells.
func LanguageInfo() map[string]any {
	return map[string]any{
		"name":               "go",
		"version":            goVersion(),
		"mimetype":           "text/x-go",
		"file_extension":     ".go",
		"pygments_lexer":     "go",
		"codemirror_mode":    "go",
		"nbconvert_exporter": "script",
	}
}

func goVersion() string { return strings.TrimPrefix(runtime.Version(), "go") }

// kernelInfo tells a front end what it talks to.
func (k *kernel) kernelInfo(*request) (any, error) {
	version := cmp.Or(k.options.Version, "devel")
	return map[string]any{
		"status":                 "ok",
		"protocol_version":       wire.Version,
		"implementation":         "gocuda",
		"implementation_version": version,
		"language_info":          LanguageInfo(),
		"banner":                 fmt.Sprintf("gocuda %s: Go %s, live GPUs. %%help lists the magics.", version, goVersion()),
		"help_links": []link{
			{"The Go language", "https://go.dev/ref/spec"},
			{"Go's standard library", "https://pkg.go.dev/std"},
			{"CUDA C++ programming guide", "https://docs.nvidia.com/cuda/cuda-c-programming-guide/"},
			{"CUDA driver API", "https://docs.nvidia.com/cuda/cuda-driver-api/"},
		},
		"debugger":           true,
		"supported_features": []string{"debugger", "kernel subshells"},
	}, nil
}
