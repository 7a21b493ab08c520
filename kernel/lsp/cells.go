package lsp

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"gocuda/kernel/golang"
	"gocuda/kernel/magic"
)

// cell is a part of a document.
type cell struct {
	code string
	line int // of the document, from 0
}

// position is a place in a document: a line, and a character of it in units of UTF-16.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// cells cuts a document where two empty lines stand.
func cells(text string) (list []cell) {
	const between = "\n\n\n"
	line := 0
	for {
		code, rest, more := strings.Cut(text, between)
		list = append(list, cell{code, line})
		if !more {
			return list
		}
		line += strings.Count(code, "\n") + len(between)
		text = rest
	}
}

// cellAt is the cell with a position, and where that is in its code.
func cellAt(list []cell, p position) (c cell, at int, ok bool) {
	for i := len(list) - 1; i >= 0; i-- {
		if c = list[i]; c.line > p.Line {
			continue
		}
		lines := strings.SplitAfter(c.code, "\n")
		n := p.Line - c.line
		if n >= len(lines) {
			return c, 0, false
		}
		for _, l := range lines[:n] {
			at += len(l)
		}
		return c, at + bytesOf(strings.TrimSuffix(lines[n], "\n"), p.Character), true
	}
	return c, 0, false
}

// bytesOf is where a character of a line begins, in bytes.
func bytesOf(line string, character int) int {
	units := 0
	for i, r := range line {
		if units >= character {
			return i
		}
		units += max(1, utf16.RuneLen(r))
	}
	return len(line)
}

// position is where an offset of the cell's code is in the document.
func (c cell) position(at int) position {
	before := c.code[:min(max(at, 0), len(c.code))]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	units := 0
	for _, r := range line {
		units += max(1, utf16.RuneLen(r))
	}
	return position{c.line + strings.Count(before, "\n"), units}
}

var (
	mistakeAt = regexp.MustCompile(`^cell(\d+):(\d+):(\d+): (.*)$`)
	undefined = regexp.MustCompile(`^undefined: ([\pL_][\pL\pN_]*)`)
	word      = regexp.MustCompile(`^[\pL_][\pL\pN_]*`)
	// What declares names, in a cell that cannot be checked.
	declares = regexp.MustCompile(`(?m)\b(?:func|var|type|const)\s+([\pL_][\pL\pN_]*)|([\pL_][\pL\pN_, ]*?)\s*:=`)
	// What are kernels.
	goKernel   = regexp.MustCompile(`(?m)^func\s+([\pL_][\pL\pN_]*)\s*\([^\n]*\)\s*\{`)
	cudaKernel = regexp.MustCompile(`__global__[^(]*?([A-Za-z_]\w*)\s*\(`)
	ptxKernel  = regexp.MustCompile(`\.entry\s+([A-Za-z_]\w*)`)
	ofRanks    = regexp.MustCompile(`\A\s*(?:%%[^\n]*\n)*%%mpi\b`)
	instance   = regexp.MustCompile(`--instantiate[= ]\s*['"]?([^'"\s]+)`)
	named      = regexp.MustCompile(`--name[= ]\s*([\pL_][\pL\pN_]*)`)
)

