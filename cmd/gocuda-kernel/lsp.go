package main

import (
	"io"
	"os"

	"gocuda/kernel/golang"
	"gocuda/kernel/golang/modules"
	"gocuda/kernel/lsp"
	"gocuda/kernel/magic"
	"gocuda/kernel/packages"
)

const lspDetails = `
It speaks the Language Server Protocol on its standard input and output, for
jupyterlab-lsp: what is wrong with cells is underlined as one types, before they
run, and names are completed and told of without a kernel. Where JupyterLab is:
    pip install jupyterlab-lsp
"gocuda-kernel install", or the wheel, has told it of this server, by a file in
Jupyter's jupyter_server_config.d. By hand, in jupyter_server_config.json:
    {"LanguageServerManager": {"language_servers": {"gocuda": {"version": 2,
     "argv": ["gocuda-kernel", "lsp"], "languages": ["go"],
     "mime_types": ["text/x-go"], "display_name": "gocuda"}}}}
With "argv": [] there, it is off. Go files (*.go) are gopls's. Cells of ranks (%%mpi) are not looked at.`

func runLSP(c *call) error {
	if _, err := c.parse(); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	sources := modules.New(dir)
	ask := func(...string) string { return "" } // nothing is run
	return lsp.Serve(os.Stdin, c.stdout, lsp.Options{Magics: magic.NewSet(), Evaluator: func() (*golang.Evaluator, error) {
		return golang.New(golang.Options{Packages: packages.All(), Modules: sources, Stdout: io.Discard, Stderr: io.Discard,
			Builtins: map[string]any{"input": ask, "password": ask}})
	}})
}
