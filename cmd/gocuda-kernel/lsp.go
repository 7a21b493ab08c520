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
jupyterlab-lsp: mistakes in cells are underlined while you type, before they run,
and names are completed and explained without a kernel. Install it where
JupyterLab is:
    pip install jupyterlab-lsp
"gocuda-kernel install", or the wheel, registers this server by a file in Jupyter's
jupyter_server_config.d. To do so by hand, write in jupyter_server_config.json:
    {"LanguageServerManager": {"language_servers": {"gocuda": {"version": 2,
     "argv": ["gocuda-kernel", "lsp"], "languages": ["go"],
     "mime_types": ["text/x-go"], "display_name": "gocuda"}}}}
With "argv": [], it is off. It does not check cells of ranks (%%mpi), and leaves
Go files (*.go) to gopls.`

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
