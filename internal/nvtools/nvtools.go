// Package nvtools lets programs run under NVIDIA's tools: compute-sanitizer, ncu,
// nsys.
package nvtools

import (
	"os"
	"strings"
)

// These tools look into a process by libraries that are loaded before its own, and
// follow a child where they see it start: they do not see how Go starts one. Such a
// child would inherit the libraries, and wait for a tool that does not know it.

// Detach takes the tools' part out of the environment, for the processes that this
// one starts, and reports whether there was any: whether such a tool looks into
// this process. It goes on to do so.
func Detach() (attached bool) {
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		switch {
		case name == "LD_PRELOAD":
			own := 0
			var rest []string
			for _, library := range strings.FieldsFunc(value, func(r rune) bool { return r == ':' || r == ' ' }) {
				if strings.Contains(library, "Injection") || strings.Contains(library, "TreeLauncher") {
					own++
				} else {
					rest = append(rest, library)
				}
			}
			if own == 0 {
				continue
			}
			os.Setenv(name, strings.Join(rest, ":")) //nolint:errcheck // the name is a good one
		case strings.HasPrefix(name, "NV_TPS_"), strings.HasPrefix(name, "NVTX_INJECTION"), strings.HasPrefix(name, "CUDA_INJECTION"),
			strings.HasPrefix(name, "QUADD_INJECTION"):
			os.Unsetenv(name) //nolint:errcheck // as above
		default:
			continue
		}
		attached = true
	}
	return attached
}
