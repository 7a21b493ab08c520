package install

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestInstallAndUninstall(t *testing.T) {
	root := filepath.Join(t.TempDir(), "not", "yet", "there")
	config := filepath.Join(t.TempDir(), "etc")
	o := Options{Executable: "/opt/gocuda-kernel", Root: root, Config: config, Env: map[string]string{"GOCUDA_BACKEND": "sim"}}
	for range 2 { // the second replaces the first
		dir, err := Install(o)
		if err != nil {
			t.Fatal(err)
		}
		if dir != filepath.Join(root, "kernels", "gocuda") {
			t.Errorf("installed in %s", dir)
		}
	}
	dirs := Find([]string{t.TempDir(), root}, DefaultName)
	if len(dirs) != 1 {
		t.Fatalf("found %q", dirs)
	}
	got, err := Read(dirs[0])
	want := Spec{
		Argv:        []string{"/opt/gocuda-kernel", "serve", "{connection_file}"},
		DisplayName: "Go (CUDA)", Language: "go", InterruptMode: "message",
		Env: map[string]string{"GOCUDA_BACKEND": "sim"}, Metadata: map[string]any{"debugger": true, "supported_encryption": "curve"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: got %+v, want %+v", err, got, want)
	}
	var names []string
	entries, _ := os.ReadDir(dirs[0])
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "kernel.json logo-32x32.png logo-64x64.png logo-svg.svg" {
		t.Errorf("the folder holds %s", got)
	}
	if entries, _ := os.ReadDir(filepath.Join(root, "kernels")); len(entries) != 1 {
		t.Errorf("left beside it: %v", entries)
	}
	server, err := os.ReadFile(filepath.Join(config, "jupyter_server_config.d", "gocuda-lsp-gocuda.json"))
	if err != nil || !strings.Contains(string(server), `"/opt/gocuda-kernel",`) {
		t.Errorf("the language server's entry is %s, %v", server, err)
	}
	if _, err := Uninstall(root, config, DefaultName); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(config, "*", "*")); len(left) > 0 || err != nil {
		t.Errorf("left are %q, %v", left, err)
	}
	if _, err := Uninstall(root, config, DefaultName); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("uninstalled twice: %v", err)
	}
}

// TestLogos: the images have the sizes that Jupyter takes them to have, with a
// clear corner and the chip within.
func TestLogos(t *testing.T) {
	files, err := contents(Spec{})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{32, 64} {
		img, err := png.Decode(bytes.NewReader(files[fmt.Sprintf("logo-%dx%d.png", size, size)]))
		if err != nil {
			t.Fatal(err)
		}
		if b := img.Bounds(); b.Dx() != size || b.Dy() != size {
			t.Errorf("%d: bounds %v", size, b)
		}
		if _, _, _, a := img.At(0, 0).RGBA(); a != 0 {
			t.Errorf("%d: the corner is not clear", size)
		}
		if got, want := color.NRGBAModel.Convert(img.At(size/4, size/4)), (color.NRGBA{0x12, 0x3f, 0x52, 0xff}); got != want {
			t.Errorf("%d: the chip is %v, want %v", size, got, want)
		}
	}
	if err := xml.Unmarshal(files["logo-svg.svg"], new(struct {
		XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
	})); err != nil {
		t.Error(err)
	}
}

func TestOtherKernelsAreLeftAlone(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "kernels", "python3")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Install(Options{Root: root, Name: "python3"}); err == nil {
		t.Error("installed over a folder of something else")
	}
	spec := `{"argv": ["python", "-m", "ipykernel_launcher"], "display_name": "Python 3", "language": "python"}`
	if err := os.WriteFile(filepath.Join(dir, "kernel.json"), []byte(spec), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Install(Options{Root: root, Name: "python3"}); err == nil || !strings.Contains(err.Error(), "Python 3") {
		t.Errorf("installed over Python: %v", err)
	}
	if _, err := Uninstall(root, "", "python3"); err == nil {
		t.Error("removed Python")
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "kernel.json")); string(got) != spec {
		t.Error("Python's kernelspec was changed")
	}
	for _, name := range []string{"..", "a/b", "a b", "é"} {
		if _, err := Install(Options{Root: root, Name: name}); err == nil {
			t.Errorf("name %q was taken", name)
		}
	}
}

