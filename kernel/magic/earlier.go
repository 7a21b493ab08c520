package magic

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gocuda/internal/cpp"
)

// cudaCells are the %%cuda cells of a session that compiled, for later ones and for
// kernels in Go that call their functions.
type cudaCells struct {
	mu   sync.Mutex
	list []cudaCell
	inGo *kernelCells // whose functions they can call

	without sync.Once // that there is no NVRTC was said
}

// cudaCell is one of them; of all without a declaration that others can use, nothing is kept.
type cudaCell struct {
	name  string
	line  int // of its magic
	text  string
	parts []cpp.Declaration
}

func newCells() *cudaCells {
	c := new(cudaCells)
	c.inGo = newKernelCells(c)
	return c
}

// forget drops what all cells declared, those of %%kernel too.
func (c *cudaCells) forget() {
	c.mu.Lock()
	c.list = nil
	c.mu.Unlock()
	c.inGo.mu.Lock()
	clear(c.inGo.declared)
	clear(c.inGo.methods)
	c.inGo.mu.Unlock()
}

func (c *cudaCells) add(name string, line int, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if parts := cpp.Declarations(text); slices.ContainsFunc(parts, func(d cpp.Declaration) bool { return len(d.Names) > 0 && d.Kind != cpp.Kernel }) {
		c.list = append(c.list, cudaCell{name, line, text, parts})
	}
}

// offers says whether later cells can use something of a text.
func offers(text string) bool {
	return slices.ContainsFunc(cpp.Declarations(text), func(d cpp.Declaration) bool {
		return len(d.Names) > 0 && d.Kind != cpp.Kernel && d.Kind != cpp.Variable
	})
}

// earlier is what CUDA C++ uses of the cells before.
type earlier struct {
	text  string
	have  map[string]bool // names that were looked for, or are declared by the C++ itself
	own   map[string]bool // of these, its own
	done  map[*cpp.Declaration]bool
	cells map[*cudaCell]bool // whose lines of the preprocessor are there

	variables map[string]string // names that are variables, and the cells of these
	meets     map[string]string // own names that functions of earlier cells use, and a word about these
}

// earlier finds what a text uses of the cells before: of each name the declarations of the
// last cell that has it, with what these use.
func (c *cudaCells) earlier(text string) *earlier {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := &earlier{have: make(map[string]bool), own: make(map[string]bool), done: make(map[*cpp.Declaration]bool), cells: make(map[*cudaCell]bool), variables: make(map[string]string), meets: make(map[string]string)}
	if len(c.list) == 0 {
		return e
	}
	parts := cpp.Declarations(text)
	for _, d := range parts {
		for _, n := range d.Names {
			e.have[n], e.own[n] = true, true
		}
	}
	for _, d := range parts {
		for _, w := range d.Uses {
			c.use(e, w)
		}
	}
	return e
}

// use adds what a name means in earlier cells, after what that uses.
func (c *cudaCells) use(e *earlier, name string) {
	if e.have[name] {
		return
	}
	e.have[name] = true
	for i := len(c.list) - 1; i >= 0; i-- {
		cell, found := &c.list[i], false
		for j := range cell.parts {
			d := &cell.parts[j]
			if d.Kind == cpp.Kernel || !slices.Contains(d.Names, name) {
				continue
			}
			found = true
			if d.Kind == cpp.Variable {
				e.variables[name] = cell.name
				continue
			}
			if e.done[d] {
				continue
			}
			e.done[d] = true
			for _, w := range d.Uses {
				if e.own[w] {
					e.meets[w] = fmt.Sprintf("%s of %s uses %s, which this cell declares again", name, cell.name, w)
				}
				c.use(e, w)
			}
			e.write(cell, d)
		}
		if found {
			return
		}
	}
}

// write adds a declaration, after what its cell includes.
func (e *earlier) write(cell *cudaCell, d *cpp.Declaration) {
	if !e.cells[cell] {
		e.cells[cell] = true
		var includes strings.Builder
		for _, d := range cell.parts {
			if d.Kind == cpp.Include && !strings.Contains(e.text, d.Text) {
				fmt.Fprintf(&includes, "#line %d %q\n%s\n", cell.line+d.Line, cell.name, d.Text)
			}
		}
		e.text = includes.String() + e.text
	}
	e.text += fmt.Sprintf("#line %d %q\n%s\n", cell.line+d.Line, cell.name, d.Text)
}

// before is what is used of earlier cells, and a cell's source.
func (e *earlier) before(source string) string {
	if e.text == "" {
		return source
	}
	return fmt.Sprintf("%s#line 1 %q\n%s", e.text, compiledAs, source)
}

// unknown matches a name that a compiler does not know.
var unknown = regexp.MustCompile(`(?:identifier "(\w+)" is undefined|['‘](\w+)['’] was not declared|undeclared identifier ['‘](\w+)['’])`)

// advice says what names that a compiler does not know are in earlier cells.
func (e *earlier) advice(log string) string {
	var out strings.Builder
	said := make(map[string]bool)
	for _, m := range unknown.FindAllStringSubmatch(log, -1) {
		name := m[1] + m[2] + m[3]
		if said[name] {
			continue
		}
		said[name] = true
		if cell := e.variables[name]; cell != "" {
			fmt.Fprintf(&out, "\n%s is a variable of %s. Each %%%%cuda cell is a module with memory of its own: put this cell and %s into one, or give its address as an argument.", name, cell, cell)
		}
		if word := e.meets[name]; word != "" {
			fmt.Fprintf(&out, "\n%s: define both in this cell.", word)
		}
	}
	return out.String()
}

// bodiless matches a function of Go that is declared without a body.
var bodiless = regexp.MustCompile(`(?m)^func[ \t]+([\pL_][\pL\pN_]*)\([^{}\n]*$`)

// needed are the cells with the functions that Go declares without a body, of each name the
// last, after what these use of others.
func (c *cudaCells) needed(source string) (list []string) {
	c.mu.Lock()
	for _, m := range bodiless.FindAllStringSubmatch(source, -1) {
		for _, cell := range slices.Backward(c.list) {
			if slices.ContainsFunc(cell.parts, func(d cpp.Declaration) bool { return d.Kind == cpp.Device && slices.Contains(d.Names, m[1]) }) {
				if !slices.Contains(list, cell.text) {
					list = append(list, cell.text)
				}
				break
			}
		}
	}
	c.mu.Unlock()
	if list == nil {
		return nil
	}
	if e := c.earlier(strings.Join(list, "\n")); e.text != "" {
		list = slices.Insert(list, 0, e.text)
	}
	return list
}
