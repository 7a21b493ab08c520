package install

import (
	"archive/zip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

//go:embed VERSION
var version string

// Version is gocuda's own, from the file VERSION: the one place that has it.
var Version = strings.TrimSpace(version)

// WheelPlatforms gives the tag that Python's wheels have for each system that the
// kernel is built for, by GOOS/GOARCH. On Linux the binary needs a glibc.
var WheelPlatforms = map[string]string{
	"linux/amd64":   "manylinux_2_17_x86_64.manylinux2014_x86_64",
	"linux/arm64":   "manylinux_2_17_aarch64.manylinux2014_aarch64",
	"darwin/amd64":  "macosx_12_0_x86_64",
	"darwin/arm64":  "macosx_12_0_arm64",
	"windows/amd64": "win_amd64",
}

// WheelName is the file name of the wheel for a platform of [WheelPlatforms].
func WheelName(platform string) string {
	return fmt.Sprintf("gocuda-%s-py3-none-%s.whl", Version, WheelPlatforms[platform])
}

// compilerExtra has pip install 'gocuda[nvrtc]' bring what compiles %%cuda cells as for a GPU.
var compilerExtra = func() string {
	text := "Provides-Extra: nvrtc\n"
	for _, name := range []string{"nvrtc", "runtime", "cccl", "crt"} {
		text += "Requires-Dist: nvidia-cuda-" + name + "; sys_platform == 'linux' and extra == 'nvrtc'\n"
	}
	return text
}()

// WriteWheel writes a wheel that has the binary, the kernelspec and the language
// server's entry, and the plugin for papermill and nbconvert: pip puts them where these find
// them, and takes them away again. The same binary gives the same bytes.
func WriteWheel(w io.Writer, platform string, binary []byte) error {
	tag, ok := WheelPlatforms[platform]
	if !ok {
		return fmt.Errorf("there are no wheels for %s", platform)
	}
	// pip puts share/ and the folder of programs into one folder, wherever that is.
	program, fromSpec := "gocuda-kernel", "{resource_dir}/../../../../bin/gocuda-kernel"
	if strings.HasPrefix(platform, "windows/") {
		program, fromSpec = "gocuda-kernel.exe", `{resource_dir}\..\..\..\..\Scripts\gocuda-kernel.exe`
	}
	spec, err := contents(specOf(Options{Executable: fromSpec, DisplayName: DisplayName}))
	if err != nil {
		return err
	}
	data, info := fmt.Sprintf("gocuda-%s.data/", Version), fmt.Sprintf("gocuda-%s.dist-info/", Version)
	files := map[string][]byte{
		data + "scripts/" + program: binary,
		data + "data/etc/jupyter/" + filepath.ToSlash(languageServerFile(DefaultName)): languageServer("gocuda-kernel"), // of PATH
		info + "entry_points.txt": []byte(pluginEntry),
		info + "METADATA": []byte("Metadata-Version: 2.1\nName: gocuda\nVersion: " + Version +
			"\nSummary: A Jupyter kernel for Go in which GPUs are live\nLicense: MIT\n" + compilerExtra),
		info + "WHEEL": []byte("Wheel-Version: 1.0\nGenerator: gocuda " + Version + "\nRoot-Is-Purelib: false\n"),
	}
	for t := range strings.SplitSeq(tag, ".") {
		files[info+"WHEEL"] = append(files[info+"WHEEL"], "Tag: py3-none-"+t+"\n"...)
	}
	maps.Copy(files, pluginModules())
	extension, err := labextensionFiles()
	if err != nil {
		return err
	}
	for name, content := range extension {
		files[data+"data/share/jupyter/"+name] = content
	}
	for name, content := range spec {
		files[data+"data/share/jupyter/kernels/"+DefaultName+"/"+name] = content
	}
	var record strings.Builder
	z := zip.NewWriter(w)
	add := func(name string, content []byte) error {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		mode := fs.FileMode(0o644)
		if strings.Contains(name, "/scripts/") {
			mode = 0o755
		}
		h.SetMode(mode)
		f, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		_, err = f.Write(content)
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := add(name, files[name]); err != nil {
			return err
		}
		sum := sha256.Sum256(files[name])
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(files[name]))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	if err := add(info+"RECORD", []byte(record.String())); err != nil {
		return err
	}
	return z.Close()
}
