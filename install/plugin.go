package install

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// The plugin that has papermill write parameters as Go.
const (
	pluginName   = "gocuda_papermill"
	pluginModule = pluginName + ".py"
	pluginEntry  = "[papermill.engine]\ngocuda = " + pluginName + ":Engine\n"
)

//go:embed papermill/gocuda_papermill.py
var pluginSource []byte

// pythonTime is what Python may take to say where its packages are.
const pythonTime = 20 * time.Second

// Plugin writes papermill's plugin among the packages of the Python in a prefix, and
// returns the folder. Where these are not the user's to write, and user is set, it
// goes to the user's own packages. The folder is "" where there is no Python, or
// none that can be written to.
func Plugin(ctx context.Context, prefix string, user bool) (dir string, err error) {
	for _, dir := range packagesOf(ctx, prefix, user) {
		if err = writePlugin(dir); err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", nil
}

// RemovePlugin removes what Plugin wrote.
func RemovePlugin(ctx context.Context, prefix string, user bool) error {
	for _, dir := range packagesOf(ctx, prefix, user) {
		info := filepath.Join(dir, pluginInfo())
		if by, err := os.ReadFile(filepath.Join(info, "INSTALLER")); err != nil || string(by) != DefaultName+"\n" {
			continue // pip's, or none
		}
		if err := errors.Join(os.RemoveAll(info), os.Remove(filepath.Join(dir, pluginModule))); err != nil {
			return err
		}
	}
	return nil
}

func pluginInfo() string { return pluginName + "-" + Version + ".dist-info" }

// packagesOf lists the folders of packages of a prefix's Python, the best first.
func packagesOf(ctx context.Context, prefix string, user bool) []string {
	ctx, cancel := context.WithTimeout(ctx, pythonTime)
	defer cancel()
	for _, name := range []string{"bin/python3", "bin/python", "python.exe", "Scripts/python.exe"} {
		python := filepath.Join(prefix, filepath.FromSlash(name))
		if _, err := os.Stat(python); err != nil {
			continue
		}
		out, err := exec.CommandContext(ctx, python, "-c",
			"import json, site, sysconfig; print(json.dumps([sysconfig.get_path('purelib'), site.getusersitepackages() if site.ENABLE_USER_SITE else '']))").Output()
		var dirs [2]string
		if err != nil || json.Unmarshal(out, &dirs) != nil {
			return nil
		}
		if user && dirs[1] != "" {
			return dirs[:]
		}
		return dirs[:1]
	}
	return nil
}

// writePlugin writes the module, and what pip knows packages by. One that pip
// installed stays as it is.
func writePlugin(dir string) error {
	if found, _ := filepath.Glob(filepath.Join(dir, pluginName+"-*.dist-info")); len(found) > 0 && filepath.Base(found[0]) != pluginInfo() {
		return nil
	}
	info := filepath.Join(dir, pluginInfo())
	if by, err := os.ReadFile(filepath.Join(info, "INSTALLER")); err == nil && string(by) != DefaultName+"\n" {
		return nil
	}
	if err := os.MkdirAll(info, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"METADATA":         "Metadata-Version: 2.1\nName: " + pluginName + "\nVersion: " + Version + "\nSummary: Writes papermill's parameters as Go\n",
		"entry_points.txt": pluginEntry,
		"INSTALLER":        DefaultName + "\n",
		"RECORD":           fmt.Sprintf("%[1]s,,\n%[2]s/METADATA,,\n%[2]s/entry_points.txt,,\n%[2]s/INSTALLER,,\n%[2]s/RECORD,,\n", pluginModule, pluginInfo()),
	} {
		if err := os.WriteFile(filepath.Join(info, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, pluginModule), pluginSource, 0o644)
}