func TestUserDirByJupytersRules(t *testing.T) {
	for _, c := range []struct{ goos, env, want string }{
		{"linux", "", "h/.local/share/jupyter"},
		{"linux", "XDG_DATA_HOME=x", "x/jupyter"},
		{"linux", "JUPYTER_PLATFORM_DIRS=1", "h/.local/share/jupyter"},
		{"darwin", "", "h/Library/Jupyter"},
		{"darwin", "JUPYTER_PLATFORM_DIRS=1", "h/Library/Application Support/Jupyter"},
		{"darwin", "JUPYTER_PLATFORM_DIRS=0", "h/Library/Jupyter"},
		{"windows", "", "h/.jupyter/data"},
		{"windows", "APPDATA=a", "a/jupyter"},
		{"windows", "LOCALAPPDATA=l JUPYTER_PLATFORM_DIRS=1", "l/Jupyter"},
	} {
		env := make(map[string]string)
		for _, kv := range strings.Fields(c.env) {
			k, v, _ := strings.Cut(kv, "=")
			env[k] = v
		}
		getenv := func(k string) string { return env[k] }
		if config := userConfig(c.goos, "h", getenv); (config == "h/.jupyter") == platformDirs(getenv) {
			t.Errorf("%v: the configuration is in %s", c, config)
		}
		got := userDir(c.goos, "h", getenv)
		if got != filepath.FromSlash(c.want) {
			t.Errorf("%s %s: got %s, want %s", c.goos, c.env, got, c.want)
		}
	}
}

func TestSearchPathWithoutJupyter(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("VIRTUAL_ENV", "/venv")
	t.Setenv("JUPYTER_PATH", "/first"+string(os.PathListSeparator)+"/second")
	t.Setenv("JUPYTER_DATA_DIR", "/data")
	roots, asked := SearchPath(t.Context())
	want := []string{"/first", "/second", PrefixDir("/venv"), "/data"}
	if asked || len(roots) < len(want) || !reflect.DeepEqual(roots[:len(want)], want) {
		t.Errorf("got %q (asked %v), want %q first", roots, asked, want)
	}
}

func TestSysPrefixIsThatOfTheJupyterOnPath(t *testing.T) {
	t.Setenv("VIRTUAL_ENV", "")
	t.Setenv("CONDA_PREFIX", "")
	env, elsewhere := t.TempDir(), t.TempDir()
	t.Setenv("PATH", elsewhere)
	if dir, err := SysPrefix(); err == nil {
		t.Errorf("without Jupyter: %s", dir)
	}
	bin := filepath.Join(env, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"jupyter", "python"} {
		if err := os.WriteFile(filepath.Join(bin, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(bin, "jupyter"), filepath.Join(elsewhere, "jupyter")); err != nil {
		t.Skip(err)
	}
	if dir, err := SysPrefix(); err != nil || !SameDir(dir, env) {
		t.Errorf("got %s, %v; want %s", dir, err, env)
	}
}

func TestSameDir(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	if !SameDir(filepath.Join(dir, "a", "b"), filepath.Join(link, "a", ".", "b")) || SameDir(dir, dir+"x") {
		t.Error("links are not seen through")
	}
}

// JupyterLab's extension comes with a kernelspec, and goes with the last one.
func TestLabextension(t *testing.T) {
	root, config := t.TempDir(), t.TempDir()
	for _, name := range []string{"gocuda", "other"} {
		if _, err := Install(Options{Executable: "/bin/gocuda-kernel", Root: root, Config: config, Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	var about struct {
		Jupyterlab struct {
			Build struct{ Load string } `json:"_build"`
		}
	}
	folder := filepath.Join(root, "labextensions", "gocuda")
	text, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &about); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"gocuda", "other"} {
		if _, err := os.Stat(filepath.Join(folder, about.Jupyterlab.Build.Load)); err != nil {
			t.Errorf("before %s is removed: %v", name, err)
		}
		if _, err := Uninstall(root, config, name); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(folder); (err == nil) != (i == 0) {
			t.Errorf("after %s is removed: %v", name, err)
		}
	}
}
