package doctor

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"gocuda/install"
	"gocuda/kernel/ranks"
)

// subject is a library that a child looks into.
type subject struct{ key, name, advice string }

var (
	nvrtcSubject = subject{"nvrtc", "NVRTC",
		"%%cuda cells need it on GPUs, and on simulated devices to be compiled as for a GPU: pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-crt, or install a CUDA toolkit, or set GOCUDA_NVRTC to the library"}
	cuptiSubject = subject{"cupti", "CUPTI",
		"%%timeline measures GPUs by events without it: pip install nvidia-cuda-cupti, or install a CUDA toolkit, or set GOCUDA_CUPTI to the library"}
	mpiSubject = subject{"mpi", "MPI library",
		"MPI programs need one: apt-get install openmpi-bin (Debian, Ubuntu), or brew install open-mpi (macOS)"}
	ncclSubject = subject{"nccl", "NCCL",
		"collectives of several GPUs are faster with it: pip install nvidia-nccl-cu12, or install libnccl2"}
)

func libraryCheck(ctx context.Context, prober Prober, s subject) Check {
	var f finding
	if err := ask(ctx, prober, s.key, &f); err != nil {
		return Check{Name: s.name, Status: Broken, Detail: err.Error(), Advice: s.advice}
	}
	return f.check(s.name, s.advice)
}

func (f finding) check(name, advice string) Check {
	c := Check{Name: name, Status: Found, Version: f.Version, Where: f.Where, Detail: f.Detail}
	switch {
	case f.Missing != "":
		c.Status, c.Detail, c.Advice = Missing, f.Missing, advice
	case f.Broken != "":
		c.Status, c.Detail, c.Advice = Broken, f.Broken, advice
	}
	return c
}

// simulatedWay adds to what was found of NVRTC which way %%cuda cells of simulated devices take.
func simulatedWay(nvrtc Check, setting string) Check {
	way := "simulated %%cuda cells go through it"
	switch {
	case setting == "c++":
		way = "simulated %%cuda cells go through the C++ compiler alone, as GOCUDA_SIM_CUDA=c++ says"
	case nvrtc.Status != Missing:
	case setting == "ptx":
		way = "simulated %%cuda cells do not compile, since GOCUDA_SIM_CUDA=ptx asks for it"
	default:
		way = "simulated %%cuda cells go through the C++ compiler alone"
	}
	nvrtc.Detail = strings.TrimPrefix(nvrtc.Detail+"; "+way, "; ")
	return nvrtc
}

const driverAdvice = "without a GPU, notebooks run on simulated devices; with one, install NVIDIA's driver, and in a container pass the GPUs in (docker run --gpus all)"

func driverCheck(ctx context.Context, prober Prober) (Check, cudaFinding) {
	var f cudaFinding
	err := ask(ctx, prober, "cuda", &f)
	c := f.check("NVIDIA driver", driverAdvice)
	if err != nil {
		c.Status, c.Detail, c.Advice = Broken, err.Error(), driverAdvice
	}
	if kernel := kernelDriver(); kernel != "" {
		if c.Version != "" {
			c.Version += ", "
		}
		c.Version += "kernel module " + kernel
		if c.Status != Found {
			c.Advice = "the kernel has NVIDIA's driver, but its user-space library libcuda.so.1 does not work here: they must have the same version, and a container needs both"
		}
	}
	return c, f
}

var kernelDriverVersion = regexp.MustCompile(`Module.*?\s(\d+\.\d+(\.\d+)?)\s`)

// kernelDriver is the version of NVIDIA's kernel module, if it is loaded.
func kernelDriver() string {
	data, err := os.ReadFile("/proc/driver/nvidia/version")
	if err != nil {
		return ""
	}
	if m := kernelDriverVersion.FindStringSubmatch(string(data)); m != nil {
		return m[1]
	}
	return "of an unknown version"
}

// compilerCheck looks for what compiles %%cuda cells for simulated devices.
func compilerCheck(ctx context.Context) Check {
	names := []string{"g++", "clang++", "c++"}
	if env := strings.Fields(os.Getenv("CXX")); len(env) > 0 {
		names = append(env[:1:1], names...)
	}
	return commandCheck(ctx, "C++ compiler", names,
		"%%cuda cells on simulated devices need one: apt-get install g++ (Debian, Ubuntu), or xcode-select --install (macOS)",
		"reinstall g++ or clang++")
}

func launcherCheck(ctx context.Context) Check {
	return commandCheck(ctx, "mpirun", []string{"mpirun", "mpiexec", "mpiexec.hydra"},
		"starts the ranks of an MPI program: it comes with the MPI library",
		"reinstall the MPI library")
}

// commandCheck looks for the first of some commands, with what to do if there
// is none, or it does not work.
func commandCheck(ctx context.Context, what string, names []string, ifMissing, ifBroken string) Check {
	c := Check{Name: what, Status: Found}
	var err error
	c.Version, c.Where, err = firstCommand(ctx, names, "--version")
	switch {
	case c.Where == "":
		c.Status, c.Detail, c.Advice = Missing, "searched PATH for "+strings.Join(names, ", "), ifMissing
	case err != nil:
		c.Status, c.Detail, c.Advice = Broken, err.Error(), ifBroken
	}
	return c
}

