package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"gocuda/install"
)

const installDetails = `
Without a flag it is installed for this user. Jupyter starts the binary from
where it is now, so install it again after moving it. The language
server is registered with jupyter-lsp, too: see help lsp. The Python that Jupyter
is in gets a plugin by which papermill writes parameters, and nbconvert scripts, as Go.`

// place is where the kernel is installed, by flags.
type place struct {
	user, sysPrefix bool
	prefix          string
	name            string
}

func (p *place) flags(f *flag.FlagSet) {
	f.BoolVar(&p.user, "user", false, "for this user (the default)")
	f.BoolVar(&p.sysPrefix, "sys-prefix", false, "for the active Python environment, or the one that jupyter is in")
	f.StringVar(&p.prefix, "prefix", "", "below `DIR`, in DIR/share/jupyter/kernels")
	f.StringVar(&p.name, "name", install.DefaultName, "the kernel's `NAME` for Jupyter")
}

// dirs are the folders of Jupyter's data and of its configuration.
func (p *place) dirs() (root, config string, err error) {
	given := 0
	for _, set := range []bool{p.user, p.sysPrefix, p.prefix != ""} {
		if set {
			given++
		}
	}
	switch {
	case given > 1:
		return "", "", usageError{"--user, --sys-prefix and --prefix cannot be used together"}
	case p.prefix != "":
		dir, err := filepath.Abs(p.prefix)
		return install.PrefixDir(dir), install.PrefixConfig(dir), err
	case p.sysPrefix:
		dir, err := install.SysPrefix()
		return install.PrefixDir(dir), install.PrefixConfig(dir), err
	}
	if root, err = install.UserDir(); err == nil {
		config, err = install.UserConfig()
	}
	return root, config, err
}

// python is the prefix of the Python that the place is for: "" if there is none.
// It is the user's choice only where a flag names it.
func (p *place) python() (prefix string, user bool) {
	if p.prefix != "" {
		return p.prefix, false
	}
	prefix, err := install.SysPrefix()
	if err != nil {
		return "", false
	}
	return prefix, !p.sysPrefix
}

// pairs is a flag NAME=VALUE that may be given several times.
type pairs map[string]string

func (p pairs) String() string { return "" }

func (p pairs) Set(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return errors.New("want NAME=VALUE")
	}
	p[name] = value
	return nil
}

func runInstall(c *call) error {
	var p place
	p.flags(c.flags)
	display := c.flags.String("display-name", install.DisplayName, "the `TEXT` that Jupyter shows")
	env := make(pairs)
	c.flags.Var(env, "env", "give the kernel an environment variable `NAME=VALUE`, such as GOCUDA_BACKEND=sim (may be repeated)")
	if _, err := c.parse(); err != nil {
		return err
	}
	root, config, err := p.dirs()
	if err != nil {
		return err
	}
	binary, err := executable()
	if err != nil {
		return err
	}
	if strings.HasPrefix(binary, filepath.Join(os.TempDir(), "go-build")) {
		return errors.New("\"go run\" deletes its binary afterwards: build one first (make build, or go build ./cmd/gocuda-kernel)")
	}
	dir, err := install.Install(install.Options{
		Executable: binary, Root: root, Config: config, Name: p.name, DisplayName: *display, Env: env,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "Installed %q (%s):\n  kernelspec  %s\n  starts      %s\n", *display, p.name, dir, binary)
	prefix, user := p.python()
	if plugin, err := install.Plugin(c.ctx, prefix, user); err != nil {
		fmt.Fprintf(c.stderr, "note: papermill cannot write parameters as Go yet: %v\n", err)
	} else if plugin != "" {
		fmt.Fprintf(c.stdout, "  papermill   %s\n", plugin)
	}
	fmt.Fprintln(c.stdout, visibility(c, root, dir, p))
	return nil
}

// visibility says whether Jupyter will find the kernelspec.
func visibility(c *call, root, dir string, p place) string {
	// A Python environment's own Jupyter looks there, whichever is on PATH.
	if own, err := filepath.Glob(filepath.Join(p.prefix, "pyvenv.cfg")); p.prefix != "" && err == nil && len(own) > 0 {
		return fmt.Sprintf("The Jupyter of this environment will find it there. Open it with: %s lab", filepath.Join(p.prefix, "bin", "jupyter"))
	}
	roots, asked := install.SearchPath(c.ctx)
	by := "according to its documented rules; no jupyter command is on PATH to ask"
	if asked {
		by = "according to the jupyter command on PATH"
	}
	for _, r := range roots {
		if !install.SameDir(r, root) {
			continue
		}
		if first := install.Find(roots, p.name); len(first) > 0 && !install.SameDir(first[0], dir) {
			return fmt.Sprintf("But Jupyter will find another kernelspec of this name before it: %s", first[0])
		}
		if _, err := exec.LookPath("jupyter"); err != nil {
			return "Jupyter will find it there (" + by + ")."
		}
		return "Jupyter will find it there (" + by + "). Open it with: jupyter lab"
	}
	return fmt.Sprintf("Jupyter will not look there (%s). Tell it to:\n  export JUPYTER_PATH=%s", by, root)
}

func runUninstall(c *call) error {
	var p place
	p.flags(c.flags)
	if _, err := c.parse(); err != nil {
		return err
	}
	root, config, err := p.dirs()
	if err != nil {
		return err
	}
	dir, err := install.Uninstall(root, config, p.name)
	if err == nil {
		prefix, user := p.python()
		err = install.RemovePlugin(c.ctx, prefix, user)
	}
	if errors.Is(err, fs.ErrNotExist) {
		text := fmt.Sprintf("no kernel %q is installed in %s", p.name, root)
		roots, _ := install.SearchPath(c.ctx)
		for _, other := range install.Find(roots, p.name) {
			text += fmt.Sprintf("\nthere is one in %s: gocuda-kernel uninstall --name %s --prefix %s",
				other, p.name, filepath.Join(other, "..", "..", "..", ".."))
		}
		return errors.New(text)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stdout, "Removed %s\n", dir)
	return err
}
