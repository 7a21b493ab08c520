// Package install makes gocuda known to Jupyter: it writes and removes kernel
// specs, and knows where Jupyter looks for them.
package install

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// logos are one drawing, a chip that carries a G, in the forms and sizes that
// Jupyter looks for. The PNGs were made from the SVG.
//
//go:embed logo
var logos embed.FS

// labextension is what JupyterLab loads for gocuda's notebooks.
//
//go:embed labextension
var labextension embed.FS

// labextensionFiles are its files by their paths in a Jupyter data folder.
func labextensionFiles() (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(labextension, "labextension", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rest := strings.TrimPrefix(name, "labextension/")
		files["labextensions/"+DefaultName+"/"+rest], err = labextension.ReadFile(name)
		return err
	})
	return files, err
}

// writeLabextension puts the extension into a Jupyter data folder.
func writeLabextension(root string) error {
	files, err := labextensionFiles()
	if err != nil {
		return err
	}
	for name, data := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path+tempSuffix, data, 0o644); err != nil {
			return err
		}
		if err := os.Rename(path+tempSuffix, path); err != nil {
			return err
		}
	}
	return nil
}

// removeLabextension takes it away with the last kernelspec of gocuda there.
func removeLabextension(root string) error {
	specs, err := filepath.Glob(filepath.Join(root, "kernels", "*"))
	if err != nil {
		return err
	}
	for _, dir := range specs {
		if ours(dir) == nil {
			return nil
		}
	}
	return os.RemoveAll(filepath.Join(root, "labextensions", DefaultName))
}

// DefaultName is the kernel's name for Jupyter, and its folder's.
const DefaultName = "gocuda"

// DisplayName is what Jupyter's launcher shows.
const DisplayName = "Go (CUDA)"

// Spec is a kernelspec: the content of kernel.json.
type Spec struct {
	Argv          []string          `json:"argv"`
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode"`
	Env           map[string]string `json:"env,omitempty"`
	Metadata      map[string]any    `json:"metadata"`
}

// Options say what to install, and where.
type Options struct {
	// Executable is the path of the gocuda-kernel binary.
	Executable string
	// Root is the Jupyter data folder to install into, such as UserDir.
	Root string
	// Config is the Jupyter configuration folder that belongs to it, such as
	// UserConfig, in which jupyter-lsp is told about the language server; "": none is.
	Config string
	// Name and DisplayName are the defaults if empty.
	Name, DisplayName string
	// Env is the environment that Jupyter gives this kernel.
	Env map[string]string
}

var validName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// Install writes the kernelspec with its logos, and the extension of JupyterLab beside it,
// and returns the kernelspec's folder. An
// older one of gocuda is replaced; one of another kernel is an error.
func Install(o Options) (dir string, err error) {
	if o.Name == "" {
		o.Name = DefaultName
	}
	if o.DisplayName == "" {
		o.DisplayName = DisplayName
	}
	dir, err = specDir(o.Root, o.Name)
	if err != nil {
		return "", err
	}
	if err := ours(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	files, err := contents(specOf(o))
	if err != nil {
		return "", err
	}
	// A folder beside it is filled and then takes its place: Jupyter never sees half.
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	removeStale(parent)
	temp, err := os.MkdirTemp(parent, tempPrefix)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	if err := os.Chmod(temp, 0o755); err != nil {
		return "", err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(temp, name), data, 0o644); err != nil {
			return "", err
		}
	}
	if err := writeLabextension(o.Root); err != nil {
		return "", err
	}
	if o.Config == "" {
		return dir, replace(temp, dir)
	}
	server := filepath.Join(o.Config, languageServerFile(o.Name))
	if err := os.MkdirAll(filepath.Dir(server), 0o755); err != nil {
		return "", err
	}
	defer os.Remove(server + tempSuffix)
	if err := os.WriteFile(server+tempSuffix, languageServer(o.Executable), 0o644); err != nil {
		return "", err
	}
	if err := replace(temp, dir); err != nil {
		return "", err
	}
	return dir, os.Rename(server+tempSuffix, server)
}

// specOf is the kernelspec for a binary.
func specOf(o Options) Spec {
	return Spec{
		Argv:          []string{o.Executable, "serve", "{connection_file}"},
		DisplayName:   o.DisplayName,
		Language:      "go",
		InterruptMode: "message", // a signal would reach the evaluator too
		Env:           o.Env,
		Metadata:      map[string]any{"debugger": true, "supported_encryption": "curve"}, // JupyterLab offers its debugger; jupyter_client gives keys
	}
}