// ranksCheck starts a rank as notebooks do, and asks which MPI it has and which
// way device buffers go.
func ranksCheck(ctx context.Context, prober Prober) Check {
	const advice = "%mpi start --launcher local starts ranks without an MPI library; for mpirun's, see MPI library and mpirun above"
	var by string
	started := func(ctx context.Context, subject string) (cmd *exec.Cmd) {
		cmd, by = ranks.Single(ctx, prober(ctx, subject))
		return cmd
	}
	var f finding
	if err := ask(ctx, started, "ranks", &f); err != nil {
		return Check{Name: "MPI ranks", Status: Broken, Detail: "started by " + by + ": " + err.Error(), Advice: advice}
	}
	c := f.check("MPI ranks", advice)
	c.Detail = "started by " + by + "; " + c.Detail
	return c
}

func jupyterCheck(ctx context.Context) Check {
	c := Check{Name: "Jupyter", Status: Found}
	version, path, err := firstCommand(ctx, []string{"jupyter"}, "lab", "--version")
	if path != "" && err != nil { // Jupyter may be there without JupyterLab
		version, path, err = firstCommand(ctx, []string{"jupyter"}, "--version")
		c.Detail = "without JupyterLab (pip install jupyterlab)"
	} else if path != "" {
		version = "JupyterLab " + version
	}
	c.Version, c.Where = version, path
	switch {
	case path == "":
		c.Status, c.Detail = Missing, "no jupyter command on PATH"
		c.Advice = "pip install jupyterlab (notebooks also run without it: gocuda-kernel run)"
	case err != nil:
		c.Status, c.Detail, c.Advice = Broken, err.Error(), "pip install --upgrade jupyterlab"
	}
	return c
}

// labExtension finds the version and the folder of an extension of JupyterLab.
func labExtension(roots []string, name string) (version, where string) {
	for _, root := range roots {
		dir := filepath.Join(root, "labextensions", filepath.FromSlash(name))
		var about struct {
			Version string `json:"version"`
		}
		if data, err := os.ReadFile(filepath.Join(dir, "package.json")); err == nil && json.Unmarshal(data, &about) == nil {
			return about.Version, dir
		}
	}
	return "", ""
}

// languageServerCheck looks for the front end of the language server.
func languageServerCheck(ctx context.Context) Check {
	c := Check{Name: "jupyterlab-lsp", Status: Missing, Advice: "to have mistakes underlined as you type: pip install jupyterlab-lsp, where JupyterLab is installed"}
	roots, _ := install.SearchPath(ctx)
	if version, where := labExtension(roots, "@jupyter-lsp/jupyterlab-lsp"); where != "" {
		c.Status, c.Version, c.Where, c.Advice = Found, version, where, ""
	}
	return c
}

// widgetsCheck looks for the front end of package widgets.
func widgetsCheck(ctx context.Context) Check {
	c := Check{Name: "widgets", Status: Missing, Advice: "package widgets needs their front end: pip install ipywidgets, and anywidget for widgets of your own, where JupyterLab is installed"}
	roots, _ := install.SearchPath(ctx)
	v, where := labExtension(roots, "@jupyter-widgets/jupyterlab-manager")
	if where == "" {
		c.Detail = "no @jupyter-widgets/jupyterlab-manager among the labextensions of " + strings.Join(roots, ", ")
		return c
	}
	c.Status, c.Where, c.Advice, c.Version = Found, where, "", "jupyterlab-manager "+v
	if v, where := labExtension(roots, "anywidget"); where != "" {
		c.Detail = "with anywidget " + v
	} else {
		c.Detail = "without anywidget: widgets of your own need it (pip install anywidget)"
	}
	return c
}

// kernelspecCheck looks for this kernel where Jupyter does, and whether the
// binary that Jupyter would start is there.
func kernelspecCheck(ctx context.Context) Check {
	c := Check{Name: "gocuda kernelspec", Status: Missing, Advice: "gocuda-kernel install"}
	roots, _ := install.SearchPath(ctx)
	dirs := install.Find(roots, install.DefaultName)
	if len(dirs) == 0 {
		c.Detail = "searched " + strings.Join(roots, ", ")
		return c
	}
	c.Where = dirs[0]
	spec, err := install.Read(dirs[0])
	if err != nil {
		c.Status, c.Detail = Broken, err.Error()
		return c
	}
	if _, err := os.Stat(spec.Argv[0]); err != nil {
		c.Status, c.Detail = Broken, "the binary that it starts is gone: "+spec.Argv[0]
		return c
	}
	c.Status, c.Advice, c.Detail = Found, "", "starts "+spec.Argv[0]
	return c
}

// firstCommand runs the first of the commands that is on PATH, and returns the
// first line that it prints, and its path.
func firstCommand(ctx context.Context, names []string, args ...string) (line, path string, err error) {
	for _, name := range names {
		path, err = exec.LookPath(name)
		if err != nil {
			continue
		}
		if path, err = filepath.Abs(path); err != nil {
			return "", "", err
		}
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		out, err := output(exec.CommandContext(ctx, path, args...), ctx)
		return firstLine(string(out)), path, err
	}
	return "", "", nil
}
