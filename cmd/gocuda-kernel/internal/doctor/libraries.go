package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mpiVersion shortens what MPI libraries say about themselves, such as
// "Open MPI v4.1.4, package: ..." and "MPICH Version:\t4.0.2\nMPICH ...".
func mpiVersion(text string) string {
	line, _, _ := strings.Cut(firstLine(text), ",")
	return strings.Join(strings.Fields(strings.Replace(line, "Version:", "", 1)), " ")
}

// ncclVersion reads 2.9 and later as 10000*major + 100*minor + patch, and
// earlier ones as 1000*major + 100*minor + patch.
func ncclVersion(v int) string {
	if v < 10000 {
		return fmt.Sprintf("%d.%d.%d", v/1000, v%1000/100, v%100)
	}
	return fmt.Sprintf("%d.%d.%d", v/10000, v%10000/100, v%100)
}

// pythonLibraries are the folders of the active Python environment's packages.
func pythonLibraries() (dirs []string) {
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if prefix := os.Getenv(name); prefix != "" {
			found, _ := filepath.Glob(filepath.Join(prefix, "lib", "python3*", "site-packages"))
			dirs = append(dirs, found...)
		}
	}
	return dirs
}

// loadedFrom is the file that a library, opened by this name, came from: by
// the process's own memory map where there is one.
func loadedFrom(name string) string {
	data, err := os.ReadFile("/proc/self/maps")
	if err != nil || filepath.IsAbs(name) {
		return name
	}
	stem, _, _ := strings.Cut(name, ".so")
	for line := range strings.Lines(string(data)) {
		if i := strings.Index(line, "/"); i >= 0 {
			path := strings.TrimSpace(line[i:])
			if strings.HasPrefix(filepath.Base(path), stem+".so") {
				return path
			}
		}
	}
	return name
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
