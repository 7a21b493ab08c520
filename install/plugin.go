package install

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The plugin that has papermill write parameters, and nbconvert scripts, as Go.
const (
	pluginName  = "gocuda_papermill"
	pluginEntry = "[papermill.engine]\ngocuda = gocuda_papermill:Engine\n" +
		"[nbconvert.exporters.script]\ngo = gocuda_nbconvert:ScriptExporter\n"
)

//go:embed papermill/*.py
var pluginFiles embed.FS

// pluginModules are its modules by their file names.
func pluginModules() map[string][]byte {
	modules := map[string][]byte{}
	for _, name := range []string{"gocuda_papermill.py", "gocuda_nbconvert.py"} {
		modules[name], _ = pluginFiles.ReadFile("papermill/" + name)
	}
	return modules
}

// pythonTime is what Python may take to say where its packages are.
const pythonTime = 20 * time.Second

// Plugin writes the plugin for papermill and nbconvert among the packages of the Python in a prefix, and
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
		err := os.RemoveAll(info)
		for name := range pluginModules() {
			if gone := os.Remove(filepath.Join(dir, name)); !errors.Is(gone, fs.ErrNotExist) {
				err = errors.Join(err, gone)
			}
		}
		if err != nil {
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

// writePlugin writes the modules, and what pip knows packages by. One that pip
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
	files := pluginModules()
	for name, text := range map[string]string{
		"METADATA":         "Metadata-Version: 2.1\nName: " + pluginName + "\nVersion: " + Version + "\nSummary: Writes papermill's parameters, and nbconvert's scripts, as Go\n",
		"entry_points.txt": pluginEntry,
		"INSTALLER":        DefaultName + "\n",
		"RECORD":           "",
	} {
		files[pluginInfo()+"/"+name] = []byte(text)
	}
	names := slices.Sorted(maps.Keys(files))
	files[pluginInfo()+"/RECORD"] = []byte(strings.Join(names, ",,\n") + ",,\n")
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}
