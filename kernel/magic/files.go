package magic

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

func fileMagics(s *Set) []Magic {
	return []Magic{
		{Name: "cd", Usage: "%cd [DIRECTORY | -]", Expand: true, Run: s.cd,
			Doc: "Changes the directory. Without an argument it goes to the home directory, with - to the previous one."},
		{Name: "ls", Usage: "%ls [-a] [-l] [PATH | PATTERN]...", Run: ls,
			Doc: "Lists files; -a also hidden ones, -l with size and time."},
		{Name: "load", Usage: "%load FILE", Expand: true, Run: load,
			Doc: "Puts the text of a file into the next cell."},
		{Name: "writefile", Usage: "%%writefile [-a] FILE", Cell: true, Expand: true, Run: writeFile,
			Doc: "Writes the cell to a file; -a appends."},
	}
}

func (s *Set) cd(_ context.Context, env Env, call Call) error {
	fields, err := call.Fields()
	if err != nil {
		return err
	}
	if len(fields) > 1 {
		return call.UsageErrorf("give one directory at most; quote a name with spaces")
	}
	dir := "~"
	if len(fields) == 1 {
		dir = fields[0]
	}
	if dir == "-" {
		if s.before == "" {
			return call.Errorf("FileError", "there is no directory to go back to")
		}
		dir = s.before
	}
	if dir, err = expandHome(dir); err != nil {
		return call.Errorf("FileError", "%v", err)
	}
	before, _ := os.Getwd()
	if err := os.Chdir(dir); err != nil {
		return call.Errorf("FileError", "%v", err)
	}
	s.before = before
	now, err := os.Getwd()
	if err != nil {
		return call.Errorf("FileError", "%v", err)
	}
	fmt.Fprintln(env.Stdout(), now)
	return nil
}

// expandHome replaces a leading ~ by the home directory.
func expandHome(path string) (string, error) {
	if path != "~" && !strings.HasPrefix(path, "~/") && !strings.HasPrefix(path, `~\`) {
		return path, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, path[1:]), nil
}

func ls(_ context.Context, env Env, call Call) error {
	fields, err := call.Fields()
	if err != nil {
		return err
	}
	if len(fields) > 0 && (fields[0] == "-la" || fields[0] == "-al") {
		fields = append([]string{"-l", "-a"}, fields[1:]...)
	}
	given, paths, err := call.Options(fields, []string{"-a", "-l"}, nil)
	if err != nil {
		return err
	}
	_, hidden := given["-a"]
	_, long := given["-l"]
	if len(paths) == 0 {
		paths = []string{"."}
	}
	var files, dirs []string
	for _, p := range paths {
		if p, err = expandHome(p); err != nil {
			return call.Errorf("FileError", "%v", err)
		}
		matches := []string{p}
		if _, err := os.Lstat(p); err != nil {
			globbed, globErr := filepath.Glob(p)
			if globErr != nil || len(globbed) == 0 {
				return call.Errorf("FileError", "%v", err)
			}
			matches = globbed
		}
		for _, m := range matches {
			if info, err := os.Stat(m); err == nil && info.IsDir() {
				dirs = append(dirs, m)
			} else {
				files = append(files, m)
			}
		}
	}
	out := bufio.NewWriter(env.Stdout())
	defer out.Flush()
	for _, f := range files {
		if info, err := os.Lstat(f); err == nil {
			entry(out, f, info, long)
		}
	}
	for i, d := range dirs {
		if len(dirs)+len(files) > 1 {
			if i > 0 || len(files) > 0 {
				fmt.Fprintln(out)
			}
			fmt.Fprintf(out, "%s:\n", d)
		}
		entries, err := os.ReadDir(d)
		if err != nil {
			return call.Errorf("FileError", "%v", err)
		}
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
		for _, e := range entries {
			if info, err := e.Info(); err == nil && (hidden || !strings.HasPrefix(e.Name(), ".")) {
				entry(out, e.Name(), info, long)
			}
		}
	}
	return nil
}

func entry(out io.Writer, name string, info fs.FileInfo, long bool) {
	switch {
	case info.IsDir():
		name += "/"
	case info.Mode()&fs.ModeSymlink != 0:
		name += "@"
	}
	if long {
		fmt.Fprintf(out, "%s %12d  %s  %s\n", info.Mode(), info.Size(), info.ModTime().Format("2006-01-02 15:04"), name)
		return
	}
	fmt.Fprintln(out, name)
}

// The most that %load puts into a cell, and that %run runs as one.
const (
	maxLoad = 1 << 20
	maxRun  = 64 << 20
)

func load(_ context.Context, env Env, call Call) error {
	fields, err := call.Fields()
	if err != nil {
		return err
	}
	name, err := oneFile(call, fields)
	if err != nil {
		return err
	}
	text, err := readText(call, name, maxLoad)
	if err != nil {
		return err
	}
	env.SetNextInput(string(text))
	return nil
}

// readText reads a file of text that a cell can hold. A device or a pipe may have no end.
func readText(call Call, name string, most int64) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, call.Errorf("FileError", "%v", err)
	case info.IsDir():
		return nil, call.Errorf("FileError", "%s is a folder", name)
	case !info.Mode().IsRegular():
		return nil, call.Errorf("FileError", "%s is no file but a device or a pipe, which may have no end", name)
	case info.Size() > most:
		return nil, call.Errorf("FileError", "%s has %d bytes; a cell takes %d", name, info.Size(), most)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, call.Errorf("FileError", "%v", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1)) // those of /proc have no size
	switch {
	case err != nil:
		return nil, call.Errorf("FileError", "%v", err)
	case int64(len(text)) > most:
		return nil, call.Errorf("FileError", "%s has more than %d bytes, which a cell takes", name, most)
	}
	if !utf8.Valid(text) {
		return nil, call.Errorf("FileError", "%s is not UTF-8 text", name)
	}
	return bytes.TrimPrefix(text, []byte("\uFEFF")), nil // a byte order mark is none of the text
}

// oneFile is the file that is left of the arguments.
func oneFile(call Call, fields []string) (string, error) {
	if len(fields) != 1 {
		return "", call.UsageErrorf("want one file, got %d words; quote a name with spaces", len(fields))
	}
	name, err := expandHome(fields[0])
	if err != nil {
		return "", call.Errorf("FileError", "%v", err)
	}
	return name, nil
}

func writeFile(_ context.Context, env Env, call Call) error {
	fields, err := call.Fields()
	if err != nil {
		return err
	}
	given, rest, err := call.Options(fields, []string{"-a"}, nil)
	if err != nil {
		return err
	}
	name, err := oneFile(call, rest)
	if err != nil {
		return err
	}
	body := call.Body
	if body != "" && !strings.HasSuffix(body, "\n") {
		body += "\n"
	}
	flags, word := os.O_WRONLY|os.O_CREATE|os.O_TRUNC, "Wrote"
	if info, err := os.Stat(name); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		return call.Errorf("FileError", "%s is a pipe: writing to it waits until something reads it", name)
	} else if err == nil {
		word = "Overwrote"
	} else if !errors.Is(err, fs.ErrNotExist) {
		return call.Errorf("FileError", "%v", err)
	}
	if _, ok := given["-a"]; ok {
		flags, word = os.O_WRONLY|os.O_CREATE|os.O_APPEND, "Appended to"
	}
	f, err := os.OpenFile(name, flags, 0o666)
	if err == nil {
		_, err = f.WriteString(body)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return call.Errorf("FileError", "%v", err)
	}
	fmt.Fprintf(env.Stdout(), "%s %s (%d bytes)\n", word, name, len(body))
	return nil
}
