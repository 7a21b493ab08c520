//go:build linux && (amd64 || arm64)

package libmpi

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gocuda/cudaapi/internal/clib"
	"gocuda/cudaapi/mpi/internal/transport"
)

// header is what an mpi.h says: numbers, and the symbols of Open MPI's handles.
type header struct {
	numbers values
	symbols map[string]string
}

var (
	comments   = regexp.MustCompile(`(?s)/\*.*?\*/`)
	definition = regexp.MustCompile(`(?m)^#define[ \t]+(MPI_\w+)[ \t]+(.+)$`)
	enum       = regexp.MustCompile(`(?s)enum[ \t\n]*\w*[ \t\n]*\{(.*?)\}`)
	cast       = regexp.MustCompile(`\(\s*(MPI_\w+|void \*|void\*)\s*\)`)
	global     = regexp.MustCompile(`OMPI_PREDEFINED_GLOBAL\(\s*\w+\s*,\s*(\w+)\s*\)`)
)

func readHeader(t *testing.T, path string) header {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Skip(err)
	}
	code := comments.ReplaceAllString(string(text), "")
	h := header{values{}, map[string]string{}}
	number := func(s string) (int64, bool) {
		s = strings.Trim(strings.TrimSpace(cast.ReplaceAllString(s, "")), "() \t")
		n, err := strconv.ParseInt(s, 0, 64)
		return n, err == nil
	}
	for _, m := range definition.FindAllStringSubmatch(code, -1) {
		if g := global.FindStringSubmatch(m[2]); g != nil {
			h.symbols[m[1]] = g[1]
		} else if n, ok := number(m[2]); ok {
			h.numbers[m[1]] = n
		}
	}
	for _, m := range enum.FindAllStringSubmatch(code, -1) {
		next := int64(0)
		for item := range strings.SplitSeq(m[1], ",") {
			name, value, given := strings.Cut(item, "=")
			if n, ok := number(value); given && ok {
				next = n
			}
			h.numbers[strings.TrimSpace(name)] = next
			next++
		}
	}
	return h
}

// TestTables holds the constants against the libraries' own headers.
func TestTables(t *testing.T) {
	for _, lib := range libraries(t) {
		t.Run(lib.name, func(t *testing.T) {
			numbers, symbols, classes, file := mpichValues, map[string]string(nil), mpichClasses, "mpi.h"
			switch {
			case strings.HasPrefix(lib.name, "openmpi"):
				numbers, symbols, classes = openMPIValues, openMPISymbols, openMPIClasses
			case strings.HasSuffix(lib.name, "-abi"):
				numbers, classes, file = standardValues, standardClasses, "mpi_abi.h"
			}
			h := readHeader(t, filepath.Join(lib.prefix, "include", file))
			for name, want := range numbers {
				got, there := h.numbers[name]
				// Addresses are 64 bits, handles 32.
				if !there || got != want && uint32(got) != uint32(want) {
					t.Errorf("%s is %#x in %s (there: %v), %#x in the table", name, got, file, there, want)
				}
			}
			for name, want := range symbols {
				if got := h.symbols[name]; got != want {
					t.Errorf("%s is %q in %s, %q in the table", name, got, file, want)
				}
			}
			known := 0
			for code, class := range classes {
				if class == "" {
					continue
				}
				got, there := h.numbers["MPI_ERR_"+class]
				if there {
					known++
				}
				if there && got != int64(code) {
					t.Errorf("MPI_ERR_%s is %d in %s, %d in the table", class, got, file, code)
				}
			}
			if known < 50 {
				t.Errorf("%s has only %d of the error classes", file, known)
			}
		})
	}
}

// TestTypesHaveTheirSizes asks the libraries for what the tables call types.
func TestTypesHaveTheirSizes(t *testing.T) {
	onEach(t, func(t *testing.T, lib installed) { lib.mpirun(t, 1, "sizes") })
}

func init() {
	programs["sizes"] = func(tr transport.Transport) error {
		t := tr.(*Transport)
		typeSize := t.lib.Lookup("MPI_Type_size")
		for kind := transport.Byte; kind <= transport.Int64Int; kind++ {
			want := kind.Size()
			n := new(int32)
			code := int32(clib.Call(typeSize, t.abi.types[kind], clib.Pin(n)))
			// Pairs have no padding in MPI's sizes.
			if packed := map[transport.Type]int{transport.Float64Int: 12, transport.Int64Int: 12}[transport.Type(kind)]; packed != 0 {
				want = packed
			}
			if code != 0 || int(*n) != want {
				return fmt.Errorf("%s has %d bytes, want %d (code %d)", typeNames[kind], *n, want, code)
			}
		}
		return nil
	}
}
