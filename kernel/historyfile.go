package kernel

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// maxHistory is the size at which a history file is set aside; the one before
// it is still read.
const maxHistory = 2 << 20

// DefaultHistoryFile is where the history of all sessions is kept:
// $GOCUDA_HISTORY if that is set ("off": nowhere), else history.jsonl in
// gocuda's folder under the user's state directory ($XDG_STATE_HOME, or what
// the system uses for it).
func DefaultHistoryFile() string {
	if path := os.Getenv("GOCUDA_HISTORY"); path != "" {
		return path
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "gocuda", "history.jsonl")
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		if dir, err := os.UserConfigDir(); err == nil {
			return filepath.Join(dir, "gocuda", "history.jsonl")
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "off"
	}
	return filepath.Join(home, ".local", "state", "gocuda", "history.jsonl")
}

// historyFile is a store that several kernels append to at once: a JSON object
// a line, each written by one call in append mode. Lines that cannot be read
// are passed over.
type historyFile struct {
	path   string
	opened bool
}

func (h *historyFile) append(r record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if !h.opened {
		if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
			return err
		}
		if info, err := os.Stat(h.path); err == nil && info.Size() > maxHistory {
			os.Rename(h.path, h.path+".1")
		}
	}
	f, err := os.OpenFile(h.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if !h.opened && torn(f) {
		line = append([]byte("\n"), line...)
	}
	h.opened = true
	_, err = f.Write(line)
	return err
}

// torn says that the last line has no end: whoever wrote it died.
func torn(f *os.File) bool {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil || end == 0 {
		return false
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], end-1)
	return err == nil && last[0] != '\n'
}

func (h *historyFile) load() ([]record, error) {
	var records []record
	for _, path := range []string{h.path + ".1", h.path} {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return records, err
		}
		records, err = parseHistory(records, f)
		f.Close()
		if err != nil {
			return records, err
		}
	}
	return records, nil
}

// parseHistory adds the records of a file to a list.
func parseHistory(records []record, f io.Reader) ([]record, error) {
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		var r record
		if line = bytes.TrimSpace(line); len(line) > 0 && json.Unmarshal(line, &r) == nil &&
			r.Session > 0 && r.Line >= 0 && r.ID != "" {
			records = append(records, r)
		}
		if err == io.EOF {
			return records, nil
		}
		if err != nil {
			return records, err
		}
	}
}
