package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The children of these tests are this test binary, started with
// DOCTOR_TEST_CHILD set.
func TestMain(m *testing.M) {
	switch os.Getenv("DOCTOR_TEST_CHILD") {
	case "":
		os.Exit(m.Run())
	case "answers":
		fmt.Print("a library's own banner")
		if err := Probe(os.Stdout, os.Args[1]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	case "crashes":
		fmt.Fprintln(os.Stderr, "first words\nlast words")
		os.Exit(139)
	case "hangs":
		time.Sleep(time.Hour)
	case "babbles":
		fmt.Println("what?")
	case "two GPUs":
		fmt.Println(`{"where": "/lib/libcuda.so.1", "version": "CUDA 13.0", "devices": [{"index": 0, "name": "A", "memory_bytes": 1073741824}, {"index": 1, "name": "B"}], "peers": [[false, true], [false, false]]}`)
	}
}

func child(behaviour string) Prober {
	return func(ctx context.Context, subject string) *exec.Cmd {
		does := behaviour
		if subject != "cuda" && does == "two GPUs" {
			does = "crashes"
		}
		cmd := exec.CommandContext(ctx, os.Args[0], subject)
		cmd.Env = append(os.Environ(), "DOCTOR_TEST_CHILD="+does)
		return cmd
	}
}

func TestEverySubjectAnswers(t *testing.T) {
	for _, subject := range []string{"cuda", "nvrtc", "cupti", "mpi", "nccl", "ranks"} {
		var f finding
		if err := ask(t.Context(), child("answers"), subject, &f); err != nil {
			t.Errorf("%s: %v", subject, err)
		}
		if f.Missing == "" && f.Where == "" {
			t.Errorf("%s: neither found nor missing: %+v", subject, f)
		}
	}
	if err := ask(t.Context(), child("answers"), "perpetuum mobile", new(finding)); err == nil {
		t.Error("an unknown subject was found")
	}
}

func TestRanksTellTheirMPI(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	c := ranksCheck(t.Context(), child("answers"))
	if c.Status != Found || c.Where != "built in" || !strings.Contains(c.Detail, "local launcher, as neither mpirun") || !strings.Contains(c.Detail, "not CUDA-aware: device buffers go by CUDA IPC") {
		t.Errorf("%+v", c)
	}
	found, _ := filepath.Glob("../../../../build/mpi/*/bin/mpirun")
	if len(found) == 0 {
		t.Skip("no mpirun in build/mpi: make mpi-libs installs some")
	}
	for _, mpirun := range found {
		bin, err := filepath.Abs(filepath.Dir(mpirun))
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", bin+":/usr/bin:/bin")
		if c := libraryCheck(t.Context(), child("answers"), mpiSubject); c.Status != Found || !strings.Contains(c.Where, filepath.Base(filepath.Dir(bin))) {
			t.Errorf("%s: %+v", bin, c)
		}
		if c := ranksCheck(t.Context(), child("answers")); c.Status != Found || !strings.Contains(c.Where, filepath.Base(filepath.Dir(bin))) || !strings.Contains(c.Detail, "started by "+bin) {
			t.Errorf("%s: %+v", bin, c)
		}
	}
}

func TestABrokenLibraryIsAFinding(t *testing.T) {
	for behaviour, want := range map[string]string{
		"crashes": "last words",
		"babbles": "failed",
	} {
		c, gpu := driverCheck(t.Context(), child(behaviour))
		if c.Status != Broken || !strings.Contains(c.Detail, want) || c.Advice == "" || len(gpu.Devices) > 0 {
			t.Errorf("%s: %+v", behaviour, c)
		}
	}
}

func TestAHangingLibraryIsEnded(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	done := make(chan Check)
	go func() { done <- libraryCheck(ctx, child("hangs"), mpiSubject) }()
	select {
	case c := <-done:
		if c.Status != Broken || !strings.Contains(c.Detail, "no answer") {
			t.Errorf("%+v", c)
		}
	case <-time.After(time.Minute):
		t.Error("the doctor hangs with it")
	}
}

func TestReport(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("CXX", "")
	r := Examine(t.Context(), "1.2.3", child("two GPUs"))
	if r.Backend != "nvidia" || len(r.Devices) != 2 {
		t.Errorf("backend %s, devices %v", r.Backend, r.Devices)
	}
	status := make(map[string]Status)
	for _, c := range r.Checks {
		status[c.Name] = c.Status
		if c.Status != Found && c.Advice == "" {
			t.Errorf("no advice about %s", c.Name)
		}
	}
	for name, want := range map[string]Status{
		"NVIDIA driver": Found, "NVRTC": Broken, "C++ compiler": Missing, "MPI library": Broken,
		"mpirun": Missing, "MPI ranks": Broken, "NCCL": Broken, "Jupyter": Missing,
	} {
		if status[name] != want {
			t.Errorf("%s is %s, want %s", name, status[name], want)
		}
	}
	var b bytes.Buffer
	r.Write(&b)
	words := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{"0 A 1.0 GiB", "Peer access (row reaches column): 0 1 0 - yes 1 no -", "pip install jupyterlab", "these GPUs"} {
		if !strings.Contains(words, want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
	data, err := json.Marshal(r)
	if err != nil || !bytes.Contains(data, []byte(`"peers":[[false,true],[false,false]]`)) {
		t.Errorf("%v %s", err, data)
	}
}

func TestNoGPUMeansSimulatedDevices(t *testing.T) {
	r := Examine(t.Context(), "", child("crashes"))
	if r.Backend != "sim" {
		t.Errorf("backend %s", r.Backend)
	}
	data, _ := json.Marshal(r)
	if !bytes.Contains(data, []byte(`"devices":[]`)) {
		t.Errorf("JSON has no list of devices: %s", data)
	}
}

func TestVersions(t *testing.T) {
	for text, want := range map[string]string{
		"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022": "Open MPI v4.1.4",
		"MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022\n":             "MPICH 4.0.2",
		"Intel(R) MPI Library 2021.11 for Linux* OS\n":                                           "Intel(R) MPI Library 2021.11 for Linux* OS",
	} {
		if got := mpiVersion(text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for v, want := range map[int]string{22304: "2.23.4", 2708: "2.7.8", 21005: "2.10.5"} {
		if got := ncclVersion(v); got != want {
			t.Errorf("NCCL %d: got %s, want %s", v, got, want)
		}
	}
}

func TestExtensionsOfJupyterLab(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	data := t.TempDir()
	t.Setenv("JUPYTER_PATH", data)
	extension := func(name, version string) {
		dir := filepath.Join(data, "labextensions", filepath.FromSlash(name))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"version":"`+version+`"}`), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	extension("anywidget", "0.11.0")
	if c := widgetsCheck(t.Context()); c.Status == Found && !strings.HasPrefix(c.Where, "/usr") || c.Status != Found && !strings.Contains(c.Advice, "pip install ipywidgets") {
		t.Errorf("%+v", c)
	}
	extension("@jupyter-widgets/jupyterlab-manager", "5.0.15")
	if c := widgetsCheck(t.Context()); c.Status != Found || c.Version != "jupyterlab-manager 5.0.15" || c.Detail != "with anywidget 0.11.0" || c.Advice != "" {
		t.Errorf("%+v", c)
	}
	if c := languageServerCheck(t.Context()); c.Status != Found && !strings.Contains(c.Advice, "pip install jupyterlab-lsp") {
		t.Errorf("%+v", c)
	}
	extension("@jupyter-lsp/jupyterlab-lsp", "5.2.0")
	if c := languageServerCheck(t.Context()); c.Status != Found || c.Version != "5.2.0" || c.Advice != "" {
		t.Errorf("%+v", c)
	}
}
