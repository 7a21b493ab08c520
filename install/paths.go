package install

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// UserDir is the Jupyter data folder of this user, by Jupyter's own rules.
func UserDir() (string, error) {
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return userDir(runtime.GOOS, home, os.Getenv), nil
}

func userDir(goos, home string, getenv func(string) string) string {
	platform := platformDirs(getenv)
	switch {
	case goos == "darwin" && platform:
		return filepath.Join(home, "Library", "Application Support", "Jupyter")
	case goos == "darwin":
		return filepath.Join(home, "Library", "Jupyter")
	case goos == "windows" && platform && getenv("LOCALAPPDATA") != "":
		return filepath.Join(getenv("LOCALAPPDATA"), "Jupyter")
	case goos == "windows" && getenv("APPDATA") != "":
		return filepath.Join(getenv("APPDATA"), "jupyter")
	case goos == "windows":
		return filepath.Join(home, ".jupyter", "data")
	case getenv("XDG_DATA_HOME") != "":
		return filepath.Join(getenv("XDG_DATA_HOME"), "jupyter")
	}
	return filepath.Join(home, ".local", "share", "jupyter")
}

// UserConfig is the Jupyter configuration folder of this user.
func UserConfig() (string, error) {
	if dir := os.Getenv("JUPYTER_CONFIG_DIR"); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return userConfig(runtime.GOOS, home, os.Getenv), nil
}

func userConfig(goos, home string, getenv func(string) string) string {
	switch {
	case !platformDirs(getenv):
		return filepath.Join(home, ".jupyter")
	case goos == "darwin" || goos == "windows" && getenv("LOCALAPPDATA") != "":
		return userDir(goos, home, getenv)
	case getenv("XDG_CONFIG_HOME") != "":
		return filepath.Join(getenv("XDG_CONFIG_HOME"), "jupyter")
	}
	return filepath.Join(home, ".config", "jupyter")
}

// platformDirs says whether the user has asked Jupyter for the system's own folders.
func platformDirs(getenv func(string) string) bool {
	return !slices.Contains([]string{"", "no", "n", "false", "off", "0", "0.0"}, strings.ToLower(getenv("JUPYTER_PLATFORM_DIRS")))
}

// PrefixDir is the Jupyter data folder below an installation prefix.
func PrefixDir(prefix string) string { return filepath.Join(prefix, "share", "jupyter") }

// PrefixConfig is the Jupyter configuration folder below an installation prefix.
func PrefixConfig(prefix string) string { return filepath.Join(prefix, "etc", "jupyter") }

// SysPrefix is the prefix of the Python environment that Jupyter is, or would
// be, started from: the active virtual or conda environment, or else the one
// that the jupyter command on PATH belongs to.
func SysPrefix() (string, error) {
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(name); dir != "" {
			return dir, nil
		}
	}
	command, err := exec.LookPath("jupyter")
	if err != nil {
		return "", errors.New("no Python environment is active (VIRTUAL_ENV, CONDA_PREFIX) and no jupyter command is on PATH: activate one, or use --user or --prefix DIR")
	}
	if real, err := filepath.EvalSymlinks(command); err == nil {
		command = real
	}
	bin := filepath.Dir(command)
	for _, python := range []string{"python", "python3", "python.exe"} {
		if _, err := os.Stat(filepath.Join(bin, python)); err == nil {
			return filepath.Dir(bin), nil
		}
	}
	return "", errors.New("cannot tell the Python environment of " + command + ": use --user or --prefix DIR")
}

// SearchPath lists the data folders in which Jupyter looks for kernels: by the
// jupyter command's own account if there is one (asked is true), and by
// Jupyter's documented rules if not.
func SearchPath(ctx context.Context) (roots []string, asked bool) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if command, err := exec.LookPath("jupyter"); err == nil {
		var paths struct {
			Data []string `json:"data"`
		}
		out, err := exec.CommandContext(ctx, command, "--paths", "--json").Output()
		if err == nil && json.Unmarshal(out, &paths) == nil && len(paths.Data) > 0 {
			return paths.Data, true
		}
	}
	for _, dir := range filepath.SplitList(os.Getenv("JUPYTER_PATH")) {
		if dir != "" {
			roots = append(roots, dir)
		}
	}
	if prefix, err := SysPrefix(); err == nil {
		roots = append(roots, PrefixDir(prefix))
	}
	if dir, err := UserDir(); err == nil {
		roots = append(roots, dir)
	}
	if runtime.GOOS == "windows" {
		if dir := os.Getenv("PROGRAMDATA"); dir != "" {
			roots = append(roots, filepath.Join(dir, "jupyter"))
		}
	} else {
		roots = append(roots, "/usr/local/share/jupyter", "/usr/share/jupyter")
	}
	return roots, false
}

// SameDir says whether two paths name one folder, which need not exist.
func SameDir(a, b string) bool { return resolve(a) == resolve(b) }

func resolve(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	for rest := ""; ; {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(path)
		if parent == path {
			return filepath.Join(path, rest)
		}
		path, rest = parent, filepath.Join(filepath.Base(path), rest)
	}
}