// languageServerFile is the file, in a Jupyter configuration folder, by which
// jupyter-lsp knows of the language server.
func languageServerFile(name string) string {
	return filepath.Join("jupyter_server_config.d", "gocuda-lsp-"+name+".json")
}

// languageServer is the content of that file.
func languageServer(executable string) []byte {
	server := map[string]any{
		"version": 2, "argv": []string{executable, "lsp"}, "display_name": DefaultName,
		"languages": []string{"go"}, "mime_types": []string{"text/x-go"}, "requires_documents_on_disk": false,
	}
	text, _ := json.MarshalIndent(map[string]any{"LanguageServerManager": map[string]any{"language_servers": map[string]any{DefaultName: server}}}, "", "  ")
	return append(text, '\n')
}

const (
	// tempPrefix begins the names of folders that are being filled.
	tempPrefix = ".gocuda-"
	// tempSuffix ends the name of a file that is being written.
	tempSuffix = ".new"
	// staleTime is after how long nobody fills one any more.
	staleTime = time.Hour
)

// removeStale removes folders that killed installers left: Jupyter would list
// them as kernels.
func removeStale(parent string) {
	list, _ := filepath.Glob(filepath.Join(parent, tempPrefix+"*"))
	for _, dir := range list {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && time.Since(info.ModTime()) > staleTime {
			os.RemoveAll(dir)
		}
	}
}

// moveAway puts temp in the place of dir, where they cannot be exchanged at
// once.
func moveAway(temp, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(temp, dir)
}

// Uninstall removes the kernelspec of that name from a Jupyter data folder, and
// its language server from the configuration folder, and returns the former's
// folder. The extension of JupyterLab goes with the last one. The error is fs.ErrNotExist if there is none; the kernelspec of another
// kernel is not touched.
func Uninstall(root, config, name string) (dir string, err error) {
	dir, err = specDir(root, name)
	if err != nil {
		return "", err
	}
	if err := ours(dir); err != nil {
		return dir, err
	}
	if err := os.Remove(filepath.Join(config, languageServerFile(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	if err := os.RemoveAll(dir); err != nil {
		return dir, err
	}
	return dir, removeLabextension(root)
}

// Find lists the folders among the Jupyter data folders given that hold a
// kernelspec of gocuda by that name, in order.
func Find(roots []string, name string) (dirs []string) {
	for _, root := range roots {
		if dir, err := specDir(root, name); err == nil && ours(dir) == nil {
			dirs = append(dirs, dir)
		}
	}
	return slices.Compact(dirs)
}

// Read reads the kernelspec in a folder.
func Read(dir string) (Spec, error) {
	path := filepath.Join(dir, "kernel.json")
	data, err := os.ReadFile(path)
	if err != nil {
		return Spec{}, err
	}
	var s Spec
	if err := json.Unmarshal(data, &s); err != nil {
		return Spec{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func specDir(root, name string) (string, error) {
	if !validName.MatchString(name) || name == "." || name == ".." {
		return "", fmt.Errorf("kernel name %q: use ASCII letters, digits, dots, underscores and hyphens", name)
	}
	return filepath.Join(root, "kernels", name), nil
}

// ours is nil if the folder holds a kernelspec that Install wrote.
func ours(dir string) error {
	s, err := Read(dir)
	if err != nil {
		if _, there := os.Stat(dir); there == nil && errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is there already, and holds no kernelspec: remove it or choose another --name", dir)
		}
		return err
	}
	if s.Language != "go" || len(s.Argv) != 3 || s.Argv[1] != "serve" {
		return fmt.Errorf("%s belongs to another kernel (%s): choose another --name", dir, s.DisplayName)
	}
	return nil
}

// contents are the files of a kernelspec's folder.
func contents(s Spec) (map[string][]byte, error) {
	spec, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"kernel.json": append(spec, '\n')}
	images, err := logos.ReadDir("logo")
	if err != nil {
		return nil, err
	}
	for _, image := range images {
		if files[image.Name()], err = logos.ReadFile("logo/" + image.Name()); err != nil {
			return nil, err
		}
	}
	return files, nil
}
