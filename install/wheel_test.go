package install

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"reflect"
	"strings"
	"testing"
)

// A wheel has the binary as a program, a kernelspec that finds it from its own
// folder, and a record of all that is in it.
func TestWheel(t *testing.T) {
	for platform := range WheelPlatforms {
		t.Run(platform, func(t *testing.T) {
			binary := []byte("the binary of " + platform)
			var b, again bytes.Buffer
			if err := WriteWheel(&b, platform, binary); err != nil {
				t.Fatal(err)
			}
			if err := WriteWheel(&again, platform, binary); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
				t.Error("the same binary gave two wheels", err)
			}
			z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
			if err != nil {
				t.Fatal(err)
			}
			files := make(map[string]string)
			for _, f := range z.File {
				r, err := f.Open()
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(r)
				if err != nil {
					t.Fatal(err)
				}
				files[f.Name] = string(text)
				if isScript := strings.Contains(f.Name, "/scripts/"); isScript != (f.Mode()&0o111 != 0) {
					t.Errorf("%s has mode %v", f.Name, f.Mode())
				}
			}
			record := files["gocuda-"+Version+".dist-info/RECORD"]
			for name, text := range files {
				sum := sha256.Sum256([]byte(text))
				line := fmt.Sprintf("%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(text))
				if strings.HasSuffix(name, "/RECORD") {
					line = name + ",,\n"
				}
				if !strings.Contains(record, line) {
					t.Errorf("the record has no line %q", line)
				}
			}
			folder := "share/jupyter/kernels/gocuda"
			var spec Spec
			if err := json.Unmarshal([]byte(files["gocuda-"+Version+".data/data/"+folder+"/kernel.json"]), &spec); err != nil {
				t.Fatal(err)
			}
			if own := specOf(Options{Executable: spec.Argv[0], DisplayName: DisplayName}); !reflect.DeepEqual(spec, own) {
				t.Errorf("the kernelspec is %v, that of install %v", spec, own)
			}
			program := strings.ReplaceAll(strings.Replace(spec.Argv[0], "{resource_dir}", folder, 1), `\`, "/")
			if program = path.Clean(program); program != "bin/gocuda-kernel" && program != "Scripts/gocuda-kernel.exe" {
				t.Errorf("the kernelspec starts %s", program)
			}
			if server := files["gocuda-"+Version+".data/data/etc/jupyter/jupyter_server_config.d/gocuda-lsp-gocuda.json"]; !json.Valid([]byte(server)) || !strings.Contains(server, `"gocuda-kernel",`) {
				t.Errorf("the language server's entry is %q", server)
			}
			if entry := files["gocuda-"+Version+".dist-info/entry_points.txt"]; entry != pluginEntry || files["gocuda_papermill.py"] == "" || files["gocuda_nbconvert.py"] == "" {
				t.Errorf("papermill's plugin: %q", entry)
			}
			if files["gocuda-"+Version+".data/scripts/"+path.Base(program)] != string(binary) {
				t.Errorf("the wheel has no program %s", path.Base(program))
			}
		})
	}
	if err := WriteWheel(io.Discard, "plan9/386", nil); err == nil {
		t.Error("a wheel for plan9/386")
	}
}
