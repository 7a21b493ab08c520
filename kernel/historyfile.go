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

	"gocuda/internal/ownfolder"
)

const (
	// maxHistory is the size at which a history file is set aside; the one
	// before it is still read.
	maxHistory = 2 << 20
	// maxInput and maxOutput bound what is kept of one cell.
	maxInput  = 256 << 10
	maxOutput = 16 << 10
)

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
	}
	f, err := h.open()
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

// open opens the file, and sets one aside that has become long.
func (h *historyFile) open() (*os.File, error) {
	const flags = os.O_RDWR | os.O_APPEND | os.O_CREATE
	f, err := os.OpenFile(h.path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	long, err := f.Stat()
	if err != nil || long.Size() <= maxHistory {
		return f, nil
	}
	// Another kernel may have set it aside just now.
	if now, err := os.Stat(h.path); err == nil && os.SameFile(long, now) {
		os.Rename(h.path, h.path+".1")
		shorten(h.path + ".1")
	}
	f.Close()
	return os.OpenFile(h.path, flags, 0o600)
}

// shorten leaves of a file that is far too long, as earlier kernels wrote
// them, its last records.
func shorten(path string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() <= maxHistory+2*(maxInput+maxOutput) {
		return
	}
	rest := make([]byte, maxHistory)
	if n, err := f.ReadAt(rest, info.Size()-maxHistory); n < len(rest) && err != nil {
		return
	}
	_, rest, _ = bytes.Cut(rest, []byte("\n")) // the first may be half of one
	ownfolder.Write(path, rest)                // or it stays as it is
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
		shorten(path)
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
