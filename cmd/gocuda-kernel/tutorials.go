package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gocuda/notebooks"
)

func runTutorials(c *call) error {
	force := c.flags.Bool("force", false, "also overwrite notebooks that you changed")
	args, err := c.parse("folder")
	if err != nil {
		return err
	}
	return writeTutorials(c, args[0], *force)
}

func writeTutorials(c *call, dir string, force bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	names, err := fs.Glob(notebooks.FS, "*")
	if err != nil {
		return err
	}
	tutorials, err := fs.Glob(notebooks.FS, "*.ipynb")
	if err != nil {
		return err
	}
	var kept []string
	for _, name := range names {
		data, err := fs.ReadFile(notebooks.FS, name)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, name)
		old, err := os.ReadFile(path)
		switch {
		case err == nil && bytes.Equal(old, data):
			continue
		case err == nil && !force:
			kept = append(kept, name)
			continue
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(c.stdout, "wrote %s\n", path)
	}
	if len(kept) > 0 {
		return fmt.Errorf("kept %s in %s, which you changed (--force overwrites)", strings.Join(kept, ", "), dir)
	}
	fmt.Fprintf(c.stdout, "%d notebooks are in %s; open them with: jupyter lab %s\n", len(tutorials), dir, dir)
	return nil
}
