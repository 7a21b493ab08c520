//go:build ignore

// Typecheck checks every package of this module for other platforms, such as
// darwin/arm64, without compiling anything: what only those platforms build
// is as the checker wants it.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ Main bool }
	Error           *struct{ Err string }
}

func main() {
	failed := false
	for _, platform := range os.Args[1:] {
		n, err := check(platform)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s:\n%v\n", platform, err)
			failed = true
			continue
		}
		fmt.Printf("%s: %d packages\n", platform, n)
	}
	if failed {
		os.Exit(1)
	}
}

// check checks the packages for a platform, each after what it imports, and
// counts those of this module.
func check(platform string) (own int, err error) {
	goos, goarch, ok := strings.Cut(platform, "/")
	if !ok {
		return 0, fmt.Errorf("%s is not of the form os/arch", platform)
	}
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module,Error", "./...")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	var list []listed
	for d := json.NewDecoder(out); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return 0, err
		}
		list = append(list, p)
	}
	if err := cmd.Wait(); err != nil {
		return 0, err
	}
	var mistakes []error
	done := map[string]*types.Package{"unsafe": types.Unsafe}
	for _, p := range list {
		if p.ImportPath == "unsafe" {
			continue
		}
		main := p.Module != nil && p.Module.Main
		if p.Error != nil {
			mistakes = append(mistakes, errors.New(p.Error.Err))
			continue
		}
		fset := token.NewFileSet()
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return 0, err
			}
			files = append(files, f)
		}
		conf := types.Config{
			Importer:         imports{p.ImportMap, done},
			Sizes:            types.SizesFor("gc", goarch),
			IgnoreFuncBodies: !main,
			FakeImportC:      true,
			Error: func(err error) {
				// A body may be in assembly.
				if main && !strings.Contains(err.Error(), "missing function body") {
					mistakes = append(mistakes, err)
				}
			},
		}
		done[p.ImportPath], _ = conf.Check(p.ImportPath, fset, files, nil) // errors went to Error
		if main {
			own++
		}
	}
	return own, errors.Join(mistakes...)
}

// imports gives a package what was checked before.
type imports struct {
	vendored map[string]string
	done     map[string]*types.Package
}

func (i imports) Import(path string) (*types.Package, error) {
	if real, ok := i.vendored[path]; ok {
		path = real
	}
	if p := i.done[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("package %s is not there", path)
}