// diagnose checks cells in order, and says what is wrong with them, what is named in them,
// and which have a compiler of their own.
func diagnose(ev *golang.Evaluator, list []cell) ([]object, *names, map[int]*magic.Compiled) {
	known := &names{list: list, noted: make(map[mention]bool), embedded: make(map[spot]spot), symbols: []object{}}
	found := []object{}
	unsure := make(map[string]bool) // names that cells may declare which cannot be checked
	sources := magic.NewSources()
	compiled := make(map[int]*magic.Compiled)
	for i, c := range list {
		if ofRanks.MatchString(c.code) { // which have names of their own
			known.unsure = append(known.unsure, i)
			continue
		}
		switch last := lastPiece(c.code); last.Magic {
		case "%%kernel", "%%cuda", "%%ptx": // which make variables
			known.unsure = append(known.unsure, i)
			declare(ev, i, last)
			if last.Magic == "%%kernel" {
				name := fmt.Sprintf("cell%d", i)
				ev.Check(name, sources.Share(last, name))
				continue
			}
			code, err := sources.Compiled(last, fmt.Sprintf("In[%d]", i), func(name string) (list []magic.Declaration) {
				for _, d := range ev.Declarations(name) {
					list = append(list, magic.Declaration(d))
				}
				return list
			})
			if err != nil {
				what, _, _ := strings.Cut(err.Error(), "\n")
				found = append(found, c.diagnostic(strconv.Itoa(last.Line), "", what))
			} else if code != nil {
				compiled[i] = code
			}
			continue
		}
		typed, err := ev.Check(fmt.Sprintf("cell%d", i), magic.AllGo(c.code))
		if err == nil {
			known.add(ev, i, typed)
			known.addSymbols(ev, typed)
			continue
		}
		known.unsure = append(known.unsure, i)
		for line := range strings.Lines(err.Plain()) {
			m := mistakeAt.FindStringSubmatch(strings.TrimSpace(line))
			if m == nil {
				continue
			}
			at, _ := strconv.Atoi(m[1])
			if u := undefined.FindStringSubmatch(m[4]); at >= len(list) || u != nil && unsure[u[1]] {
				continue
			}
			found = append(found, list[at].diagnostic(m[2], m[3], m[4]))
		}
		for _, m := range declares.FindAllStringSubmatch(c.code, -1) {
			for name := range strings.SplitSeq(m[1]+m[2], ",") {
				unsure[strings.TrimSpace(name)] = true
			}
		}
	}
	return found, known, compiled
}

// lastPiece is the last of a cell, below magics that have a cell below them.
func lastPiece(code string) magic.Piece {
	pieces := magic.Pieces(code)
	last := pieces[len(pieces)-1]
	if last.Magic != "%%kernel" && slices.Contains(magic.GoMagics, last.Magic) && strings.TrimSpace(last.Text) != "" {
		if in := lastPiece(last.Text); strings.HasPrefix(in.Magic, "%%") {
			in.Line += last.Line + last.Head - 1
			return in
		}
	}
	return last
}

// declare makes the variables known that a cell of kernels makes.
func declare(ev *golang.Evaluator, i int, p magic.Piece) {
	var code strings.Builder
	pattern := goKernel
	switch p.Magic {
	case "%%cuda":
		pattern = cudaKernel
	case "%%ptx":
		pattern = ptxKernel
	}
	for _, m := range pattern.FindAllStringSubmatch(p.Text, -1) {
		fmt.Fprintf(&code, "var %s *cuda.Kernel\n", m[1])
	}
	for _, m := range instance.FindAllStringSubmatch(p.Args, -1) {
		parts := strings.FieldsFunc(m[1], func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		fmt.Fprintf(&code, "var %s *cuda.Kernel\n", strings.Join(parts, "_"))
	}
	if m := named.FindStringSubmatch(p.Args); m != nil {
		fmt.Fprintf(&code, "var %s *cuda.Module\n", m[1])
	}
	ev.Check(fmt.Sprintf("cell%d", i), code.String())
}

// diagnostic is a mistake at a line and column of the cell, from 1, in bytes; without a
// column, it is the line.
func (c cell) diagnostic(line, column, message string) object {
	n, _ := strconv.Atoi(line)
	k, _ := strconv.Atoi(column)
	lines := strings.SplitAfter(c.code, "\n")
	n = min(max(n, 1), len(lines))
	start := 0
	for _, l := range lines[:n-1] {
		start += len(l)
	}
	text := strings.TrimSuffix(lines[n-1], "\n")
	k = min(max(k-1, 0), len(text))
	for k > 0 && k < len(text) && !utf8.RuneStart(text[k]) {
		k--
	}
	size := max(1, len(word.FindString(text[k:])))
	if column == "" {
		k = len(text) - len(strings.TrimLeft(text, " \t"))
		size = len(text) - k
	}
	return object{
		"range":    object{"start": c.position(start + k), "end": c.position(start + min(k+size, len(text)))},
		"severity": 1, "source": "gocuda", "message": message,
	}
}
