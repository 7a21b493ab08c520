// Package trait has what cells must know of the functions of a compiled package beside their
// types: see Traits of host.Package.
package trait

import "strings"

// Set is the traits of a function.
type Set uint

// The traits.
const (
	Quiet     Set = 1 << iota // nobody wants to see what it returns
	Prompt                    // it does not wait for anything
	Ends                      // it ends the process
	Waits                     // code of cells may have done something that its caller counts on
	Pure                      // its result depends on its arguments alone, it does nothing else and does not panic
	Tells                     // it says itself what memory it touches
	Follows                   // it touches numbers to which it is given pointers
	Changes                   // it changes what it is given a slice of, or a pointer to
	Wakes                     // what may wake a goroutine later, of which the runtime knows nothing
	Clicks                    // Wakes, by a user
	Callbacks                 // a driver calls what it is given
	Resets                    // it changes when a timer ends
)

// Has says whether there is one of some traits.
func (s Set) Has(of Set) bool { return s&of != 0 }

// Table is the traits of a package's functions and methods by their names, such as "Print"; those
// of "Print*" are of all names that begin so.
type Table map[string]Set

// Of is the traits of a name.
func (t Table) Of(name string) Set {
	s := t[name]
	for pattern, more := range t {
		if beginning, ok := strings.CutSuffix(pattern, "*"); ok && strings.HasPrefix(name, beginning) {
			s |= more
		}
	}
	return s
}

// Standard is the traits of the standard library and of packages that come with it, by their
// paths.
var Standard = map[string]Table{
	"bufio":                    {"Read*": Changes},
	"bytes":                    {"Read*": Changes},
	"crypto/rand":              {"Read*": Changes},
	"encoding/binary":          {"Put*": Changes, "Read": Changes},
	"fmt":                      {"*": Prompt, "Print*": Quiet, "Fprint*": Quiet, "Fscan*": Follows | Changes, "Sscan*": Follows | Changes},
	"io":                       {"Read*": Changes},
	"math/rand":                {"Read*": Changes},
	"math/rand/v2":             {"Read*": Changes},
	"net":                      {"Read*": Changes},
	"os":                       {"Exit": Ends, "Read*": Changes},
	"os/signal":                {"*": Wakes},
	"runtime":                  {"SetFinalizer": Wakes, "AddCleanup": Wakes},
	"slices":                   {"Sort": Changes, "SortFunc": Changes, "SortStableFunc": Changes, "Reverse": Changes, "Delete*": Changes, "Compact*": Changes, "Insert": Changes, "Replace": Changes},
	"sort":                     {"Ints": Changes, "Float64s": Changes, "Slice": Changes, "SliceStable": Changes, "Sort": Changes, "Stable": Changes},
	"strings":                  {"Read*": Changes},
	"sync/atomic":              {"*": Follows, "Add*": Changes, "And*": Changes, "Or*": Changes, "Swap*": Changes, "Store*": Changes, "CompareAndSwap*": Changes},
	"time":                     {"Reset": Resets},
	"golang.org/x/net/context": {"*": Wakes}, // whose deadlines are the library's own
}
