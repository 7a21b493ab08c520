//go:build linux

package sim_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/nvidia"
	"gocuda/cudaapi/ptx"
	"gocuda/cudaapi/ptx/cpp"
	"gocuda/cudaapi/sim"
)

// TestCollections takes device code that lies in a folder, which GOCUDA_COLLECTIONS names, and
// says of each file which step refuses it. Names of templates stand in a file beside it. What the
// translator or the host's compiler refuses is a fault of ours.
func TestCollections(t *testing.T) {
	folder := os.Getenv("GOCUDA_COLLECTIONS")
	if folder == "" {
		t.Skip("GOCUDA_COLLECTIONS does not name a folder of CUDA programs")
	}
	d := newDriver(t, throughPTX(t, sim.Options{Devices: 1}))
	counts := map[string]int{}
	err := filepath.WalkDir(folder, func(p string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(p) != ".cu" {
			return err
		}
		step, why := tryProgram(d, p)
		counts[step]++
		rel, _ := filepath.Rel(folder, p)
		why, _, _ = strings.Cut(strings.TrimSpace(why), "\n")
		fmt.Printf("%s\t%s\t%s\n", step, rel, why)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if t.Logf("%v", counts); counts["translator"]+counts["compiler"] > 0 {
		t.Errorf("%d programs are refused that NVRTC takes", counts["translator"]+counts["compiler"])
	}
}

// tryProgram gives the step that refuses a program, or passes.
func tryProgram(d driver.Driver, file string) (step, why string) {
	code, err := os.ReadFile(file)
	if err != nil {
		return "file", err.Error()
	}
	src := &driver.Source{Name: filepath.Base(file), Code: string(code)}
	made, err := nvidia.PTX(src, "compute_90")
	if err != nil {
		return "nvrtc", firstError(err.Error())
	}
	if names, err := os.ReadFile(file + ".names"); err == nil {
		for _, n := range strings.Split(string(names), "\n") {
			with := *src
			if with.Names = append(with.Names[:len(with.Names):len(with.Names)], n); n == "" {
				continue
			}
			if more, err := nvidia.PTX(&with, "compute_90"); err == nil { // the host's variables are not known here
				src, made = &with, more
			}
		}
	}
	m, err := ptx.Parse(string(made.Image))
	if err != nil {
		return "translator", err.Error()
	}
	if len(m.Decls) == 0 {
		return "empty", ""
	}
	if _, err := cpp.Translate(m, src.Name, nil, cpp.Shown, true); err != nil {
		return "translator", err.Error()
	}
	if os.Getenv("GOCUDA_COLLECTIONS_COMPILE") == "" {
		return "translated", ""
	}
	if _, err := d.Compile(0, src); err != nil {
		return "compiler", err.Error()
	}
	return "passes", ""
}

// firstError is the line of a log that says what was wrong.
func firstError(log string) string {
	for _, l := range strings.Split(log, "\n") {
		if strings.Contains(l, "error:") || strings.Contains(l, "catastrophic") {
			return l
		}
	}
	return strings.ReplaceAll(log, "\n", " ")
}
