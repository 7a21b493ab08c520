// Package lsp is a language server for notebooks: diagnostics while you type, completion,
// hovers, signatures, definitions, uses, renames, symbols and formatting, by the Language
// Server Protocol, as jupyterlab-lsp speaks it. A document is all cells of a notebook, one below the other,
// with two empty lines between them.
// Nothing is run: cells are checked one after another, as if each had run when the next
// one is checked.
package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/textproto"
	"strconv"
	"strings"
	"sync"

	"gocuda/kernel/display"
	"gocuda/kernel/golang"
	"gocuda/kernel/golang/answer"
	"gocuda/kernel/golang/assist"
	"gocuda/kernel/magic"
)

// Options say what a server is for.
type Options struct {
	// Evaluator returns an evaluator in which no cell has been checked.
	Evaluator func() (*golang.Evaluator, error)
	Magics    *magic.Set
}

// maxMessage is how many bytes a message may have.
const maxMessage = 64 << 20

// server is a connection with a client.
type server struct {
	options Options

	writing sync.Mutex
	out     io.Writer

	ctx      context.Context // of what is compiled
	compiler sync.Mutex      // one cell is compiled at a time

	mu        sync.Mutex
	documents map[string]*document
}

// document is one that a client has open.
type document struct {
	text    string
	version any
	changed bool // since its last check began
	checks  bool // one is running
	closed  bool
	program bool              // a Go file, which other files belong to, and no notebook
	ev      *golang.Evaluator // that checked it last; nil: none has
	checked string            // the text that names are of
	names   *names            // nil: none are known

	said map[string]said // of the compiled cells of that text, by their keys
	stop func()          // ends what is compiled of it
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type object = map[string]any

// The errors of JSON-RPC.
const (
	parseError     = -32700
	invalidRequest = -32600
	unknownMethod  = -32601
	invalidParams  = -32602
)

// Serve answers a client until it says exit or in ends; it returns nil then.
func Serve(in io.Reader, out io.Writer, o Options) error {
	ctx, stop := context.WithCancel(context.Background())
	s := &server{options: o, out: out, documents: make(map[string]*document), ctx: ctx}
	defer s.compiler.Lock() // when what runs has ended
	defer stop()
	r := bufio.NewReader(in)
	for {
		text, err := read(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var q request
		if err := json.Unmarshal(text, &q); err != nil {
			s.write(object{"id": nil, "error": object{"code": parseError, "message": err.Error()}})
			continue
		}
		if q.Method == "exit" {
			return nil
		}
		result, code, err := s.handle(q)
		switch {
		case q.ID == nil:
		case err != nil:
			s.write(object{"id": q.ID, "error": object{"code": code, "message": err.Error()}})
		default:
			s.write(object{"id": q.ID, "result": result})
		}
	}
}

// read reads a message: a head with its length, and its text.
func read(r *bufio.Reader) ([]byte, error) {
	head, err := textproto.NewReader(r).ReadMIMEHeader()
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(head.Get("Content-Length"))
	if err != nil || n < 0 || n > maxMessage {
		return nil, fmt.Errorf("lsp: Content-Length %q: it must be a number up to %d", head.Get("Content-Length"), maxMessage)
	}
	text := make([]byte, n)
	_, err = io.ReadFull(r, text)
	return text, err
}

func (s *server) write(message object) {
	message["jsonrpc"] = "2.0"
	text, err := json.Marshal(message)
	if err != nil {
		return
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	fmt.Fprintf(s.out, "Content-Length: %d\r\n\r\n%s", len(text), text)
}

func (s *server) handle(q request) (result any, code int, err error) {
	var p struct {
		TextDocument struct {
			URI     string
			Text    string
			Version any
		}
		ContentChanges []struct {
			Text  string
			Range *struct{}
		}
		Position position
		NewName  string
		Context  struct{ IncludeDeclaration bool }
	}
	if len(q.Params) > 0 {
		if err := json.Unmarshal(q.Params, &p); err != nil {
			return nil, invalidParams, err
		}
	}
	s.mu.Lock()
	d := s.documents[p.TextDocument.URI]
	s.mu.Unlock()
	switch q.Method {
	case "initialize":
		return object{
			"capabilities": object{
				"textDocumentSync": 1, "hoverProvider": true,
				"definitionProvider": true, "referencesProvider": true, "documentHighlightProvider": true, "renameProvider": true, "documentSymbolProvider": true,
				"completionProvider":         object{"triggerCharacters": []string{".", "%"}},
				"signatureHelpProvider":      object{"triggerCharacters": []string{"(", ","}},
				"documentFormattingProvider": true,
			},
			"serverInfo": object{"name": "gocuda"},
		}, 0, nil
	case "shutdown":
		return nil, 0, nil
	case "textDocument/didOpen":
		s.set(p.TextDocument.URI, p.TextDocument.Text, p.TextDocument.Version)
		return nil, 0, nil
	case "textDocument/didChange":
		for _, c := range p.ContentChanges {
			if c.Range == nil { // others were not asked for
				s.set(p.TextDocument.URI, c.Text, p.TextDocument.Version)
			}
		}
		return nil, 0, nil
	case "textDocument/didClose":
		s.mu.Lock()
		defer s.mu.Unlock()
		if d != nil {
			d.closed = true
			d.stop()
			delete(s.documents, p.TextDocument.URI)
		}
		return nil, 0, nil
	case "textDocument/definition", "textDocument/references", "textDocument/documentHighlight", "textDocument/rename", "textDocument/documentSymbol":
		if d == nil {
			return nil, invalidParams, fmt.Errorf("the document %q is not open", p.TextDocument.URI)
		}
		known, err := s.names(d)
		if err != nil {
			return nil, invalidRequest, err
		}
		if q.Method == "textDocument/documentSymbol" {
			return known.symbols, 0, nil
		}
		return known.answer(q.Method, p.TextDocument.URI, p.Position, p.NewName, p.Context.IncludeDeclaration)
	case "textDocument/formatting":
		if d == nil {
			return nil, invalidParams, fmt.Errorf("the document %q is not open", p.TextDocument.URI)
		}
		s.mu.Lock()
		text := d.text
		s.mu.Unlock()
		if d.program {
			return formatting([]cell{{code: text}}), 0, nil
		}
		return formatting(cells(text)), 0, nil
	case "textDocument/completion", "textDocument/hover", "textDocument/signatureHelp":
		if d == nil {
			return nil, invalidParams, fmt.Errorf("the document %q is not open", p.TextDocument.URI)
		}
		s.mu.Lock()
		text, ev := d.text, d.ev
		s.mu.Unlock()
		if ev == nil {
			if ev, err = s.options.Evaluator(); err != nil {
				return nil, invalidRequest, err
			}
		}
		c, at, ok := cellAt(cells(text), p.Position)
		if !ok {
			return nil, 0, nil
		}
		switch q.Method {
		case "textDocument/hover":
			return hover(assist.Inspect(ev.Scope(), s.options.Magics, c.code, at, 0)), 0, nil
		case "textDocument/signatureHelp":
			return signatureHelp(assist.CallAt(ev.Scope(), c.code, at)), 0, nil
		}
		return completion(c, assist.Complete(ev.Scope(), s.options.Magics, c.code, at)), 0, nil
	}
	if strings.HasPrefix(q.Method, "$/") || q.ID == nil {
		return nil, 0, nil
	}
	return nil, unknownMethod, fmt.Errorf("the server does not know %q", q.Method)
}

// set gives a document a text, and has it checked.
func (s *server) set(uri, text string, version any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.documents[uri]
	if d == nil {
		d = &document{program: strings.HasSuffix(uri, ".go"), stop: func() {}}
		s.documents[uri] = d
	}
	d.stop()
	d.text, d.version, d.changed = text, version, true
	if !d.checks {
		d.checks = true
		go s.check(uri, d)
	}
}

// check checks a document until it has not changed since.
func (s *server) check(uri string, d *document) {
	for {
		s.mu.Lock()
		if !d.changed || d.closed || d.program {
			d.checks = false
			s.mu.Unlock()
			return
		}
		text, version := d.text, d.version
		d.changed = false
		s.mu.Unlock()
		ev, err := s.options.Evaluator()
		if err != nil {
			continue
		}
		list := cells(text)
		found, known, compiled := diagnose(ev, list)
		t := checked{uri, d, version, list, found, compiled, make(map[string]said)}
		s.mu.Lock()
		d.ev = ev
		d.names, d.checked = known, text
		for _, c := range compiled {
			if log, ok := d.said[c.Key]; ok {
				t.said[c.Key] = log
			}
		}
		d.said = maps.Clone(t.said)
		var ctx context.Context
		if current := !d.changed && !d.closed; current {
			ctx, d.stop = context.WithCancel(s.ctx)
		}
		s.mu.Unlock()
		if ctx == nil {
			continue
		}
		s.publish(ctx, t)
		if len(t.said) < len(compiled) {
			go s.compile(ctx, t)
		}
	}
}

// names are those of a document's text as it is now.
func (s *server) names(d *document) (*names, error) {
	s.mu.Lock()
	text, known := d.text, d.names
	if d.checked != text {
		known = nil
	}
	s.mu.Unlock()
	if known != nil {
		return known, nil
	}
	ev, err := s.options.Evaluator()
	if err != nil {
		return nil, err
	}
	_, known, _ = diagnose(ev, cells(text))
	return known, nil
}

func hover(b *display.Bundle) any {
	if b == nil {
		return nil
	}
	if text, ok := b.Data["text/markdown"].(string); ok {
		return object{"contents": object{"kind": "markdown", "value": text}}
	}
	text, _ := b.Data["text/plain"].(string)
	return object{"contents": object{"kind": "plaintext", "value": text}}
}

func signatureHelp(call *assist.Call) any {
	if call == nil {
		return nil
	}
	params := []object{}
	for _, p := range call.Params {
		params = append(params, object{"label": p})
	}
	signature := object{"label": call.Signature, "parameters": params}
	if call.Doc != "" {
		signature["documentation"] = call.Doc
	}
	return object{"signatures": []object{signature}, "activeSignature": 0, "activeParameter": call.Active}
}

// formatting replaces the cells that gofmt would write in another way.
func formatting(list []cell) any {
	edits := []object{}
	for _, c := range list {
		if text := assist.Format(c.code); text != c.code {
			edits = append(edits, object{"range": object{"start": c.position(0), "end": c.position(len(c.code))}, "newText": text})
		}
	}
	return edits
}

// kinds are those of completions, by their numbers in the protocol.
var kinds = map[string]int{
	"method": 2, "function": 3, "field": 5, "variable": 6, "type": 7, "package": 9, "keyword": 14, "file": 17, "magic": 3, "const": 21,
}

func completion(c cell, found answer.Completion) any {
	items := []object{}
	span := object{"start": c.position(found.Start), "end": c.position(found.End)}
	for _, m := range found.Matches {
		item := object{"label": m.Text, "textEdit": object{"range": span, "newText": m.Text}}
		if k := kinds[m.Kind]; k > 0 {
			item["kind"] = k
		}
		if m.Signature != "" {
			item["detail"] = m.Signature
		}
		items = append(items, item)
	}
	return object{"isIncomplete": false, "items": items}
}
