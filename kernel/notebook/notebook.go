// Package notebook reads and writes Jupyter notebook files, and runs them
// without Jupyter and without Python.
//
// A file that is read and written again keeps every field that this package
// does not know, and has the bytes that Python's nbformat would write: sorted
// keys, one space of indentation, text split into lines, a newline at the end.
// So notebooks that went through here show no changes but real ones.
package notebook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"gocuda/kernel/outputs"
)

// What a cell holds.
const (
	Code     = "code"
	Markdown = "markdown"
	Raw      = "raw"
)

// Notebook is a notebook of format 4.
type Notebook struct {
	Cells    []*Cell
	Metadata map[string]any
	// Minor is the format's minor version: cells have ids from 4.5 on.
	Minor int

	extra map[string]any // fields of later formats, kept as they are
}

// Cell is one cell. Source is whole, however the file splits it.
type Cell struct {
	ID       string
	Kind     string
	Source   string
	Metadata map[string]any
	// Outputs and ExecutionCount (0: never run) are those of a code cell.
	Outputs        []Output
	ExecutionCount int

	extra map[string]any // attachments and fields of later formats
}

// Output is one output of a code cell: a stream, display_data, an execute_result or an
// error. Its texts are whole.
type Output = outputs.Output

// Tags are the names that a cell's metadata gives it.
func (c *Cell) Tags() []string {
	list, _ := c.Metadata["tags"].([]any)
	var tags []string
	for _, t := range list {
		if s, ok := t.(string); ok {
			tags = append(tags, s)
		}
	}
	return tags
}

// HasTag says whether the cell carries the tag.
func (c *Cell) HasTag(tag string) bool { return slices.Contains(c.Tags(), tag) }

// ReadFile reads a notebook file.
func ReadFile(path string) (*Notebook, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	nb, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return nb, nil
}

// Parse reads a notebook of format 4, any minor version.
func Parse(data []byte) (*Notebook, error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF")) // which some editors write
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // numbers are written back as they were
	var root map[string]any
	if err := d.Decode(&root); err != nil {
		return nil, fmt.Errorf("not a notebook: %w", jsonError(data, err))
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("not a notebook: text after the end of the JSON, at byte %d", d.InputOffset())
	}
	major, ok := integer(root["nbformat"])
	if !ok {
		return nil, errors.New("not a notebook: no nbformat version in it")
	}
	if major != 4 {
		return nil, fmt.Errorf("notebook format %d: only format 4 can be read (convert it with: jupyter nbconvert --to notebook)", major)
	}
	minor, _ := integer(root["nbformat_minor"])
	list, ok := root["cells"].([]any)
	if !ok {
		return nil, errors.New("not a notebook: it has no list of cells")
	}
	nb := &Notebook{Minor: minor, Metadata: object(root["metadata"]), extra: root}
	for _, transient := range []string{"orig_nbformat", "orig_nbformat_minor", "signature"} {
		delete(nb.Metadata, transient)
	}
	for _, known := range []string{"cells", "metadata", "nbformat", "nbformat_minor"} {
		delete(root, known)
	}
	for i, v := range list {
		c, err := parseCell(v)
		if err != nil {
			return nil, fmt.Errorf("cell %d of %d: %w", i+1, len(list), err)
		}
		nb.Cells = append(nb.Cells, c)
	}
	return nb, nil
}

func parseCell(v any) (*Cell, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("not an object")
	}
	c := &Cell{Metadata: object(m["metadata"]), extra: m}
	delete(c.Metadata, "trusted")
	c.Kind, _ = m["cell_type"].(string)
	if c.Kind == "" {
		return nil, errors.New("no cell_type")
	}
	if c.Source, ok = joined(m["source"]); !ok {
		return nil, errors.New("source is neither a string nor a list of strings")
	}
	c.ID, _ = m["id"].(string)
	for _, bundle := range object(m["attachments"]) {
		joinBundle(bundle)
	}
	known := []string{"metadata", "cell_type", "source", "id"}
	if c.Kind == Code {
		known = append(known, "outputs", "execution_count")
		c.ExecutionCount, _ = integer(m["execution_count"])
		outputs, _ := m["outputs"].([]any)
		for i, v := range outputs {
			o, ok := v.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("output %d is not an object", i+1)
			}
			joinBundle(o["data"])
			if text, ok := joined(o["text"]); ok {
				o["text"] = text
			}
			c.Outputs = append(c.Outputs, o)
		}
	}
	for _, k := range known {
		delete(m, k)
	}
	return c, nil
}

// Upgrade brings an older format 4 notebook to 4.5: cells without an id get
// one, made of their place and content, so that it is the same each time.
func (nb *Notebook) Upgrade() {
	taken := make(map[string]bool)
	for _, c := range nb.Cells {
		taken[c.ID] = true
	}
	for i, c := range nb.Cells {
		if c.ID == "" {
			c.ID = newID(taken, strconv.Itoa(i)+c.Kind+c.Source)
		}
	}
	nb.Minor = max(nb.Minor, 5)
}

// newID makes a cell id of a text, unlike those already taken.
func newID(taken map[string]bool, text string) string {
	for {
		sum := sha256.Sum256([]byte(text))
		id := hex.EncodeToString(sum[:4])
		if !taken[id] {
			taken[id] = true
			return id
		}
		text += "'"
	}
}

// Bytes is the notebook as nbformat writes it.
func (nb *Notebook) Bytes() ([]byte, error) {
	root := maps.Clone(nb.extra)
	if root == nil {
		root = make(map[string]any)
	}
	cells := make([]any, len(nb.Cells))
	for i, c := range nb.Cells {
		cells[i] = c.fields(nb.Minor)
	}
	root["cells"] = cells
	root["metadata"] = orEmpty(nb.Metadata)
	root["nbformat"] = 4
	root["nbformat_minor"] = nb.Minor
	var b bytes.Buffer
	if err := write(&b, root, "\n"); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

func (c *Cell) fields(minor int) map[string]any {
	m := maps.Clone(c.extra)
	if m == nil {
		m = make(map[string]any)
	}
	m["cell_type"] = c.Kind
	m["metadata"] = orEmpty(c.Metadata)
	m["source"] = lines(c.Source)
	if c.ID != "" && minor >= 5 {
		m["id"] = c.ID
	}
	if a := object(m["attachments"]); a != nil {
		split := make(map[string]any, len(a))
		for name, bundle := range a {
			split[name] = splitBundle(bundle)
		}
		m["attachments"] = split
	}
	if c.Kind != Code {
		return m
	}
	m["execution_count"] = nil
	if c.ExecutionCount > 0 {
		m["execution_count"] = c.ExecutionCount
	}
	outputs := make([]any, len(c.Outputs))
	for i, o := range c.Outputs {
		o := maps.Clone(o)
		if data, ok := o["data"]; ok {
			o["data"] = splitBundle(data)
		}
		if text, ok := o["text"].(string); ok {
			o["text"] = lines(text)
		}
		outputs[i] = map[string]any(o)
	}
	m["outputs"] = outputs
	return m
}

// WriteFile writes the notebook to a file. The file is replaced as a whole:
// no reader sees half of it, and a failure leaves the old one.
func (nb *Notebook) WriteFile(path string) error {
	data, err := nb.Bytes()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, data, 0o644) // a device or a pipe
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails, and may, once the file was renamed
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Chmod(mode), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func jsonError(data []byte, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
		return fmt.Errorf("line %d: %w", line, err)
	}
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty")
	}
	return err
}

func integer(v any) (int, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(n.String())
	return i, err == nil
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
